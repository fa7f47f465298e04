/** The status of a project, computed from its numbers after each delivery. */
import type { ProjectState, ProjectStatus } from '../contracts/index.js';
import { type Delivery, tableOf } from './delivery.js';
import { isSpent } from './spending.js';

/** Sets the status, and states it when it or a number has changed. */
export function setStatus(delivery: Delivery): void {
  delivery.state.status = statusOf(delivery);
}

function statusOf(delivery: Delivery): ProjectStatus {
  const { state } = delivery;
  if (state.status === 'cancelled') return 'cancelled';
  if (isWorking(delivery)) return 'working';
  if (needsDecision(delivery)) return 'needs_decision';
  const { pending } = state.counts;
  const isNew = state.next.task === 1 && state.next.result === 1;
  return pending > 0 || isNew ? 'open' : 'done';
}

/** Whether something is under way, or is about to be. */
function isWorking(delivery: Delivery): boolean {
  const { jobs, coordinator, wake, unprocessed, stuck, reading } = delivery.state;
  if (jobs > 0 || reading !== null || coordinator.busy || coordinator.sent > 0) return true;
  if (wake.phase !== 'none' || (unprocessed > stuck && !isSpent(delivery))) return true;
  return tableOf(delivery, 'work').size > 0 || isDispatched(delivery);
}

function isDispatched(delivery: Delivery): boolean {
  const { counts } = delivery.state;
  return counts.pending > 0 && !isSpent(delivery) && tableOf(delivery, 'team').get('team')?.dispatch === 'auto';
}

/** Whether the project cannot go on by itself: results wait for a person, or tasks for a decision. */
function needsDecision(delivery: Delivery): boolean {
  return delivery.state.stuck > 0 || tasksNeedDecision(delivery) || isStopped(delivery);
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
export function standingOf({ team, status, counts, unprocessed, jobs }: ProjectState): object {
  return { team, status, counts: { ...counts }, unprocessed, jobs };
}
