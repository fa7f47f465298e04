import type { Address, NoticeName, PlanAddress, Value } from '@reprise/contracts';
import { reducerFor } from '../../define/index.js';
import { check } from '../../schema/index.js';
import { cellKey } from '../leaf/leaf-key.js';
import type { CellLeaf } from '../leaf/leaves.js';
import type { FrameFold } from './frame-fold.js';

/**
 * Sends a cell a kernel notice. If the cell does not take the notice (or is gone) it becomes a
 * fact: visible to watchers, never lost, and the cause of no further notice.
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

/** Sends a cell a notice about an effect of its plans, if its reducer takes it; other readers have the records. */
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
 * Sends the maker of a failed cell a notice, if its reducer takes it. The bound that cut off a too large cascade would
 * cut off the notice as well, and so fail the maker: it is sent in a cascade of its own. Such a cascade makes no
 * further one, or a maker that recreates a runaway cell would keep the world busy for ever.
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
  return fold.overlay.get(cellKey(cell))?.inc;
}

/** Whether a live cell takes this notice; a reducer with a different schema for it does not. */
export function takes(fold: FrameFold, to: Address, name: NoticeName, value: Value): boolean {
  const event = reducerFor(fold.env.app, to[0])?.events.get(name);
  if (event === undefined || !check(event.node, value).ok) return false;
  const cell = fold.overlay.get(cellKey(to));
  return cell?.live === true && cell.failed === null;
}
