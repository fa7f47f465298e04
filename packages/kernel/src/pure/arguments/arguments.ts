/** Checks arguments of reading calls where they enter: callers may be untyped. */
import {
  type Address,
  fieldsOf,
  hintOfPrincipal,
  isDigest,
  isFunction,
  isObject,
  isWhole,
  kindOfThing,
  principal as principalSchema,
  RepriseError,
  utf8Length,
} from '@reprise/contracts';
import { encode } from '../codec/index.js';
import type { App } from '../define/index.js';
import { isAddress, isNobody } from '../engine/index.js';

/** Refuses an invalid cell address. */
export function requireAddress(thing: unknown): asserts thing is Address {
  require(isAddress(thing), 'invalid cell address', '[reducer, key], the key 1 to 256 bytes', thing);
}

/** Refuses an invalid name of a log or a table. */
export function requireLeafName(thing: unknown, of: 'log' | 'table'): void {
  const name = typeof thing === 'string' && /^[A-Za-z0-9_.:-]{1,64}$/.test(thing);
  require(name, `invalid ${of} name`, 'up to 64 letters, digits and _ . : -', thing);
}

/** Refuses an invalid position: of a frame, of an item. */
export function requirePosition(thing: unknown, what: string): void {
  require(isWhole(thing), `invalid argument: ${what}`, 'a whole number from 0', thing);
}

/** Refuses an invalid head digest. */
export function requireDigest(thing: unknown): void {
  require(isDigest(thing), 'invalid head of a journal', '64 lower-case hex digits', thing);
}

/** Refuses anything but an app. */
export function requireApp(thing: unknown): asserts thing is App {
  const { reducers, plans, effects } = fieldsOf(thing);
  const whole = [reducers, plans, effects].every((part) => part instanceof Map);
  require(whole, 'invalid app', 'an app made by defineApp', thing);
}

/** Refuses anything but a list of apps. */
export function requireApps(things: unknown): asserts things is readonly App[] {
  require(Array.isArray(things), 'invalid list of apps', 'apps made by defineApp', things);
  for (const thing of things) requireApp(thing);
}

/** Refuses options that are not an object. */
export function requireObject(thing: unknown, what: string): void {
  require(isObject(thing), `${what} must be an object`, 'an object', thing);
}

/** Refuses anything but a function. */
export function requireFunction(thing: unknown, what: string): void {
  require(isFunction(thing), `${what} is not a function`, 'a function', thing);
}

function require(holds: boolean, what: string, expected: string, actual: unknown): asserts holds {
  if (!holds)
    throw new RepriseError('invalid_argument', what, { expected, actual: actual === undefined ? 'nothing' : actual });
}

/** Refuses text that is not well-formed, as bytes would. */
export function requireWritable(text: string): void {
  if (utf8Length(text) < 0) encode(text);
}

/** Refuses an invalid principal, and a caller that poses as the kernel. */
export function requirePrincipal(principal: unknown, where = 'as'): void {
  const { success, data } = principalSchema.safeParse(typeof principal === 'string' ? principal : undefined);
  if (!success || data === 'kernel' || isNobody(data)) {
    throw new RepriseError('invalid_argument', 'invalid principal', {
      where,
      expected: 'operator, human:<id>, cell:<address> or adapter:<effect>',
      actual: kindOfThing(principal),
      ...hintOfPrincipal(principal),
    });
  }
  requireWritable(data);
}
