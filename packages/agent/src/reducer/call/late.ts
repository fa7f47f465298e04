/**
 * Late answers: they arrive after their call was settled without them. The model reads them as notes; they never reopen
 * the call.
 */
import { isRef, type NOTICES, type Ref } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import type { SessionState } from '../../contracts/state.js';
import { toolCallParams } from '../../contracts/tool-call.js';
import type { LateItem } from '../../contracts/transcript.js';
import { usageLate } from '../account/budget.js';
import { countEstimate } from '../transcript/prompt-size.js';
import { appendItem } from '../transcript/say.js';
import { LATE_BYTES_MAX, sizeOf } from '../transcript/sizes.js';

type EffectLate = z.infer<(typeof NOTICES)['sys/EffectLate@1']>;

/** How many late answers may wait for the end of one batch; of the others only the fact remains. */
const LATE_MAX = 16;

/** Takes the late answer of a tool, or the late usage report of a model. */
export function callLate(
  draft: SessionState,
  { name, plan, params, status, payload, usage }: EffectLate,
  ctx: ReducerContext,
): void {
  if (name === 'llm.generate@2') return usageLate(draft, plan[2], usage, ctx);
  if (name !== 'tool.call@1') return;
  const call_id = textIn(params, 'call_id');
  const tool = textIn(params, 'tool');
  if (call_id === undefined || tool === undefined) return;
  const output_ref = refIn(payload, 'model_output_ref');
  const output = output_ref === undefined ? {} : { output_ref };
  const open = draft.calls.find((call) => call.call_id === call_id && call.phase === 'settled');
  const reported = open?.outcome?.non_execution ?? null;
  const at = placeIn(params);
  const where = at === undefined ? {} : { at };
  ctx.record('aos.agent/ToolCallLate@1', { call_id, tool, reported, status, ...output, ...where });
  countEstimate(draft, bytesIn(payload));
  const item: LateItem = { role: 'late', call_id, tool, status, ...output };
  if (draft.calls.length === 0) appendItem(draft, item, ctx);
  // Nothing may stand between calls and their results.
  else if (draft.late.length < LATE_MAX && sizeOf([...draft.late, item]) <= LATE_BYTES_MAX) draft.late.push(item);
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[field] : undefined;
}

function textIn(value: unknown, field: string): string | undefined {
  const text = fieldOf(value, field);
  return typeof text === 'string' && text.length > 0 && text.length <= 128 ? text : undefined;
}

/** The bytes that a model is shown of a tool's output. */
function bytesIn(payload: unknown): number {
  const bytes = fieldOf(fieldOf(payload, 'truncation_meta'), 'bounded_bytes');
  return typeof bytes === 'number' ? bytes : 0;
}

/** The place of the call, as recorded with its effect. */
function placeIn(params: unknown): { run: number; turn: number; step: number } | undefined {
  const { success, data } = toolCallParams.shape.at.safeParse(fieldOf(params, 'at'));
  return success ? data : undefined;
}

function refIn(value: unknown, field: string): Ref | undefined {
  const ref = fieldOf(value, field);
  return isRef(ref) ? ref : undefined;
}
