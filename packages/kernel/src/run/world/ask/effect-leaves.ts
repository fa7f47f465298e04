/** Lists the open effects of a world from their leaves. */
import type { EffectLeaf } from '../../../pure/engine/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';

/** An effect that is open or answered late, and its leaf. */
export interface OpenLeaf {
  readonly effect: string;
  readonly leaf: EffectLeaf;
}

/** The effects of a world that have a leaf, in the order in which they were emitted. */
export function effectLeaves(table: LeafTable): readonly OpenLeaf[] {
  return [...table.list('effect')]
    .map(({ key, leaf }) => ({ effect: String(key.path[1]), leaf }))
    .sort((a, b) => a.leaf.queued[0] - b.leaf.queued[0] || a.leaf.queued[1] - b.leaf.queued[1]);
}
