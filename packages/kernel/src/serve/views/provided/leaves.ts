/** Reads from the state record of a frame whose leaves it touched. */
import type { Address, StateRecord } from '@reprise/contracts';
import { cellOfLeaf } from '../../../pure/engine/index.js';

/** The cells with a leaf that the frame touched, each once. */
export function cellsTouched({ leaves }: StateRecord): Address[] {
  const cells = new Map<string, Address>();
  for (const [path] of leaves) {
    const cell = cellOfLeaf(path);
    if (cell !== undefined) cells.set(cell.join('\0'), cell);
  }
  return [...cells.values()];
}

/** The cells that the frame made: their leaf names their parent. */
export function cellsMade({ leaves }: StateRecord): Address[] {
  return leaves.flatMap(([path, changed]): Address[] =>
    path[0] === 'cell' && changed !== null && Object.hasOwn(changed, 'inc') ? [[String(path[1]), String(path[2])]] : [],
  );
}
