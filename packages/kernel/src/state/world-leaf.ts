import { RepriseError } from '@reprise/contracts';
import type { WorldLeaf } from '../pure/engine/index.js';

/**
 * The leaf of a world, which every world has from its first frame on.
 *
 * @throws RepriseError `journal_damaged` when it is missing
 */
export function worldOf(leaf: WorldLeaf | undefined): WorldLeaf {
  if (leaf !== undefined) return leaf;
  throw new RepriseError('journal_damaged', 'the journal has no manifest', { where: 'frame 0' });
}
