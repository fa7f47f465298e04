/**
 * What the tasks of a swarm may use. With a budget, each task is set a share of what is left, as the limit of its session:
 * so tasks that run at once cannot use more together than is left for all of them (SOC-64).
 */

import { limitOf, type Share, usedBy, usedTogether } from '@reprise/org/contracts';
import type { SwarmState, SwarmTask } from '../../contracts/index.js';
import type { SwarmContext } from './context.js';
import { failing, isWorker, membersOf, stageOf, tasksOf } from './context.js';

/** The coordinator leaves the other parts to those to whom it delegates. */
const COORDINATOR_PARTS = 4;

/** Sets a share aside for a task that begins. @returns null without a budget; undefined when nothing is left */
export function setAside(draft: SwarmState, task: SwarmTask, ctx: SwarmContext): Share | null | undefined {
  const unit = unitOf(draft);
  if (unit === null) return null;
  if (!hasLeft(draft)) return undefined;
  const amount = Math.max(1, Math.floor(leftOf(draft) / partsFor(draft, task, ctx)));
  draft.reserved += amount;
  return { unit, amount };
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

/** A task is over: its share is given back, and what it used is counted. */
export function settleShare(draft: SwarmState, task: SwarmTask): void {
  giveBack(draft, task);
  draft.spent = usedTogether(draft.spent, usedBy(reportedBy(task), task.share, task.code ?? ''));
  if (unitOf(draft) !== null && leftOf(draft) + draft.reserved < 0) failing(draft, 'budget_exhausted');
}

/** What the session of a task reports; null where nothing was heard of it: its time was over first, or its cell failed. */
function reportedBy({ tally, status, code }: SwarmTask): SwarmTask['tally'] | null {
  const isSilent = tally.steps === 0 && (status === 'timeout' || code === 'session_failed');
  return isSilent ? null : tally;
}

/** A task that was never begun has used nothing. */
export function giveBack(draft: SwarmState, { share }: SwarmTask): void {
  if (share !== null) draft.reserved -= share.amount;
}

export function hasLeft(draft: SwarmState): boolean {
  return unitOf(draft) === null || leftOf(draft) > 0;
}

/** Whether a task came to the limit of its session, in the unit of the budget. */
export function isShort(draft: SwarmState, { code }: Pick<SwarmTask, 'code'>): boolean {
  const unit = unitOf(draft);
  return unit !== null && (code === `limit/${limitOf({ unit })}` || code === 'budget_exhausted');
}

/** Why a swarm fails with tasks that failed: for its budget, if that is why all of them failed. */
export function codeOfFailed(draft: SwarmState, code: string, tasks: readonly SwarmTask[]): string {
  const failed = tasks.filter((task) => task.code !== null && task.code !== 'input_failed');
  return failed.length > 0 && failed.every((task) => isShort(draft, task)) ? 'budget_exhausted' : code;
}

function unitOf({ budget }: SwarmState): Share['unit'] | null {
  if (budget.micro_money !== null) return 'micro_money';
  return budget.tokens === null ? null : 'tokens';
}

/** What is neither used nor set aside. */
function leftOf({ budget: { tokens, micro_money }, spent, reserved }: SwarmState): number {
  if (micro_money !== null) return micro_money - spent.micro_money - reserved;
  return (tokens ?? 0) - spent.tokens - reserved;
}
