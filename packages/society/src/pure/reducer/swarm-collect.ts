/** Outputs of a swarm's agents: joined to a text for the next stage, and collected by a coordinator. */
import type { Ref, Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  entityAt,
  joinPlan,
  type SwarmPlan,
  type SwarmState,
  type SwarmTask,
  type SwarmWaiting,
} from '../contracts/index.js';
import { SWARM_BOUNDS } from '../contracts/swarm.js';
import { hasEnded, isOver, memberOr, purposeOf, swarmTable, tasksOf } from './swarm-context.js';

/** An answer of a swarm to the entity that called. */
export interface SwarmAnswer {
  readonly value: Value;
  readonly refs?: readonly { readonly label: string; readonly ref: Ref }[];
  readonly is_error?: boolean;
}

/** Answers a call. */
export function tell(
  { by, call }: Pick<SwarmWaiting, 'by' | 'call'>,
  { value, refs = [], is_error = false }: SwarmAnswer,
  ctx: ReducerContext,
): void {
  const told = { swarm_id: ctx.address[1], call, value, refs: [...refs], is_error };
  ctx.send(entityAt(by), { name: 'society/SwarmTold@1', value: told });
}

/** What a task has brought: what its agent reported, else the output of its model. */
interface Output {
  readonly label: string;
  readonly ref: Ref;
  readonly kind: 'text' | 'llm_output';
}

/** The outputs of tasks, in their order. */
export function outputsOf(tasks: readonly (readonly [number, SwarmTask])[], ctx: ReducerContext): readonly Output[] {
  return tasks.flatMap(([, { member, output_ref, report_ref }]): Output[] => {
    const { slot, index } = memberOr(ctx, member);
    const label = `${slot} ${index}`;
    if (report_ref !== null) return [{ label, ref: report_ref, kind: 'text' }];
    return output_ref === null ? [] : [{ label, ref: output_ref, kind: 'llm_output' }];
  });
}

/** Joins outputs to a text: the purpose says what it is for. */
export function join(outputs: readonly Output[], purpose: SwarmPlan, ctx: ReducerContext): void {
  const items = outputs.map((output) => ({ ...output, view: 'full' as const }));
  const input = { sections: [{ title: 'Results', items }], bytes_max: SWARM_BOUNDS.joined_bytes };
  purposeOf(ctx, ctx.emit({ plan: joinPlan, input }), purpose);
}

/** How many delegated tasks have not ended. */
export function openDelegations(draft: SwarmState, ctx: ReducerContext): number {
  return delegated(draft, ctx).filter(([, task]) => !hasEnded(task)).length;
}

function delegated({ coordinator }: SwarmState, ctx: ReducerContext) {
  return tasksOf(ctx).filter(([, { agent_id }]) => agent_id !== coordinator);
}

/** Answers the collects that wait, once everything that was delegated has ended, or the swarm is over. */
export function answerCollects(draft: SwarmState, ctx: ReducerContext): void {
  const waiting = swarmTable(ctx, 'waiting');
  if (waiting.size === 0 || (openDelegations(draft, ctx) > 0 && !isOver(draft))) return;
  for (const [key, call] of waiting.range()) {
    waiting.delete(key);
    collect(draft, call, ctx);
  }
}

/** Answers a collect: with the texts of what was reported, unless the swarm is over. */
export function collect(draft: SwarmState, call: SwarmWaiting, ctx: ReducerContext): void {
  const done = delegated(draft, ctx).filter(([, task]) => hasEnded(task));
  const outputs = outputsOf(done, ctx);
  if (outputs.length === 0 || isOver(draft)) return tell(call, collected(draft, call.bytes, ctx), ctx);
  join(outputs, { kind: 'collect', waiting: call }, ctx);
}

/** What a collect is answered with: the reports, the latest where not all fit, and the text of all. */
export function collected(draft: SwarmState, bytes: number, ctx: ReducerContext, text?: Ref): SwarmAnswer {
  const done = delegated(draft, ctx).filter(([, task]) => hasEnded(task));
  const reports = done.slice(-Math.max(1, Math.floor(bytes / ROW_BYTES))).map(([, { agent_id, status }]) => {
    return { agent_id, status };
  });
  const value = { swarm_id: ctx.address[1], status: draft.status, reports, waiting: openDelegations(draft, ctx) };
  return { value, refs: text === undefined ? [] : [{ label: 'reports', ref: text }] };
}

/** The bytes of a row at most. */
const ROW_BYTES = 128;
