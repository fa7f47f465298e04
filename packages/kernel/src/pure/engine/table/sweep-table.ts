/**
 * Removes the table of an ended cell, a bounded part in each step, so that a large table is dropped
 * over several frames, completely.
 */

import type { FrameFold, SweepDelivery } from '../frame/frame-fold.js';
import { SWEEP_NODES_MAX } from '../leaf/bounds.js';
import { damagedLeaves } from '../leaf/damage.js';
import { tableKey } from '../leaf/leaf-key.js';
import { isBranch } from '../leaf/table-node.js';

/** Removes some nodes and queues the rest. */
export function sweepTable(fold: FrameFold, delivery: SweepDelivery): void {
  const keyOf = (id: number) => tableKey(delivery.cell, delivery.table, delivery.inc, id);
  const nodes = [...delivery.nodes];
  for (let swept = 0; swept < SWEEP_NODES_MAX; swept++) {
    const id = nodes.pop();
    if (id === undefined) return;
    const node = fold.overlay.get(keyOf(id), nodes.map(keyOf));
    if (node === undefined) throw damagedLeaves('a node of a table is missing', `node ${id}`);
    if (isBranch(node)) nodes.push(...node.nodes);
    fold.overlay.set(keyOf(id), undefined);
  }
  if (nodes.length > 0) fold.enqueue({ ...delivery, nodes });
}
