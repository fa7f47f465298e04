/** Outputs of a swarm's agents: joined to a text for the next stage, and collected by a coordinator. */

import { present, type Ref, type Value } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { leaveRest, startFor } from '@reprise/org/contracts';
import { entityAt } from '../../contracts/cell/names.js';
import type { SocietyCallOf, SwarmRow } from '../../contracts/entity-parts.js';
import { joinPlan } from '../../contracts/swarm/effects.js';
import type { SwarmState, SwarmTask, SwarmWaiting } from '../../contracts/swarm/swarm.js';
import { SWARM_BOUNDS } from '../../contracts/swarm/tools.js';
import { type Answer, refusal } from '../call/operations.js';
import { hasEnded, isOver, memberOr, type SwarmContext, tasksOf } from './context.js';
import { begunTasks, pageOfResults, pageOfSwarm, type SwarmPage, synthesisOf } from './shown.js';

/** Answers a call where it came from, here or at another entity. */
export function tell(
  { by, call }: Pick<SwarmWaiting, 'by' | 'call'>,
  { value, refs = [], is_error = false }: Answer,
  ctx: SwarmContext,
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

export function outputsOf(tasks: readonly (readonly [number, SwarmTask])[], ctx: SwarmContext): readonly Output[] {
  return tasks.flatMap(([, { member, output_ref, report_ref }]): Output[] => {
    const { slot, index } = memberOr(ctx, member);
    const label = `${slot} ${index}`;
    if (report_ref !== null) return [{ label, ref: report_ref, kind: 'text' }];
    return output_ref === null ? [] : [{ label, ref: output_ref, kind: 'llm_output' }];
  });
}

/** Joins outputs to a text: the purpose says what it is for. */
export function join(outputs: readonly Output[], purpose: SwarmRow<'plans'>, ctx: SwarmContext): void {
  const items = outputs.map((output) => ({ ...output, view: 'full' as const }));
  const input = { sections: [{ title: 'Results', items }], bytes_max: SWARM_BOUNDS.joined_bytes };
  startFor(ctx, ctx.table('plans'), { plan: joinPlan, input }, purpose);
}

export function openDelegations(draft: SwarmState, ctx: SwarmContext): number {
  return delegated(draft, ctx).filter(([, task]) => !hasEnded(task)).length;
}

function delegated({ coordinator }: SwarmState, ctx: SwarmContext) {
  return tasksOf(ctx).filter(([, { agent_id }]) => agent_id !== coordinator);
}

/** Answers the collects that wait, once everything that was delegated has ended, or the swarm is over. */
export function answerCollects(draft: SwarmState, ctx: SwarmContext): void {
  const waiting = ctx.table('waiting');
  if (waiting.size === 0 || (openDelegations(draft, ctx) > 0 && !isOver(draft))) return;
  for (const [key, call] of waiting.range({ limit: ANSWERED_AT_ONCE })) {
    waiting.delete(key);
    collect(draft, call, ctx);
  }
  if (waiting.size > 0) leaveRest(ctx);
}

/** The calls that one delivery answers; the others follow before any other input. */
const ANSWERED_AT_ONCE = 64;

/** Answers the calls that one delivery was too small for. */
export function answerOthers(draft: SwarmState, ctx: SwarmContext): void {
  if (isOver(draft)) answerUncomposed(draft, ctx);
}

/** The swarm has ended, and its plans with it: the calls that wait for composed words are answered without them. */
export function answerUncomposed(draft: SwarmState, ctx: SwarmContext): void {
  const plans = ctx.table('plans');
  let answered = 0;
  for (const [key, purpose] of allRows(plans)) {
    if (purpose.kind !== 'collect' && purpose.kind !== 'status') continue;
    if (answered++ === ANSWERED_AT_ONCE) return leaveRest(ctx);
    plans.delete(key);
    answerComposed(draft, purpose, null, ctx);
  }
}

/** The words that a call asks for are composed, or cannot be. */
export function answerComposed(
  draft: SwarmState,
  purpose: Extract<SwarmRow<'plans'>, { kind: 'collect' | 'status' }>,
  text: Ref | null,
  ctx: SwarmContext,
): void {
  const { waiting } = purpose;
  const answer =
    purpose.kind === 'status'
      ? statusOf(draft, waiting, purpose.args, text ?? undefined, ctx)
      : collected(draft, purpose.waiting, ctx, text ?? undefined);
  tell(waiting, answer, ctx);
}

/** Answers a collect. A model is shown the words of what was reported in one text, unless the swarm is over. */
export function collect(draft: SwarmState, waiting: SwarmRow<'waiting'>, ctx: SwarmContext): void {
  const outputs = waiting.model ? outputsOf(reportsFor(draft, waiting, ctx).tasks, ctx) : [];
  if (outputs.length === 0 || isOver(draft)) return tell(waiting, collected(draft, waiting, ctx), ctx);
  join(outputs, { kind: 'collect', waiting }, ctx);
}

/** What a collect is answered with: a page of the reports, and the text of it. */
function collected(draft: SwarmState, waiting: SwarmRow<'waiting'>, ctx: SwarmContext, text?: Ref): Answer {
  const { results: reports, next } = reportsFor(draft, waiting, ctx);
  const left = { waiting: openDelegations(draft, ctx), ...present({ next }) };
  const value = { swarm_id: ctx.address[1], status: draft.status, reports, ...left };
  return { value: value as unknown as Value, refs: text === undefined ? [] : [{ label: 'reports', ref: text }] };
}

function reportsFor(draft: SwarmState, { after, ...terms }: SwarmRow<'waiting'>, ctx: SwarmContext): SwarmPage {
  const done = delegated(draft, ctx).filter(([n, task]) => n > after && hasEnded(task));
  return pageOfResults(done, terms, ctx);
}

/** The page of a swarm that a call asks for, or the one result. */
export function statusPage(
  { bytes, model }: SwarmWaiting,
  { after, limit, task }: SocietyCallOf<'swarm_status'>,
  ctx: SwarmContext,
): SwarmPage {
  if (task === undefined) return pageOfSwarm(after, { bytes, model, limit }, ctx);
  const one = begunTasks(ctx).filter(([n]) => n === task);
  return pageOfResults(one, { bytes, model }, ctx);
}

/** How far a swarm is. With the number of a task it shows the result of that task from one of its characters on. */
export function statusOf(
  draft: SwarmState,
  waiting: SwarmWaiting,
  args: SocietyCallOf<'swarm_status'>,
  text: Ref | undefined,
  ctx: SwarmContext,
): Answer {
  const { status, strategy, stage, spent, code, goal_ref, synthesis_ref, synthesis_kind } = draft;
  const { agents, results, next } = statusPage(waiting, args, ctx);
  if (args.task !== undefined && results.length === 0) return refusal('no_task', { task: args.task });
  const value = {
    ...{ swarm_id: ctx.address[1], status, strategy, stage, agents, results },
    ...(waiting.model ? {} : synthesisOf(draft)),
    cost_micro_money: spent.micro_money,
    ...present({ code: code ?? undefined, next, from: args.from }),
  };
  const isShown = waiting.model && synthesis_ref !== null && synthesis_kind === 'text' && args.task === undefined;
  const refs = [
    ...(waiting.model ? [] : [{ label: 'goal', ref: goal_ref }]),
    ...(text === undefined ? [] : [{ label: 'results', ref: text }]),
    ...(isShown ? [{ label: 'synthesis', ref: synthesis_ref }] : []),
  ];
  return { value: value as unknown as Value, refs };
}
