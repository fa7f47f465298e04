/** The status of a project, computed from its numbers after each delivery. */
import { type DecisionReason, type ProjectState, type ProjectStatus, WAKES_MAX } from '../../contracts/index.js';
import type { Delivery } from './delivery.js';
import { isSpent } from './spending.js';

export function setStatus(delivery: Delivery): void {
  const { state } = delivery;
  state.status = statusOf(delivery);
  state.needs = state.status === 'needs_decision' ? whyDecision(delivery) : null;
}

function statusOf(delivery: Delivery): ProjectStatus {
  const { state } = delivery;
  if (state.status === 'cancelled') return 'cancelled';
  if (isWorking(delivery)) return 'working';
  if (whyDecision(delivery) !== null) return 'needs_decision';
  const { pending } = state.counts;
  const isNew = state.next.task === 1 && state.next.result === 1;
  return pending > 0 || isNew ? 'open' : 'done';
}

/** Whether something is under way, or is about to be. */
function isWorking(delivery: Delivery): boolean {
  const { jobs, coordinator, wake, unprocessed, stuck, reading } = delivery.state;
  if (jobs > 0 || reading !== null || coordinator.busy || coordinator.sent > 0) return true;
  const isTold = !isSpent(delivery) && !isUnattended(delivery);
  if (wake.phase !== 'none' || (unprocessed > stuck && isTold)) return true;
  return delivery.ctx.table('work').size > 0 || isDispatched(delivery);
}

function isDispatched(delivery: Delivery): boolean {
  const { counts } = delivery.state;
  return counts.pending > 0 && !isSpent(delivery) && delivery.ctx.table('team').get('team')?.dispatch === 'auto';
}

/** Why the project cannot go on by itself; null when it can. */
function whyDecision(delivery: Delivery): DecisionReason | null {
  const { stuck, coordinator } = delivery.state;
  if (delivery.ctx.table('inbox').size > 0) return 'team'; // nothing reads the team, since the project would be working
  if (isStopped(delivery)) return 'budget';
  if (isUnattended(delivery) && waitsForCoordinator(delivery)) return 'wakes';
  if (stuck > 0) return 'results';
  if (coordinator.failure !== null) return 'coordinator';
  return tasksNeedDecision(delivery) ? 'tasks' : null;
}

/**
 * Whether the coordinator was woken as often in a row as it may be: then a person decides. A run that is woken for results may
 * hand out more work, whose results wake it again: without a bound that has no end (SPEC-42).
 */
export function isUnattended(delivery: Delivery): boolean {
  const max = delivery.ctx.table('team').get('team')?.wakes_max ?? WAKES_MAX;
  return delivery.state.wake.unattended >= max;
}

/** A person has acted, or a task has ended for good: wakes count anew. */
export function countAnew({ state }: Pick<Delivery, 'state'>): void {
  state.wake.unattended = 0;
}

/** Whether something waits that the coordinator is to be told: results, or the need of a decision. */
export function waitsForCoordinator(delivery: Delivery): boolean {
  const { unprocessed, stuck, decision } = delivery.state;
  return unprocessed > stuck || (decision !== 'shown' && tasksNeedDecision(delivery));
}

/** Whether work waits for a budget that is used up. */
function isStopped(delivery: Delivery): boolean {
  const { counts, unprocessed } = delivery.state;
  return (counts.pending > 0 || unprocessed > 0) && isSpent(delivery);
}

/** Whether nothing runs and no task is ready, although some have not ended well. */
export function tasksNeedDecision({ state: { counts, jobs, status } }: Pick<Delivery, 'state'>): boolean {
  return status !== 'cancelled' && jobs === 0 && counts.pending === 0 && counts.failed + counts.blocked > 0;
}

/** What watchers are told: the team, the status and the numbers. */
export function standingOf({ team, status, needs, counts, unprocessed, jobs }: ProjectState): object {
  return { team, status, needs, counts: { ...counts }, unprocessed, jobs };
}
