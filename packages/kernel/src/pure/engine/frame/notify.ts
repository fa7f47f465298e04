import type { Address, NoticeName, PlanAddress, Value } from '@reprise/contracts';
import { decode } from '../../codec/index.js';
import { reducerFor } from '../../define/index.js';
import { check } from '../../schema/index.js';
import { cellKey } from '../leaf/leaf-key.js';
import type { CellLeaf } from '../leaf/leaves.js';
import type { FrameFold } from './frame-fold.js';

/**
 * Tells a cell something on the kernel's behalf. A cell that does not take the notice (or is gone) makes it a
 * fact: visible to watchers, never lost, and no reason for another notice.
 */
export function notify(fold: FrameFold, to: Address, name: NoticeName, value: Value, cause: number): void {
  if (!takes(fold, to, name, value)) {
    fold.push({ kind: 'fact', c: cause, from: to, name, value });
    return;
  }
  const event = { name, value };
  const index = fold.push({ kind: 'event', c: cause, to, event, from: null });
  fold.enqueue({ kind: 'event', to, event, from: null, cause: index, reply: false, notice: true, root: false });
}

/** Tells a cell how an effect of its plans fares, when it asks to be told; the records say it to everybody else. */
export function tellOwner(
  fold: FrameFold,
  plan: PlanAddress,
  name: 'sys/EffectWaiting@1' | 'sys/EffectGoesOn@1' | 'sys/EffectLate@1',
  value: Value,
  cause: number,
): void {
  const owner: Address = [plan[0], plan[1]];
  if (takes(fold, owner, name, value)) notify(fold, owner, name, value, cause);
}

/**
 * Tells the cell that made one which has failed, when it asks to be told. Whatever cut off a cascade that was too large
 * would cut off the notice as well, and so fail the maker: it is told in a cascade of its own. One that began so makes no
 * further such cascade, or a maker that makes anew what runs away would keep the world busy for ever.
 */
export function tellMaker(
  fold: FrameFold,
  address: Address,
  { parent, pinc = 0, failed }: CellLeaf,
  cause: number,
): void {
  if (parent === null || failed === null || generationOf(fold, parent) !== pinc) return;
  const value = { cell: [...address], code: failed };
  if (!takes(fold, parent, 'sys/ChildFailed@1', value)) return;
  if (failed !== 'cascade_exceeded') return notify(fold, parent, 'sys/ChildFailed@1', value, cause);
  if (fold.isAftermath) return;
  const event = { name: 'sys/ChildFailed@1', value };
  const index = fold.push({ kind: 'event', c: cause, to: parent, event, from: null });
  fold.enqueueApart({
    ...{ kind: 'event', to: parent, event, from: null, cause: index },
    ...{ reply: false, notice: true, root: false, aftermath: true },
  });
}

function generationOf(fold: FrameFold, cell: Address): number | undefined {
  const bytes = fold.overlay.get(cellKey(cell));
  return bytes === undefined ? undefined : (decode(bytes) as unknown as CellLeaf).inc;
}

/** Whether a live cell takes this notice; a reducer whose schema for it is another than the kernel's does not. */
export function takes(fold: FrameFold, to: Address, name: NoticeName, value: Value): boolean {
  const event = reducerFor(fold.env.app, to[0])?.events.get(name);
  if (event === undefined || !check(event.node, value).ok) return false;
  const bytes = fold.overlay.get(cellKey(to));
  if (bytes === undefined) return false;
  const cell = decode(bytes) as unknown as CellLeaf;
  return cell.live && cell.failed === null;
}
