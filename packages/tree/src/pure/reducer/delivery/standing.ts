/** What a node may do by its place in the tree. */
import { variantOf } from '../../contracts/names.js';
import type { Delivery } from './delivery.js';
import type { ReadNode } from './nodes.js';

/** Whether a node or one above it is paused. */
export function isPaused({ nodes }: Delivery, row: ReadNode): boolean {
  for (const at of nodes.upFrom(row.n)) if (at.paused) return true;
  return false;
}

export function mayMake({ state }: Delivery, row: ReadNode): boolean {
  return row.depth < state.limits.depth && row.gen < state.limits.generations;
}

/** The variant of its agent that a node works as. */
export function variantFor(delivery: Delivery, row: ReadNode): string {
  return variantOf(row.returns, mayMake(delivery, row));
}
