/**
 * The parties of a flow cell (its owner, those who call it, the outside), and how the cell notifies them.
 *
 * A flow cell serves each cell that the gate lets through, so it declares `by.any` and records its parties itself: which
 * of them may send a command depends on the item, the part or the subscription that the command names.
 */
import { type Address, address, formatAddress, raiseExhaustion, utf8Length } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, type ReducerContext } from '@reprise/kernel/define';
import { NOTIFIED_AT_ONCE, NOTIFIED_BYTES_MAX } from './bounds.js';

/** A cell, or null for callers outside the world: the operator and principals that the operator admits. */
export const party = z.nullable(address);

type Party = Address | null;

/** Who commands a flow cell: each caller that the gate lets through. */
export const anyone = by.any;

/** Who sent the event, as it is recorded: a cell, also when a plan of it sent the event. */
export function callerOf({ caller }: ReducerContext): Party {
  return caller === null ? null : [...caller];
}

/** Makes the caller the owner of a flow cell; refuses a second opening. */
export function openFor(draft: { open: boolean; owner: Party }, ctx: ReducerContext): void {
  if (draft.open) ctx.reject('already_open');
  draft.open = true;
  draft.owner = callerOf(ctx);
}

export function isSame(a: Party, b: Party): boolean {
  return a === null || b === null ? a === b : a[0] === b[0] && a[1] === b[1];
}

/** Refuses every caller but these parties. Callers outside are always allowed: the gate has already checked them. */
export function requireParty(ctx: ReducerContext, ...parties: readonly Party[]): void {
  const caller = callerOf(ctx);
  if (caller !== null && !parties.some((one) => isSame(one, caller))) ctx.reject('not_yours');
}

/**
 * Sends an event to a cell; does nothing when the receiver is null or absent.
 *
 * @param failure the tag by which this cell hears that the receiver fails or ends later
 * @returns false when the receiver's reducer rejects the event. That is a defect of the receiver and must not fault a
 *   cell that also serves others
 */
export function tell(ctx: ReducerContext, to: Party, name: string, value: unknown, failure?: string): boolean {
  if (to === null) return true;
  try {
    ctx.send(to, { name, value }, failure === undefined ? undefined : { failure });
    return true;
  } catch (thrown) {
    raiseExhaustion(thrown);
    return false;
  }
}

/** The number of receivers of a message of this many bytes that fit in one frame. */
export function toldAtOnce(bytes: number): number {
  return Math.max(1, Math.min(NOTIFIED_AT_ONCE, Math.floor(NOTIFIED_BYTES_MAX / bytes)));
}

const KEY_BYTES_MAX = 256;

/** An address as a table key; a longer address is rejected. */
export function addressKey(ctx: ReducerContext, of: Address): string {
  const key = formatAddress(of);
  if (utf8Length(key) > KEY_BYTES_MAX) ctx.reject('address_too_long');
  return key;
}
