/** What an option has to be when it is given: the entries of the tables that `requireKnownOptions` reads. */
import { isFields } from '../errors/arguments.js';
import { isTextFrom, isTextWithin } from '../schema/text-length.js';
import { hintOfPrincipal, principal } from '../wire/principal.js';

/** What an option has to be. */
export interface OptionKind {
  /** In words, as an error says it. */
  readonly expected: string;
  fits(thing: unknown): boolean;
  /** What to do about one that does not fit. */
  hint?(thing: unknown): string | undefined;
}

/** The options of a call by name: `true` where something else checks the option. */
export type KnownOptions<O> = Readonly<Record<keyof O, true | OptionKind>>;

/** An option that is `true` or `false`. */
export const aFlag: OptionKind = { expected: 'true or false', fits: (thing) => typeof thing === 'boolean' };

/** An option that is a function, whatever its parameters. */
export const aFunction: OptionKind = { expected: 'a function', fits: (thing) => typeof thing === 'function' };

/** A text, which may be empty. */
export const aText: OptionKind = { expected: 'text', fits: (thing) => typeof thing === 'string' };

/** Any list: the entries are checked where they are used. */
export const aList: OptionKind = { expected: 'a list', fits: Array.isArray };

/** An object with named fields. */
export const anObject: OptionKind = { expected: 'an object', fits: isFields };

/** An option that is an object whose values are texts. */
export const textsByName: OptionKind = {
  expected: 'texts by name, such as { tenant: "t-1" }',
  fits: (thing) => isFields(thing) && Object.values(thing).every((text) => typeof text === 'string'),
};

/** What stops a call: the signal of an `AbortController`. */
export const aSignal: OptionKind = {
  expected: 'an AbortSignal, such as the signal of an AbortController',
  fits: (thing) =>
    isFields(thing) && typeof thing.aborted === 'boolean' && typeof thing.addEventListener === 'function',
};

/** An option that names the principal for which a call acts. */
export const aPrincipal: OptionKind = {
  expected: 'operator, human:<id>, cell:<address> or adapter:<effect>',
  fits: (thing) => principal.safeParse(thing).success,
  hint: (thing) => hintOfPrincipal(thing).hint,
};

/** A text of 1 to so many characters. */
export function textOf(max: number): OptionKind {
  return {
    expected: `text of 1 to ${max} characters`,
    fits: (thing) => typeof thing === 'string' && isTextFrom(thing, 1) && isTextWithin(thing, max),
  };
}

/** A whole number within bounds. */
export function wholeFrom(from: number, to: number = Number.MAX_SAFE_INTEGER): OptionKind {
  const bound = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
  return {
    expected: `a whole number ${bound}`,
    fits: (thing) => typeof thing === 'number' && Number.isSafeInteger(thing) && thing >= from && thing <= to,
  };
}

/** An option that is one of the given texts. */
export function oneOf(...texts: readonly string[]): OptionKind {
  return { expected: texts.join(', '), fits: (thing) => typeof thing === 'string' && texts.includes(thing) };
}
