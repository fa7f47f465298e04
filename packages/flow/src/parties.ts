/** Who is who to a flow cell, and how it tells others. */
import { type Address, address, formatAddress } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import * as z from 'zod';
import { TOLD_AT_ONCE, TOLD_BYTES_MAX } from './bounds.js';
import { utf8Bytes } from './sizes.js';

/** A cell, or null for those outside: the host and whom it lets in. */
export const party = z.nullable(address);

/** A cell, or null for those outside. */
export type Party = Address | null;

/** Who sent the event; a plan speaks for its cell. */
export function senderOf({ sender }: ReducerContext): Party {
  return sender === null ? null : [sender[0], sender[1]];
}

/** Opens a flow cell for its owner, once. */
export function openFor(draft: { open: boolean; owner: Party }, ctx: ReducerContext, owner: Party): void {
  if (draft.open) ctx.reject('already_open');
  draft.open = true;
  draft.owner = owner;
}

/** Whether two parties are the same. */
export function isSame(a: Party, b: Party): boolean {
  return a === null || b === null ? a === b : a[0] === b[0] && a[1] === b[1];
}

/** Refuses a sender that is none of these. Those outside may do everything: the gate before them has let them in. */
export function requireParty(ctx: ReducerContext, ...parties: readonly Party[]): void {
  const sender = senderOf(ctx);
  if (sender !== null && !parties.some((one) => isSame(one, sender))) ctx.reject('not_yours');
}

/**
 * Sends an event, to nobody when there is nobody.
 *
 * @returns false when the receiver's reducer does not take it. That is the receiver's defect, and must not be the
 *   fault of a cell that serves others too
 */
export function tell(ctx: ReducerContext, to: Party, name: string, value: unknown): boolean {
  if (to === null) return true;
  try {
    ctx.send(to, { name, value });
    return true;
  } catch {
    return false;
  }
}

/** How many can be told in one frame what takes so many bytes. */
export function toldAtOnce(bytes: number): number {
  return Math.max(1, Math.min(TOLD_AT_ONCE, Math.floor(TOLD_BYTES_MAX / bytes)));
}

/** What a key of a table has room for, in bytes. */
const KEY_BYTES_MAX = 256;

/** An address as a key of a table; a longer one is rejected. */
export function addressKey(ctx: ReducerContext, of: Address): string {
  const key = formatAddress(of);
  if (utf8Bytes(key) > KEY_BYTES_MAX) ctx.reject('address_too_long');
  return key;
}
