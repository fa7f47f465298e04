/** Whose leaves a frame touched, from its state record. */
import type { Address, StateRecord } from '@reprise/contracts';

/** Where a leaf's key has the reducer and the cell's key; effects and the world's own leaves name no cell. */
const PLACES: Readonly<Record<string, readonly [number, number]>> = {
  cell: [1, 2],
  plan: [1, 3],
  log: [1, 3],
  table: [1, 5],
  timer: [2, 5],
};

/** The cells with a leaf that the frame touched, each once. */
export function cellsTouched({ leaves }: StateRecord): Address[] {
  const cells = new Map<string, Address>();
  for (const [path] of leaves) {
    const places = PLACES[String(path[0])];
    if (places === undefined) continue;
    const cell: Address = [String(path[places[0]]), String(path[places[1]])];
    cells.set(cell.join('\0'), cell);
  }
  return [...cells.values()];
}

/** The cells that the frame made: their leaf says who made them. */
export function cellsMade({ leaves }: StateRecord): Address[] {
  return leaves.flatMap(([path, digest, changed]): Address[] =>
    path[0] === 'cell' && digest !== null && Object.hasOwn(changed, 'inc') ? [[String(path[1]), String(path[2])]] : [],
  );
}
