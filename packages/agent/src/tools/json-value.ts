/** What of a handler's data can be kept: what JSON would make of it, and a refusal of what JSON would lose in silence. */
import { isRef, type Value, wellFormed } from '@reprise/contracts';
import type { Deferral, ResultLost, ToolError, ToolParts, UnknownOutcome } from './result.js';

/** How deep data may nest, and of how many parts it may consist: shared parts count wherever they stand. */
const DEPTH_MAX = 48;
const PARTS_MAX = 1_000_000;

/**
 * Data as it is kept: `toJSON` is asked, keys without a value are left out, text is made well-formed.
 *
 * @throws Error for what has no form in JSON: NaN, a function, a `Map`, bytes, a cycle; and what getters and `toJSON` throw
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
  return typeof value === 'object' ? `a ${value?.constructor?.name ?? 'thing'}` : `a ${typeof value}`;
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

/** What of some data could not be kept, as far as types tell: `never` when all of it can. Looks three levels deep. */
export type Unkept<T, Depth extends 0[] = [0, 0, 0]> = 0 extends 1 & T
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

/** Nothing, or what says to the compiler that `run` returns what cannot be kept. */
export type Keepable<O> = [Unkept<O>] extends [never]
  ? unknown
  : { readonly run: 'what `run` returns cannot be kept as JSON: return text, data, toolParts(…) or a stream' };
