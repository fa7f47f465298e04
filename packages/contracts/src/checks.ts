/** Checks of arguments where they enter: callers may be untyped. The rest of the code trusts its types. */
import type { ErrorCode } from './error-codes.js';
import { RepriseError } from './errors.js';
import { DIGEST_HEX } from './hex.js';

/** Refuses an argument of which something does not hold. */
export type ArgumentCheck = (holds: boolean, where: string, expected: string, actual: unknown) => asserts holds;

/**
 * Makes the check of one function's arguments.
 *
 * @param what the refusal in words, such as `invalid option of forkWorld`
 * @example const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of forkWorld')
 */
export function checkOf(code: ErrorCode, what: string): ArgumentCheck {
  return (holds, where, expected, actual) => {
    if (!holds) throw new RepriseError(code, what, { where, expected, actual });
  };
}

/** Whether this is an object: anything with fields, lists included. */
export function isObject(thing: unknown): thing is Readonly<Record<string, unknown>> {
  return typeof thing === 'object' && thing !== null;
}

/** The fields of an object; of anything else none. */
export function fieldsOf(thing: unknown): Readonly<Record<string, unknown>> {
  return isObject(thing) ? thing : {};
}

/** The fields of this object that are set and not among `known`: a misspelled option, for example. */
export function unknownFields(thing: unknown, known: Readonly<Record<string, true>>): readonly string[] {
  const fields = Object.entries(fieldsOf(thing)).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(known, name),
  );
  return fields.map(([name]) => name);
}

/**
 * Refuses options that are no object, and a misspelled option, which would otherwise be ignored.
 *
 * @param call the function that takes the options, such as `send`
 * @throws RepriseError `invalid_argument`
 */
export function requireKnownOptions(options: unknown, known: Readonly<Record<string, true>>, call: string): void {
  const unknown = isObject(options) ? unknownFields(options, known).join(', ') : typeof options;
  if (unknown === '') return;
  const expected = Object.keys(known).join(', ');
  throw new RepriseError('invalid_argument', `invalid option of ${call}`, { expected, actual: unknown });
}

/** Whether this is a function. */
export function isFunction(thing: unknown): thing is (...args: never) => unknown {
  return typeof thing === 'function';
}

/** Whether this is a whole number, safe and not below `from`. */
export function isWhole(thing: unknown, from = 0): thing is number {
  return typeof thing === 'number' && Number.isSafeInteger(thing) && thing >= from;
}

/** Whether this is a digest: 64 lower-case hex digits. */
export function isDigest(thing: unknown): thing is string {
  return typeof thing === 'string' && DIGEST_HEX.test(thing);
}

/**
 * Headers as a record. Callers without types also give a `Headers` object or pairs, whose own fields are not their
 * headers: without this, they would be dropped in silence.
 */
export function headerRecord<T>(headers: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const given: unknown = headers;
  return isObject(given) && Symbol.iterator in given ? Object.fromEntries(given as never) : headers;
}
