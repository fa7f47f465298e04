/** The parameters of questions: each is read and checked here, whatever the question. */
import { type Address, parseAddress, Ref, RepriseError } from '@reprise/contracts';
import { COST_KEYS, type CostKey } from '@reprise/operators/cost';

/** A parameter: makes its value of the text in the address. */
export interface Parameter<T> {
  /** @param text absent when the address does not have the parameter @throws RepriseError `invalid_argument` */
  read(text: string | undefined, name: string): T;
}

/** The parameters of a question, by name. */
export type Parameters<P> = { readonly [K in keyof P]: Parameter<P[K]> };

/** The most characters of a value: addresses and cursors are shorter. */
const TEXT_MAX = 4_096;

/** Reads all parameters of a question. @throws RepriseError `invalid_argument` for an unknown, a repeated or a wrong one */
export function readParameters<P>(parameters: Parameters<P>, query: URLSearchParams): P {
  const known = Object.keys(parameters) as (keyof P & string)[];
  for (const name of query.keys()) {
    if (!(known as readonly string[]).includes(name))
      throw refused(name, known.length === 0 ? 'no parameter' : `one of ${known.join(', ')}`, name);
    if (query.getAll(name).length > 1) throw refused(name, 'the parameter once', `${query.getAll(name).length} times`);
  }
  return Object.fromEntries(
    known.map((name) => [name, parameters[name].read(query.get(name) ?? undefined, name)]),
  ) as P;
}

/** A parameter that may be absent. */
export function optional<T>(parameter: Parameter<T>): Parameter<T | undefined> {
  return { read: (text, name) => (text === undefined ? undefined : parameter.read(text, name)) };
}

/** A whole number within bounds, both included. */
export function whole(least: number, most: number): Parameter<number> {
  return {
    read(text, name) {
      const number = text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : -1;
      if (number >= least && number <= most) return number;
      throw refused(name, `a whole number from ${least} to ${most}`, text);
    },
  };
}

/** A text of one character at least. */
export const TEXT: Parameter<string> = {
  read(text, name) {
    if (text !== undefined && text !== '' && text.length <= TEXT_MAX) return text;
    throw refused(name, `a text of 1 to ${TEXT_MAX} characters`, text);
  },
};

/** The number of a frame. */
export const FRAME = whole(0, Number.MAX_SAFE_INTEGER);

/** The frame after which a question is answered; the newest one when absent. */
export const AT = optional(FRAME);

/** The cursor of a page: `next` of the page before. */
export const AFTER = optional(TEXT);

/** The most entries of an answer. */
export function limit(usual: number): Parameter<number> {
  const given = whole(1, LIMIT_MAX);
  return { read: (text, name) => (text === undefined ? usual : given.read(text, name)) };
}

/** The most entries of any answer, and of one that is asked for without a limit. */
const LIMIT_MAX = 1_000;

/** The limit of a question that states none of its own. */
export const LIMIT = limit(200);

/** The address of a cell: `namespace/Reducer@1/key`. */
export const CELL: Parameter<Address> = { read: (text, name) => parseAddress(TEXT.read(text, name)) };

/** A digest: `sha256:` and 64 hex digits, or the digits alone. */
export const DIGEST: Parameter<Ref> = {
  read(text, name) {
    const hex = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text ?? '')?.[1];
    if (hex !== undefined) return Ref.fromHex(hex.toLowerCase());
    throw refused(name, 'sha256: and 64 hex digits', text);
  },
};

/** One of some words, as they are written. */
export function oneOf<const T extends string>(...words: readonly T[]): Parameter<T> {
  return {
    read(text, name) {
      const found = words.find((word) => word === text);
      if (found !== undefined) return found;
      throw refused(name, words.join(' or '), text);
    },
  };
}

/** Keys of costs with commas between them; by agent when absent. */
export const COST_BY: Parameter<readonly CostKey[]> = {
  read(text, name) {
    if (text === undefined) return ['agent'];
    const keys = text.split(',');
    if (keys.every((key): key is CostKey => (COST_KEYS as readonly string[]).includes(key)) && unique(keys))
      return keys;
    throw refused(name, `${COST_KEYS.join(', ')}; several with commas, each once`, text);
  },
};

function unique(all: readonly string[]): boolean {
  return new Set(all).size === all.length;
}

function refused(where: string, expected: string, actual: string | undefined): RepriseError {
  return new RepriseError('invalid_argument', 'a parameter of the question is wrong', {
    ...{ where, expected, actual: actual === undefined ? 'nothing' : actual.slice(0, SHOWN_MAX) },
  });
}

/** The characters of a wrong value that are repeated. */
const SHOWN_MAX = 200;
