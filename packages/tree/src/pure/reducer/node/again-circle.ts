/**
 * Circles that a retry would close. While a node has ended, nothing waits for it: others may be made that need it, and that
 * it would wait for itself once it is tried again.
 */
import { pair } from '@reprise/org/contracts';
import { numbers } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { circleThrough } from '../delivery/reach.js';
import { Refused } from '../delivery/refused.js';

/** Refuses to try a node again that, or what failed because of it, would then wait for itself. */
export function refuseCircle(delivery: Delivery, row: ReadNode): void {
  const again = triedWith(delivery, row);
  for (const n of again) {
    const path = circleThrough(delivery, n, again);
    if (path !== undefined) throw new Refused('would_deadlock', { path: [...path] });
  }
}

/** The nodes that are tried again with one: itself, the steps of a serial, and what failed because of them. */
function triedWith(delivery: Delivery, row: ReadNode): ReadonlySet<number> {
  if (failsAtOnce(delivery, row.n, new Set())) return new Set();
  const again = new Set([row.n, ...(row.type === 'serial' ? numbers(delivery, 'children', row.n) : [])]);
  for (const n of again) {
    for (const dependent of numbers(delivery, 'dependents', n)) {
      const { code, parent } = delivery.nodes.at(dependent);
      const isBelowOpen = parent !== null && (again.has(parent) || !isEnded(delivery.nodes.at(parent)));
      const isTried = code === 'blocked_failed' && isBelowOpen && !failsAtOnce(delivery, dependent, again);
      if (isTried) again.add(dependent);
    }
  }
  return again;
}

/** Whether a need of a node has failed that is not tried again with it. */
function failsAtOnce(delivery: Delivery, n: number, again: ReadonlySet<number>): boolean {
  return numbers(delivery, 'needs', n).some((need) => {
    const row = delivery.nodes.at(need);
    if (again.has(need) || !isEnded(row) || row.status === 'complete') return false;
    return delivery.ctx.table('needs').get(pair(n, need))?.on_failure !== 'continue';
  });
}
