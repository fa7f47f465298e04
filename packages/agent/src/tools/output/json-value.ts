/** Converts a handler's data as JSON would, and refuses data that JSON would drop silently. */
import { isRef, type Value, wellFormed } from '@reprise/contracts';
import type { Deferral, ResultLost, ToolError, ToolParts, UnknownOutcome } from './result.js';

/** The bounds on the depth and on the number of parts of data: a shared part counts each time. */
const DEPTH_MAX = 48;
const PARTS_MAX = 1_000_000;

/**
 * Converts data: calls `toJSON`, drops keys without a value, makes text well-formed.
 *
 * @throws Error for data without a form in JSON: NaN, a function, a `Map`, bytes, a cycle; and the errors of getters
 * and `toJSON`
 */
export function jsonValue(data: unknown): Value {
  let parts = 0;
  const visit = (given: unknown, key: string, depth: number): Value | undefined => {
    if (depth > DEPTH_MAX) throw new TypeError(`it nests deeper than ${DEPTH_MAX}, or holds itself`);
    if (++parts > PARTS_MAX) throw new TypeError(`it has more than ${PARTS_MAX} parts`);
    if (isRef(given)) return given;
    const value = told(given, key);
    if (value === null || value === undefined || typeof value === 'boolean') return value;
    if (typeof value === 'string') return wellFormed(value);
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object') throw new TypeError(`it holds ${nameOf(value)}, which JSON does not have`);
    if (Array.isArray(value)) return Array.from(value, (item, at) => visit(item, String(at), depth + 1) ?? null);
    const entries = Object.entries(value);
    if (value instanceof Uint8Array)
      throw new TypeError('it holds bytes; put them into the content store with ctx.put and answer with the file');
    if (entries.length === 0 && !isPlain(value))
      throw new TypeError(`it holds ${nameOf(value)}, which JSON does not have`);
    return Object.fromEntries(
      entries.flatMap(([name, part]) => {
        const kept = visit(part, name, depth + 1);
        return kept === undefined ? [] : [[wellFormed(name), kept]];
      }),
    );
  };
  return visit(data, '', 0) ?? null;
}

function told(given: unknown, key: string): unknown {
  const toJson = typeof given === 'object' && given !== null ? (given as { toJSON?: unknown }).toJSON : undefined;
  return typeof toJson === 'function' ? toJson.call(given, key) : given;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function nameOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' ? `a ${value?.constructor?.name || 'thing'}` : `a ${typeof value}`;
}

type Atom = string | number | boolean | null | undefined;
type Answers = ToolError | Deferral | UnknownOutcome | ToolParts | ResultLost | PromiseLike<unknown>;
type Told =
  | Answers
  | { toJSON(...args: never): unknown }
  | AsyncIterable<unknown>
  | { getReader(): unknown }
  | Uint8Array;
type Lost =
  | bigint
  | symbol
  | ((...args: never) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | RegExp
  | Error;

/** The part of a type that cannot be stored: `never` when all of it can. Looks three levels deep. */
type Unkept<T, Depth extends 0[] = [0, 0, 0]> = 0 extends 1 & T
  ? never
  : unknown extends T
    ? never
    : T extends Atom | Told
      ? never
      : T extends Lost
        ? T
        : Depth extends [0, ...infer Less extends 0[]]
          ? T extends readonly (infer Item)[]
            ? Unkept<Item, Less>
            : T extends object
              ? { [K in keyof T]-?: K extends symbol ? never : Unkept<T[K], Less> }[keyof T]
              : never
          : never;

/** Empty, or a type that makes the compiler reject a `run` whose return value cannot be stored. */
export type Keepable<O> = [Unkept<O>] extends [never]
  ? unknown
  : { readonly run: 'the return value of `run` has no JSON form: return text, data, toolParts(…) or a stream' };
