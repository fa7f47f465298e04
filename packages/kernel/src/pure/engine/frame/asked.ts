/**
 * Open questions: events that are answered later, by another event. Their sender hears when the receiver fails or ends
 * before.
 *
 * Invariants
 * A1  An event is open from its delivery until its sender forgets it or ends, or its receiver ends or fails.
 * A2  Each is told once. Each notice begins a cascade of its own: the many who wait for one cell do not exceed a bound
 *     together, and the cascade that was too long for the cell does not cut them off. Those that follow from such a
 *     cascade make no further ones: a cell that asks one runaway cell after the other would keep the world busy for ever.
 */
import type { Address, Value } from '@reprise/contracts';
import { askedKey, cellKey } from '../leaf/leaf-key.js';
import type { AskedLeaf, CellLeaf } from '../leaf/leaves.js';
import type { EventDelivery, FrameFold } from './frame-fold.js';
import { takes } from './notify.js';

/** Keeps a delivered event open under the name that its sender gave (A1). */
export function keepOpen(fold: FrameFold, { to, from, event }: EventDelivery, tag: string): void {
  if (from === null) return;
  const asker: Address = [from[0], from[1]];
  const cell = fold.overlay.get(cellKey(asker));
  if (cell?.live !== true) return;
  const key = askedKey(asker, tag);
  const known = fold.overlay.get(key);
  if (known !== undefined && isCell(known.to, to)) return;
  fold.overlay.set(key, { to, from: asker, event: event.name, tag });
  if (known === undefined) fold.overlay.set(cellKey(asker), { ...cell, asks: (cell.asks ?? 0) + 1 });
}

/** Closes a question that was answered; one that is not open is left alone. */
export function forget(fold: FrameFold, from: Address, tag: string): void {
  const key = askedKey(from, tag);
  if (fold.overlay.get(key) === undefined) return;
  fold.overlay.set(key, undefined);
  const cell = fold.overlay.get(cellKey(from));
  if (cell !== undefined) fold.overlay.set(cellKey(from), asking(cell, (cell.asks ?? 0) - 1));
}

/** Closes all questions of a cell: nobody waits for their answers. */
export function forgetAll(fold: FrameFold, from: Address): void {
  if (fold.overlay.get(cellKey(from))?.asks === undefined) return;
  for (const { tag } of questions(fold, from, (one) => isCell(one.from, from))) forget(fold, from, tag);
}

/**
 * Tells all who wait for a cell that no answer comes any more.
 *
 * @returns how many were told
 */
export function tellAskers(
  fold: FrameFold,
  cell: Address,
  code: 'cell_absent' | 'cell_failed',
  { cause, runaway = false }: { readonly cause: number; readonly runaway?: boolean },
): number {
  if (runaway && fold.isAftermath) return 0; // A2
  const open = questions(fold, cell, (one) => isCell(one.to, cell));
  const askers = open.map(({ from }) => cellKey(from));
  for (const { to, from, event, tag } of open) {
    fold.overlay.get(cellKey(from), askers); // all that must be loaded are, with the first
    forget(fold, from, tag);
    tellApart(fold, from, { to: [...to], event, outcome: 'rejected', code, tag }, { cause, runaway });
  }
  return open.length;
}

// A2
function tellApart(
  fold: FrameFold,
  to: Address,
  value: Value,
  { cause: c, runaway }: { readonly cause: number; readonly runaway: boolean },
): void {
  const name = 'sys/Reply@1';
  if (!takes(fold, to, name, value)) return void fold.push({ kind: 'fact', c, from: to, name, value });
  const event = { name, value };
  const cause = fold.push({ kind: 'event', c, to, event, from: null });
  fold.enqueueApart({
    ...{ kind: 'event', to, event, from: null, cause, reply: false, notice: true, root: false },
    ...(runaway ? { aftermath: true } : {}),
  });
}

/** The questions of a cell or to it, in an order that does not depend on how the leaves came to memory. */
function questions(fold: FrameFold, cell: Address, isMeant: (one: AskedLeaf) => boolean): readonly AskedLeaf[] {
  const open = fold.overlay.naming('asked', cell).filter(({ leaf }) => isMeant(leaf));
  return open.sort((a, b) => (a.key.id < b.key.id ? -1 : 1)).map(({ leaf }) => leaf);
}

function asking({ asks: _, ...cell }: CellLeaf, count: number): CellLeaf {
  return count > 0 ? { ...cell, asks: count } : cell;
}

function isCell(one: Address, cell: Address): boolean {
  return one[0] === cell[0] && one[1] === cell[1];
}
