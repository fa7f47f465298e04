/**
 * What the tasks of a swarm may use. With a budget, each task is set a share of what is left, as the limit of its session:
 * so tasks that run at once cannot use more together than is left for all of them (SOC-64).
 */
import { mayBeCharged } from '@reprise/agent/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { SwarmShare, SwarmState, SwarmTask } from '../contracts/index.js';
import { failing, isWorker, membersOf, stageOf, tasksOf } from './swarm-context.js';

/** The coordinator leaves the other parts to those to whom it delegates. */
const COORDINATOR_PARTS = 4;

/** Sets a share aside for a task that begins. @returns null without a budget; undefined when nothing is left */
export function setAside(draft: SwarmState, task: SwarmTask, ctx: ReducerContext): SwarmShare | null | undefined {
  const unit = unitOf(draft);
  if (unit === null) return null;
  if (!hasLeft(draft)) return undefined;
  const amount = Math.max(1, Math.floor(leftOf(draft) / partsFor(draft, task, ctx)));
  draft.reserved += amount;
  return { unit, amount };
}

/** In how many parts what is left is divided: for this task, and for each that may begin beside it. */
function partsFor(draft: SwarmState, { member, agent_id }: SwarmTask, ctx: ReducerContext): number {
  if (draft.strategy === 'hierarchical') {
    if (agent_id === draft.coordinator) return COORDINATOR_PARTS;
    return 1 + membersOf(ctx).filter(([, one]) => one.task === null && isWorker(draft, one)).length;
  }
  const stage = stageOf(draft, member);
  const isBeside = (one: SwarmTask) => one.status === 'waiting' && stageOf(draft, one.member) === stage;
  return 1 + tasksOf(ctx).filter(([, one]) => isBeside(one)).length;
}

/** A task is over: its share is given back, and what it used is counted. Unknown use counts as all of the share. */
export function settleShare(draft: SwarmState, task: SwarmTask): void {
  const { share, tally } = task;
  const used = { ...tally };
  if (share !== null) {
    draft.reserved -= share.amount;
    if (isUnknown(task) && share.unit === 'tokens') used.tokens_in = Math.max(used.tokens_in, share.amount);
    if (isUnknown(task) && share.unit === 'micro_money') used.micro_money = Math.max(used.micro_money, share.amount);
  }
  draft.spent.steps += used.steps;
  draft.spent.tokens_in += used.tokens_in;
  draft.spent.tokens_out += used.tokens_out;
  draft.spent.micro_money += used.micro_money;
  if (unitOf(draft) !== null && leftOf(draft) + draft.reserved < 0) failing(draft, 'budget_exhausted');
}

/** A model that reports no tokens, and a session of which nothing was heard. A call that was refused has used nothing. */
function isUnknown({ tally, status, code }: SwarmTask): boolean {
  if (tally.tokens_in + tally.tokens_out > 0) return false;
  if (tally.steps > 0) return mayBeCharged(code ?? '');
  return status === 'timeout' || code === 'session_failed';
}

/** A task that was never begun has used nothing. */
export function giveBack(draft: SwarmState, { share }: SwarmTask): void {
  if (share !== null) draft.reserved -= share.amount;
}

/** Whether anything is left for another task. */
export function hasLeft(draft: SwarmState): boolean {
  return unitOf(draft) === null || leftOf(draft) > 0;
}

/** Whether a task came to the limit of its session, in the unit of the budget. */
export function isShort(draft: SwarmState, { code }: Pick<SwarmTask, 'code'>): boolean {
  const unit = unitOf(draft);
  return unit !== null && (code === LIMITS[unit] || code === 'budget_exhausted');
}

/** Why a swarm fails with tasks that failed: for its budget, if that is why all of them failed. */
export function codeOfFailed(draft: SwarmState, code: string, tasks: readonly SwarmTask[]): string {
  const failed = tasks.filter((task) => task.code !== null && task.code !== 'input_failed');
  return failed.length > 0 && failed.every((task) => isShort(draft, task)) ? 'budget_exhausted' : code;
}

const LIMITS = { tokens: 'limit/max_tokens', micro_money: 'limit/max_micro_money' } as const;

function unitOf({ budget }: SwarmState): SwarmShare['unit'] | null {
  if (budget.micro_money !== null) return 'micro_money';
  return budget.tokens === null ? null : 'tokens';
}

/** What is neither used nor set aside. */
function leftOf({ budget: { tokens, micro_money }, spent, reserved }: SwarmState): number {
  if (micro_money !== null) return micro_money - spent.micro_money - reserved;
  return (tokens ?? 0) - spent.tokens_in - spent.tokens_out - reserved;
}
