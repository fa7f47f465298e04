/** Checks arguments of reading calls where they enter: not every caller has types. */
import { type Address, RepriseError } from '@reprise/contracts';
import { isAddress } from '../engine/index.js';

/** Refuses what is no cell's address. */
export function requireAddress(thing: unknown): asserts thing is Address {
  require(isAddress(thing), 'this is not the address of a cell', '[reducer, key], the key 1 to 256 bytes', thing);
}

/** Refuses what cannot name a log. */
export function requireLogName(thing: unknown): void {
  const name = typeof thing === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(thing);
  require(name, 'this is not the name of a log', 'up to 64 letters, digits and _ . : -', thing);
}

/** Refuses what is no position: of a frame, of an item. */
export function requirePosition(thing: unknown, what: string): void {
  require(Number.isSafeInteger(thing) && (thing as number) >= 0, `this is not ${what}`, 'a whole number from 0', thing);
}

/** Refuses what is no head's digest. */
export function requireDigest(thing: unknown): void {
  const digest = typeof thing === 'string' && /^[0-9a-f]{64}$/.test(thing);
  require(digest, 'this is not the head of a journal', '64 lower-case hex digits', thing);
}

function require(holds: boolean, what: string, expected: string, actual: unknown): asserts holds {
  if (!holds) throw new RepriseError('invalid_argument', what, { expected, actual });
}
