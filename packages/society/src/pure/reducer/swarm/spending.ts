/**
 * What the tasks of a swarm may use. With a budget, each task asks for a part of what is left (kit/ledger): so tasks that run
 * at once cannot use more together than is left for all of them (SOC-64).
 */

import { leftOf, limitOf, type NoShare, type Share, setAside, settleRun, shareFor } from '@reprise/org/contracts';
import type { SwarmState, SwarmTask } from '../../contracts/swarm/swarm.js';
import { failing, isWorker, membersOf, type SwarmContext, stageOf, tasksOf } from './context.js';

/** The coordinator leaves the other parts to those to whom it delegates. */
const COORDINATOR_PARTS = 4;

/** Sets a share aside for a task that begins; null without a budget. */
export function takeShare(draft: SwarmState, task: SwarmTask, ctx: SwarmContext): Share | NoShare | null {
  const budget = budgetOf(draft);
  if (budget === null) return null;
  const part = Math.floor(leftOf(draft, budget) / partsFor(draft, task, ctx));
  return setAside(draft, budget, { amount: Math.max(1, part), least: 1, returns: returnsOf(draft, ctx) });
}

/** Whether a further task can begin, now or when others have ended. */
export function mayBegin(draft: SwarmState, ctx: SwarmContext): boolean {
  const share = shareFor(draft, budgetOf(draft), { amount: 1, returns: returnsOf(draft, ctx) });
  return typeof share !== 'string' || share === 'wait';
}

/** What comes back before a task begins that waits: not the share of a coordinator, which waits for the others itself. */
function returnsOf(draft: SwarmState, ctx: SwarmContext): number {
  const own = tasksOf(ctx).filter(([, { agent_id }]) => agent_id === draft.coordinator);
  return draft.reserved - own.reduce((sum, [, { share }]) => sum + (share?.amount ?? 0), 0);
}

/** In how many parts what is left is divided: for this task, and for each that may begin beside it. */
function partsFor(draft: SwarmState, { member, agent_id }: SwarmTask, ctx: SwarmContext): number {
  if (draft.strategy === 'hierarchical') {
    if (agent_id === draft.coordinator) return COORDINATOR_PARTS;
    return 1 + membersOf(ctx).filter(([, one]) => one.task === null && isWorker(draft, one)).length;
  }
  const stage = stageOf(draft, member);
  const isBeside = (one: SwarmTask) => one.status === 'waiting' && stageOf(draft, one.member) === stage;
  return 1 + tasksOf(ctx).filter(([, one]) => isBeside(one)).length;
}

/**
 * A task is over: its share is given back, and what it used is counted.
 *
 * @param code why it ended
 */
export function settleShare(draft: SwarmState, task: SwarmTask, code: string = task.code ?? ''): void {
  settleRun(draft, task.share, reportedBy(task), code);
  const budget = budgetOf(draft);
  if (budget !== null && leftOf(draft, budget) + draft.reserved < 0) failing(draft, 'budget_exhausted');
}

/** What the session of a task reports; null where nothing was heard of it: its time was over first, or its cell failed. */
function reportedBy({ tally, status, code }: SwarmTask): SwarmTask['tally'] | null {
  const isSilent = tally.steps === 0 && (status === 'timeout' || code === 'session_failed');
  return isSilent ? null : tally;
}

/** Whether a task came to the limit of its session, in the unit of the budget. */
export function isShort(draft: SwarmState, { code }: Pick<SwarmTask, 'code'>): boolean {
  const budget = budgetOf(draft);
  return budget !== null && (code === `limit/${limitOf(budget)}` || code === 'budget_exhausted');
}

/** Why a swarm fails with tasks that failed: for its budget, if that is why all of them failed. */
export function codeOfFailed(draft: SwarmState, code: string, tasks: readonly SwarmTask[]): string {
  const failed = tasks.filter((task) => task.code !== null && task.code !== 'input_failed');
  return failed.length > 0 && failed.every((task) => isShort(draft, task)) ? 'budget_exhausted' : code;
}

function budgetOf({ budget: { tokens, micro_money } }: SwarmState): Share | null {
  if (micro_money !== null) return { unit: 'micro_money', amount: micro_money };
  return tokens === null ? null : { unit: 'tokens', amount: tokens };
}
