/** Changes a value in one random place, as an attacker would to make a reader fail, loop or grow. */
import { isRef, type Ref, type Value } from '@reprise/contracts';
import { decode, encode, FRAME_DEPTH_MAX } from '@reprise/kernel';

/** Gives numbers from 0 up to 1, the same for the same seed. */
export type Random = () => number;

/** A generator of numbers from a seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A whole number from 0 below a bound. */
export function below(random: Random, bound: number): number {
  return Math.floor(random() * bound);
}

/**
 * A value changed in one place.
 *
 * @param links links of the world, which may come to stand where others stood
 */
export function mutate(value: Value, random: Random, links: readonly Ref[]): Value {
  const children = childrenIn(value);
  if (children.length > 0 && random() < 0.8) {
    const key = children[below(random, children.length)] as string | number;
    return withChild(value, key, mutate(childOf(value, key), random, links));
  }
  const inner = value instanceof Uint8Array && random() < 0.8 ? decodedOr(value) : undefined;
  if (inner !== undefined) return encode(mutate(inner, random, links), FRAME_DEPTH_MAX);
  return replaced(value, random, links);
}

function replaced(value: Value, random: Random, links: readonly Ref[]): Value {
  const options: (() => Value)[] = [
    () => null,
    () => 0,
    () => -1,
    () => Number.MAX_SAFE_INTEGER,
    () => 0.5,
    () => '',
    () => 'x'.repeat(100_000),
    () => '\u0000\uffff',
    () => [],
    () => ({}),
    () => true,
    () => new Uint8Array(70_000),
    () => nested(30),
    () => links[below(random, links.length)] ?? null,
    () => links[below(random, links.length)] ?? null,
  ];
  if (Array.isArray(value)) {
    const at = below(random, value.length || 1);
    options.push(
      () => [...value, ...value],
      () => Array.from({ length: 1_000 }, () => (value[at] ?? null) as Value),
      () => value.toSpliced(at, 1),
      () => value.toReversed(),
    );
  }
  if (typeof value === 'number') options.push(...[1, -1, 32, 1e9].map((by) => () => value + by));
  if (isMap(value)) {
    const keys = Object.keys(value);
    const key = keys[below(random, keys.length || 1)] ?? '';
    options.push(
      () => Object.fromEntries(Object.entries(value).filter(([one]) => one !== key)) as Value,
      () => ({ ...value, extra: 1 }),
    );
  }
  return (options[below(random, options.length)] as () => Value)();
}

function nested(levels: number): Value {
  let value: Value = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

function isMap(value: Value): value is { readonly [key: string]: Value } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLeaf(value);
}

function isLeaf(value: Value): boolean {
  return isRef(value) || value instanceof Uint8Array;
}

function childrenIn(value: Value): (string | number)[] {
  if (Array.isArray(value)) return value.map((_, at) => at);
  return isMap(value) ? Object.keys(value) : [];
}

function childOf(value: Value, key: string | number): Value {
  return (value as unknown as Readonly<Record<string | number, Value>>)[key] as Value;
}

function withChild(value: Value, key: string | number, child: Value): Value {
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? child : (item as Value)));
  return { ...(value as object), [key]: child } as Value;
}

function decodedOr(bytes: Uint8Array): Value | undefined {
  try {
    return decode(bytes, FRAME_DEPTH_MAX);
  } catch {
    return undefined;
  }
}
