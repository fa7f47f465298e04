/** Checks of arguments where they enter: callers may be untyped. The rest of the code trusts its types. */
import { invalidArgument, isFields, kindOfThing, promiseHint } from '../errors/arguments.js';
import type { ErrorCode } from '../errors/error-codes.js';
import { RepriseError } from '../errors/errors.js';
import { asciiLower } from '../errors/portable.js';
import { DIGEST_HEX } from '../text/hex.js';
import { present } from '../wire/present.js';
import type { OptionKind } from './option-kinds.js';

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
    if (!holds)
      throw new RepriseError(code, what, { where, expected, actual: actual === undefined ? 'nothing' : actual });
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
export function unknownFields(thing: unknown, known: Readonly<Record<string, unknown>>): readonly string[] {
  const fields = Object.entries(fieldsOf(thing)).filter(
    ([name, value]) => value !== undefined && !Object.hasOwn(known, name),
  );
  return fields.map(([name]) => name);
}

/**
 * Refuses options that are no object, a misspelled option, which would otherwise be ignored, and one of the wrong kind
 * where `known` says what it has to be. An option that is undefined counts as absent.
 *
 * @param call the function that takes the options, such as `send`
 * @param hint what to do about options that are no object
 * @throws RepriseError `invalid_argument`
 */
export function requireKnownOptions(
  options: unknown,
  known: Readonly<Record<string, true | OptionKind>>,
  call: string,
  hint?: string,
): void {
  const expected = Object.keys(known).join(', ');
  if (!isFields(options)) {
    const { details, what } = invalidArgument(call, 'options', `an object with any of ${expected}`, options, hint);
    const actual = typeof options === 'string' ? 'a text' : details.actual; // it may be a key
    throw new RepriseError('invalid_argument', what, { ...details, actual });
  }
  requireKinds(options, known, call);
  const [unknown] = unknownFields(options, known);
  if (unknown === undefined) return;
  throw new RepriseError('invalid_argument', `unknown option "${unknown}" of ${call}`, {
    expected,
    actual: unknown,
    ...hintOf(unknown, known),
  });
}

/** Refuses fields of the wrong kind; an undefined one counts as absent. @throws RepriseError `invalid_argument` */
export function requireKinds(
  options: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, true | OptionKind>>,
  call: string,
): void {
  for (const [name, kind] of Object.entries(known)) {
    if (kind === true) continue;
    const option = options[name];
    if (option === undefined || kind.fits(option)) continue;
    throw new RepriseError('invalid_argument', `invalid option "${name}" of ${call}`, {
      where: name,
      expected: kind.expected,
      actual: kindOfThing(option),
      ...present({ hint: promiseHint(option) ?? kind.hint?.(option) }),
    });
  }
}

/**
 * The hint that names the known option that was meant: the one that a misspelled name is closest to. Empty when none is
 * close.
 *
 * @param elsewhere the names that other libraries use for these options
 */
export function hintOf(
  unknown: string,
  known: Readonly<Record<string, unknown>>,
  elsewhere: Readonly<Record<string, string>> = {},
): { readonly hint?: string } {
  const near = Object.hasOwn(elsewhere, unknown) ? elsewhere[unknown] : nearestName(unknown, Object.keys(known));
  return near === undefined ? {} : { hint: `Did you mean "${near}"?` };
}

/** The longest name that is compared with others. */
const NEAR_NAME_MAX = 64;

/** The name that a misspelled one is closest to; undefined when all of them are far from it. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > NEAR_NAME_MAX) return undefined;
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (candidate.length > NEAR_NAME_MAX) continue;
    const edits = editsBetween(asciiLower(name), asciiLower(candidate));
    if (edits < least) [nearest, least] = [candidate, edits];
  }
  return nearest;
}

/** How many letters have to be put in, taken out, changed or swapped with the next to turn one text into the other. */
function editsBetween(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = from[i - 1] === to[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      row.push(
        Math.min(
          (above[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          (above[j - 1] ?? 0) + change,
          swapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    [before, above] = [above, row];
  }
  return above[to.length] ?? 0;
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
