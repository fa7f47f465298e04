/** The short ways around bytes: each is held to the long way, through them. */
import { Ref, type Value } from '@reprise/contracts';
import { anyValue } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import {
  byteLength,
  copyNormal,
  decode,
  encode,
  encodeEach,
  encodeKernel,
  equalValues,
  inKeyOrder,
  isWithinBytes,
  nextValue,
  normalValue,
  toHex,
} from '../../../src/pure/codec/index.js';
import { hold, rerun, SEED } from '../../support/laws/hold.js';

/** What a program may hand over: values, and what only looks like one. */
const things = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 4, arbitrary: anyValue() },
    {
      weight: 2,
      arbitrary: fc.object({
        values: [anyValue(), fc.constantFrom<unknown>(undefined, -0, Number.NaN, 'a\ud800', 7n, () => 0)],
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(...ODD) },
  );

const ODD: readonly unknown[] = [
  undefined,
  {
    get x() {
      return 1;
    },
  },
  { a: { set x(_: number) {} } },
  { [Symbol('s')]: 1 },
  Object.assign(Object.create(null), { a: 1 }),
  Object.assign(Object.create({ inherited: 1 }), { a: 1 }),
  Object.assign([1, 2], { named: 3 }),
  // biome-ignore lint/suspicious/noSparseArray: a list with a hole is what is meant
  [1, , 2],
  new Date(0),
  new Map([['a', 1]]),
  JSON.parse('{"__proto__": 1}'),
  Object.freeze({ b: 1, a: Object.freeze([-0]) }),
  Object.defineProperty({ a: 1 }, 'hidden', { value: 2, enumerable: false }),
  Object.create(Ref.prototype),
  Object.assign(Object.create(Ref.prototype), { hex: 'ZZ'.repeat(32), kind: 'raw' }),
  new Proxy({ a: 1 }, {}),
  new (class extends Array {})(1),
  Buffer.from('bytes'),
  { 10: 'a', 9: 'b', z: { 2: 1 } },
];

function outcome(work: () => Value): string {
  try {
    return toHex(encode(work()));
  } catch (error) {
    const { code, what, details } = error as { code?: string; what?: string; details?: { where?: string } };
    return `${code} ${what} ${details?.where}`;
  }
}

describe(`values without the way through bytes (seed ${SEED})`, () => {
  it('the normal form of a thing, its size and its refusal are those of its bytes [RED-1]', async () => {
    const law = fc.property(things(), (thing) => {
      const long = outcome(() => decode(encode(thing)));
      expect(outcome(() => normalValue(thing).value)).toBe(long);
      if (long.startsWith('invalid_value')) return;
      const { value, bytes } = normalValue(thing);
      expect(bytes).toBe(encode(thing).length);
      expect(keysIn(value)).toEqual(keysIn(decode(encode(thing))));
    });
    await hold(law, { numRuns: 3_000 / stepOf(4), command: rerun('normal.test.ts') });
    for (const thing of ODD) expect(outcome(() => normalValue(thing).value)).toBe(outcome(() => decode(encode(thing))));
  });

  it('a normal form shares nothing that can be written into with what it was made from [RED-1]', async () => {
    const law = fc.property(anyValue(), (value) => {
      const before = toHex(encode(value));
      scribble(normalValue(value).value);
      expect(toHex(encode(value))).toBe(before);
      scribble(copyNormal(decode(encode(value))));
      expect(toHex(encode(value))).toBe(before);
    });
    await hold(law, { numRuns: 500 / stepOf(4), command: rerun('normal.test.ts') });
  });

  it('what shares with the value before is the normal form of the whole, or is left to it [RED-1]', async () => {
    const pairs = fc.oneof(
      fc.tuple(anyValue(), things()),
      anyValue().map((value) => [value, copyNormal(decode(encode(value)))] as const),
      fc
        .tuple(anyValue(), things())
        .map(([value, thing]) => [value, { a: value, b: thing, c: [value, thing] }] as const),
    );
    const law = fc.property(pairs, fc.boolean(), ([was, thing], isInside) => {
      const before = decode(encode(isInside ? { a: was, b: [was], c: was } : was));
      const given =
        isInside && typeof thing === 'object' ? { a: thing, b: [thing], c: copyNormal(decode(encode(was))) } : thing;
      const [kept, next] = [toHex(encode(before)), nextValue(before, given, 1)];
      if (next === undefined) return;
      expect(outcome(() => next.value)).toBe(outcome(() => normalValue(given).value));
      expect(keysIn(next.value)).toEqual(keysIn(normalValue(given).value));
      expect(byteLength(next.value)).toBeLessThanOrEqual(byteLength(before) + next.added);
      expect(toHex(encode(before))).toBe(kept);
    });
    await hold(law, { numRuns: 3_000 / stepOf(4), command: rerun('normal.test.ts') });
  });

  it('what was equal before is the same object, however deep, and what is not is another [RED-1]', () => {
    const before = decode(encode({ a: { b: [1, { c: 'x' }] }, d: { e: 1 } })) as Readonly<Record<string, Value>>;
    expect(nextValue(before, copyNormal(before), 0)?.value).toBe(before);
    const next = nextValue(before, { a: { b: [1, { c: 'y' }] }, d: { e: 1 } }, 0)?.value as typeof before;
    expect(next).not.toBe(before);
    expect(next.d).toBe(before.d);
    expect(next.a).not.toBe(before.a);
  });

  it('a structure that names one list again and again is refused as its bytes are, in bounded time', () => {
    let list: unknown = ['x'.repeat(100)];
    for (let i = 0; i < 40; i++) list = [list, list];
    expect(outcome(() => normalValue(list).value)).toMatch(/^invalid_value takes more than \d+ bytes/);
  });

  it('sizes, copies and the trusted writer agree with the bytes of a value', async () => {
    const law = fc.property(anyValue(), (given) => {
      const value = decode(encode(given));
      expect(byteLength(value)).toBe(encode(value).length);
      expect(toHex(encodeKernel(value))).toBe(toHex(encode(value)));
      expect(toHex(encode(copyNormal(value)))).toBe(toHex(encode(value)));
    });
    await hold(law, { numRuns: 2_000 / stepOf(4), command: rerun('normal.test.ts') });
  });

  it('a value is within exactly as many bytes as it has, and more', async () => {
    const law = fc.property(anyValue(), fc.nat({ max: 60 }), (given, room) => {
      const value = decode(encode(given));
      const size = encode(value).length;
      for (const max of [room, size - 1, size, size + 1]) expect(isWithinBytes(value, max)).toBe(size <= max);
    });
    await hold(law, { numRuns: 2_000 / stepOf(4), command: rerun('normal.test.ts') });
    expect(isWithinBytes({ a: 1, b: undefined } as never, 4)).toBe(true);
    for (let n = 0; n < 300; n += 3) {
      const [items, fields] = [
        Array.from({ length: n }, () => null),
        Array.from({ length: n }, (_, i) => [`${i}`, null]),
      ];
      for (const wide of [items, Object.fromEntries(fields), new Uint8Array(n), 'é'.repeat(n)]) {
        const size = encode(wide).length;
        expect([isWithinBytes(wide, size), isWithinBytes(wide, size - 1)]).toEqual([true, false]);
      }
    }
    let list: Value = ['x'];
    for (let i = 0; i < 40; i++) list = [list, list];
    expect(isWithinBytes(list, 48)).toBe(false); // it has more bytes than a memory
  });

  it('values that are written one after the other have the bytes that each has alone, which are its own', async () => {
    const law = fc.property(fc.array(anyValue(), { maxLength: 5 }), (given) => {
      const written = encodeEach(given.map((value) => decode(encode(value))));
      expect(written.map(toHex)).toEqual(given.map((value) => toHex(encode(value))));
      written[0]?.fill(255);
      expect(written.slice(1).map(toHex)).toEqual(given.slice(1).map((value) => toHex(encode(value))));
    });
    await hold(law, { numRuns: 500 / stepOf(4), command: rerun('normal.test.ts') });
  });

  it('fields in the order of their keys are those of the decoded map, a key that no map may have among them', async () => {
    const law = fc.property(fc.dictionary(fc.string({ maxLength: 4 }), fc.nat()), (map) => {
      expect(Object.entries(inKeyOrder(map))).toEqual(
        Object.entries(decode(encode(Object.fromEntries(Object.entries(map)))) as object),
      );
    });
    await hold(law, { numRuns: 500 / stepOf(4), command: rerun('normal.test.ts') });
    expect(Object.keys(inKeyOrder(JSON.parse('{"b": 1, "__proto__": 2, "a": 3}')))).toEqual(['a', 'b', '__proto__']);
  });

  it('two values are equal when their bytes are', async () => {
    const pairs = fc.tuple(anyValue(), anyValue()).chain(([a, b]) => fc.constantFrom([a, b], [a, decode(encode(a))]));
    const law = fc.property(pairs, ([a, b]) => {
      expect(equalValues(a as Value, b as Value)).toBe(toHex(encode(a)) === toHex(encode(b)));
    });
    await hold(law, { numRuns: 2_000 / stepOf(4), command: rerun('normal.test.ts') });
    expect(equalValues({ a: 1, b: undefined } as never, { a: 1 })).toBe(true);
    expect(equalValues({ a: 1 }, { b: 1 })).toBe(false);
    expect(equalValues([], {} as never)).toBe(false);
  });
});

/** The keys of every map in a value, in the order in which code finds them. */
function keysIn(value: Value): string[] {
  if (typeof value !== 'object' || value === null || value instanceof Ref || value instanceof Uint8Array) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...keysIn(item as Value)]);
}

function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null || value instanceof Ref) return;
  if (value instanceof Uint8Array) value.fill(7);
  for (const item of Object.values(value)) scribble(item);
  if (Array.isArray(value)) value.push('scribbled');
  else if (!(value instanceof Uint8Array)) (value as Record<string, unknown>).scribbled = true;
}
