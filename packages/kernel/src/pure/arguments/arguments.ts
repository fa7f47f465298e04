/** Checks arguments of reading calls where they enter: not every caller has types. */
import { type Address, RepriseError } from '@reprise/contracts';
import type { App } from '../define/index.js';
import { isAddress } from '../engine/index.js';

/** Refuses what is no cell's address. */
export function requireAddress(thing: unknown): asserts thing is Address {
  require(isAddress(thing), 'this is not the address of a cell', '[reducer, key], the key 1 to 256 bytes', thing);
}

/** Refuses what cannot name a log or a table. */
export function requireLeafName(thing: unknown, of: 'log' | 'table'): void {
  const name = typeof thing === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(thing);
  require(name, `this is not the name of a ${of}`, 'up to 64 letters, digits and _ . : -', thing);
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

/** Refuses what is no app. */
export function requireApp(thing: unknown): asserts thing is App {
  const { reducers, plans, effects } = fieldsOf(thing);
  const whole = [reducers, plans, effects].every((part) => part instanceof Map);
  require(whole, 'this is not an app', 'what defineApp made', thing);
}

/** Refuses what is no list of apps. */
export function requireApps(things: unknown): asserts things is readonly App[] {
  require(Array.isArray(things), 'this is not a list of apps', 'what defineApp made, several times', things);
  for (const thing of things) requireApp(thing);
}

/** Refuses what is no open store. */
export function requireReadable(thing: unknown): void {
  const { journal, content } = fieldsOf(thing);
  const whole = typeof fieldsOf(journal).read === 'function' && typeof fieldsOf(content).get === 'function';
  require(whole, 'this is not an open store', 'what openReadonly() resolves to', thing);
}

/** Refuses what are no options. */
export function requireObject(thing: unknown, what: string): void {
  require(typeof thing === 'object' && thing !== null, `${what} are not given as an object`, 'an object', thing);
}

/** Refuses what is no function. */
export function requireFunction(thing: unknown, what: string): void {
  require(typeof thing === 'function', `${what} is no function`, 'a function', thing);
}

function fieldsOf(thing: unknown): Readonly<Record<string, unknown>> {
  return typeof thing === 'object' && thing !== null ? (thing as Readonly<Record<string, unknown>>) : {};
}

function require(holds: boolean, what: string, expected: string, actual: unknown): asserts holds {
  if (!holds) throw new RepriseError('invalid_argument', what, { expected, actual });
}
