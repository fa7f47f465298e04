/**
 * Refusals of arguments: callers may be untyped, and a wrong argument must be refused where it enters, by its name, and
 * not end as a `TypeError` somewhere inside.
 */
import { shortText } from '../text/cut-text.js';
import { RepriseError } from './errors.js';

/** How much of a text or a name an error shows. */
const SHOWN_UNITS_MAX = 80;

/**
 * What kind of thing an argument is, for an error: `nothing`, `a list`, `a promise`. Of objects only the kind is shown, since
 * they may hold anything.
 *
 * @example kindOfThing(undefined) // 'nothing'
 */
export function kindOfThing(thing: unknown): string {
  try {
    if (thing === undefined) return 'nothing';
    if (thing === null) return 'null';
    if (thing === '') return 'an empty text';
    if (typeof thing === 'string') return `the text "${shortText(thing, SHOWN_UNITS_MAX)}"`;
    if (typeof thing === 'function') return 'a function';
    if (typeof thing !== 'object') return shortText(`the ${typeof thing} ${String(thing)}`, SHOWN_UNITS_MAX);
    return kindOfObject(thing);
  } catch {
    return 'something that cannot be shown'; // a proxy whose handler throws, or that was revoked
  }
}

function kindOfObject(thing: object): string {
  if (Array.isArray(thing)) return thing.length === 0 ? 'an empty list' : 'a list';
  if (isPromise(thing)) return 'a promise';
  const made = Object.getPrototypeOf(thing)?.constructor?.name;
  if (typeof made !== 'string' || made === '' || made === 'Object') return 'an object';
  return shortText(`an instance of ${made}`, SHOWN_UNITS_MAX);
}

/** Whether this is a promise, of any library. */
export function isPromise(thing: unknown): boolean {
  return typeof thing === 'object' && thing !== null && 'then' in thing && typeof thing.then === 'function';
}

/** Whether this is an object with named fields: no list, and no promise of one. */
export function isFields(thing: unknown): thing is Readonly<Record<string, unknown>> {
  return typeof thing === 'object' && thing !== null && !Array.isArray(thing) && !isPromise(thing);
}

/** Whether this is a text that is not empty. */
export function isFilled(thing: unknown): thing is string {
  return typeof thing === 'string' && thing !== '';
}

/**
 * Refuses an argument of which something does not hold.
 *
 * @param at the function as a caller writes it, and the argument, or a field of it: `world.session(key)`
 * @param hint what to do; of a promise it says that `await` is missing
 * @throws RepriseError `invalid_argument`
 * @example requireArgument(isFilled(path), 'loadWorld(path)', 'the path of a file', path)
 */
export function requireArgument(
  holds: boolean,
  at: string,
  expected: string,
  actual: unknown,
  hint?: string,
): asserts holds {
  if (holds) return;
  const [, call = at, name = 'argument'] = /^(.*)\((.*)\)$/.exec(at) ?? [];
  throw invalidArgument(call, name, expected, actual, hint);
}

/** The refusal of an argument. See {@link requireArgument}. */
export function invalidArgument(
  call: string,
  name: string,
  expected: string,
  actual: unknown,
  hint?: string,
): RepriseError {
  const next = promiseHint(actual) ?? hint;
  return new RepriseError('invalid_argument', `invalid argument "${name}" of ${call}`, {
    where: name,
    expected,
    actual: kindOfThing(actual),
    ...(next === undefined ? {} : { hint: next }),
  });
}

/** Refuses anything but a function. @throws RepriseError `invalid_argument` */
export function requireCallable(
  thing: unknown,
  call: string,
  name: string,
): asserts thing is (...args: never) => unknown {
  requireArgument(typeof thing === 'function', `${call}(${name})`, 'a function', thing);
}

/** What to do about a promise in the place of its value; undefined of anything else. */
export function promiseHint(thing: unknown): string | undefined {
  try {
    return isPromise(thing) ? 'It is a promise: write `await` before it.' : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Refuses what lacks a method: an argument of another kind.
 *
 * @param at the function and the argument, see {@link requireArgument}
 * @throws RepriseError `invalid_argument`
 * @example requireMethods(world, ['frames'], 'historyOf(world)', 'an open world')
 */
export function requireMethods(thing: unknown, names: readonly string[], at: string, expected: string): void {
  const fields = typeof thing === 'object' && thing !== null ? (thing as Readonly<Record<string, unknown>>) : {};
  requireArgument(
    names.every((name) => typeof fields[name] === 'function'),
    at,
    expected,
    thing,
  );
}

/** Refuses anything but an object with named fields. @throws RepriseError `invalid_argument` */
export function requireFields(thing: unknown, at: string, expected: string): void {
  requireArgument(isFields(thing), at, expected, thing);
}
