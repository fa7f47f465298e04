/** Writes rights: the leaf of a holder, and the timer of their expiry. */
import type { Address, Capability } from '@reprise/contracts';
import { canonical, capabilityFits } from '../../authority/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { rightsKey, timerKey } from '../leaf/leaf-key.js';
import type { RightsLeaf } from '../leaf/leaves.js';
import { Refusal } from '../leaf/signals.js';
import { cellOf } from './rights.js';

/** Authors' timers cannot begin with a tilde. */
const RIGHTS_TIMER = '~rights';

/** Whether this timer watches the expiry of rights. */
export function isRightsTimer(name: string): boolean {
  return name === RIGHTS_TIMER;
}

/** The rights of a holder without any settings. */
export const NO_RIGHTS: RightsLeaf = { exercise: null, grant: null, account: null, approved: [], revision: 0 };

/** Writes a holder's rights, and moves the timer of their expiry. */
export function replaceRights(fold: FrameFold, holder: string, before: RightsLeaf, after: RightsLeaf): void {
  moveExpiry(fold, holder, before, after);
  fold.overlay.set(rightsKey(holder), after);
}

/** Sets the timer of the next expiry after the one that has passed. */
export function watchExpiry(fold: FrameFold, cell: Address, rights: RightsLeaf): void {
  const due = nextExpiry(rights, fold.at);
  if (due !== undefined) fold.overlay.set(timerKey(due, cell, -1, RIGHTS_TIMER), { due });
}

/**
 * A capability as leaves keep it.
 *
 * @throws Refusal `bound_exceeded` when it names too many dimensions
 */
export function fittedCapability(capability: Capability): Capability {
  if (capabilityFits(capability)) return canonical(capability);
  throw new Refusal('bound_exceeded', 'the rights name too many dimensions', { hint: 'Use fewer, wider dimensions.' });
}

function moveExpiry(fold: FrameFold, holder: string, before: RightsLeaf, after: RightsLeaf): void {
  const cell = cellOf(holder);
  if (cell === undefined) return; // people have no effects
  const [was, is] = [nextExpiry(before, fold.at), nextExpiry(after, fold.at)];
  if (was === is) return;
  if (was !== undefined) fold.overlay.set(timerKey(was, cell, -1, RIGHTS_TIMER), undefined);
  if (is !== undefined) fold.overlay.set(timerKey(is, cell, -1, RIGHTS_TIMER), { due: is });
}

function nextExpiry({ exercise, grant, holds = [] }: RightsLeaf, now: number): number | undefined {
  const times = [exercise, grant, ...holds.map(([, hold]) => hold)]
    .map((capability) => capability?.expires_at)
    .filter((time) => time !== undefined)
    .filter((time) => time > now);
  return times.length === 0 ? undefined : Math.min(...times);
}
