/**
 * How long a coordinator goes on by itself. A run that is woken for results may hand out more work, whose results wake it
 * again: without a bound that has no end (SPEC-42).
 */
import { WAKES_MAX } from '../../contracts/index.js';
import type { Delivery } from './delivery.js';

/** Whether the coordinator was woken as often in a row as it may be: then a person decides. */
export function isUnattended(delivery: Delivery): boolean {
  const max = delivery.ctx.table('team').get('team')?.wakes_max ?? WAKES_MAX;
  return delivery.state.wake.unattended >= max;
}

/** A person has acted, or a task has ended for good: wakes count anew. */
export function countAnew({ state }: Pick<Delivery, 'state'>): void {
  state.wake.unattended = 0;
}
