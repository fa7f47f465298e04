/** What events show of effects: the call behind one, its pending items, its error, and where it belongs. */
import type { Ref, Value } from '@reprise/contracts';
import type { AgentEventOf } from '../contracts/agent-event.js';
import { toolCallReceipt } from '../contracts/tool-call.js';
import type { Body, Place, Placed } from './placed-event.js';

/** The effect of calling a model. */
const MODEL = 'llm.generate@2';

/** The effect of asking a person: its pending item is a question. */
export const ASK = 'human.ask@1';

/** The facts about an open effect. */
export interface EffectTrace {
  readonly session: string;
  readonly place: Place;
  readonly name: string;
  readonly call: { readonly call_id: string | null; readonly tool: string | null; readonly ref?: Ref };
  /** The pending items of the effect: their ids, and when each expires. */
  readonly waits: Map<string, number | null>;
}

/** The failure of an effect. */
export interface Failure {
  readonly of: EffectTrace;
  readonly ref: Ref;
}

/** Adds the error of a failed effect to the event that reports its outcome. */
export function withError(placed: Placed | undefined, failure: Failure | undefined): Placed | undefined {
  if (placed === undefined || failure === undefined || placed.session !== failure.of.session) return placed;
  return isOf(placed.body, failure.of)
    ? { ...placed, body: { ...placed.body, error_ref: failure.ref } as Body }
    : placed;
}

function isOf(body: Body, { name, call }: EffectTrace): boolean {
  switch (body.type) {
    case 'llm_step.failed':
    case 'compaction.failed':
      return name === MODEL;
    case 'tool.failed':
      return body.call_id === call.call_id;
    case 'lifecycle':
      return body.stop?.kind === 'Failed';
    default:
      return false;
  }
}

/** Whether the output of a call was cut for the model. */
export function bounded({ session, place, call }: EffectTrace, payload: Value): Placed | undefined {
  if (call.call_id === null || call.tool === null) return undefined;
  const { success, data } = toolCallReceipt.safeParse(payload);
  if (!success || !data.truncation_meta.truncated) return undefined;
  return {
    session,
    place,
    body: {
      type: 'tool.bounded',
      call_id: call.call_id,
      tool: call.tool,
      ref: data.model_output_ref,
      operator_ref: data.operator_output_ref,
      truncation: data.truncation_meta,
    },
  };
}

/** The place of an emitted effect in its session: a summary is not an answer of a step. */
export function placeOfEffect(at: Place, params: Value): Place {
  if ((params as { readonly summarise?: object }).summarise === undefined) return at;
  return at.run === undefined ? {} : { run: at.run };
}

/** The call behind an effect, by its parameters. */
export function callOf(params: Value): EffectTrace['call'] {
  const said = params as {
    readonly call_id?: string;
    readonly tool?: string;
    readonly args_ref?: Ref;
    readonly question_ref?: Ref;
    readonly diff_ref?: Ref;
  };
  const { call_id = null, tool = null, args_ref, question_ref, diff_ref } = said;
  const ref = args_ref ?? question_ref ?? diff_ref;
  return { call_id, tool, ...(ref === undefined ? {} : { ref }) };
}

/** The event of a new pending item; its effect remembers the item. */
export function waiting(
  { session, place, call, waits }: EffectTrace,
  id: string,
  item: Pick<AgentEventOf<'human.requested'>, 'kind' | 'to' | 'deadline' | 'value'>,
): Placed {
  waits.set(id, item.deadline);
  return { session, place, body: { type: 'human.requested', id, ...call, ...item } };
}

/** The event of the pending items that end with their effect; undefined when it has none. */
export function endedItems(
  { session, place, waits }: EffectTrace,
  how: 'expired' | 'cancelled',
  by: string | null,
  at: number,
): Placed | undefined {
  const [first, ...others] = waits;
  if (first === undefined) return undefined;
  const [id, deadline] = first;
  const late = deadline !== null && at >= deadline;
  // One record is one event: the other items are listed in the event of the first.
  const also = others.length === 0 ? {} : { also: others.map(([other]) => other) };
  return { session, place, body: { type: 'human.resolved', id, how: late ? 'expired' : how, by, ...also } };
}
