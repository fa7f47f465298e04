/**
 * One walk in place of two: what it gives is what normal form and schema give, and what it does not give is left to them.
 * The adversary hands over what only looks like a plain value that fits, somewhere deep inside.
 */
import { Ref, type Value, value } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { stepOf } from '../../../../../conformance/part.js';
import { decode, encode, normalValue, toHex } from '../../../src/pure/codec/index.js';
import { fittedForm } from '../../../src/pure/schema/fitted-form.js';
import { check, compileSchema, type SchemaNode } from '../../../src/pure/schema/index.js';
import { assertProperty, SEED, vitestCommand } from '../codec/seed.js';
import { cases, samples } from './schemas.js';

const command = vitestCommand('packages/kernel/test/pure/schema/fitted-form.test.ts');
const ROOM = 1_000_000;

let ran = 0;
const code = { enumerable: true, configurable: true, get: () => ++ran };

/** What is done to one map, list or leaf of a thing: most of it makes another value of it, or none. */
const ODDITIES: readonly ((thing: never) => unknown)[] = [
  (thing) => thing,
  (thing: object) => Object.defineProperty(thing, 'a', code),
  (thing: object) => Object.defineProperty(thing, 'b', { enumerable: true, set: () => void ++ran }),
  (thing: object) => Object.defineProperty(thing, 't', code),
  (thing: object) => Object.assign(thing, { [Symbol('s')]: 1 }),
  (thing: object) => Object.defineProperty(thing, '__proto__', { value: 1, enumerable: true }),
  (thing: object) => Object.defineProperty(thing, 'hidden', { value: 1 }),
  (thing: object) => Object.defineProperty(thing, 'a', { value: 'a', enumerable: false }),
  (thing: object) => Object.assign(thing, { a: undefined }),
  (thing: object) => Object.assign(thing, { extra: undefined }),
  (thing: object) => Object.assign(thing, { extra: 1 }),
  (thing: object) => Object.setPrototypeOf(thing, null),
  (thing: object) => Object.setPrototypeOf(thing, { a: 'a', b: 1, t: 't0' }),
  (thing: object) => Object.freeze(thing),
  (thing: object) => new Proxy(thing, {}),
  (thing: object) => new Proxy(thing, { getPrototypeOf: () => Object.prototype }),
  (thing: object) => new Proxy(thing, { ownKeys: () => unlistable() }),
  () => -0,
  () => 'a\ud800',
  () => Number.NaN,
  () => 2 ** 53,
  () => undefined,
  () => 7n,
  () => () => 0,
  () => new Date(0),
  () => new Map([['a', 1]]),
  () => Buffer.from('b'),
  () => Uint8Array.of(1),
  () => Ref.fromHex('ab'.repeat(32)),
  () => Object.assign(Object.create(Ref.prototype), { hex: 'ab'.repeat(32), kind: 'raw' }),
  () => ({ [Symbol.for('reprise.ref')]: true, hex: 'ab'.repeat(32), kind: 'raw' }),
  // biome-ignore lint/suspicious/noSparseArray: a list with a hole is what is meant
  () => [1, , 2],
  () => Object.assign([1], { named: 2 }),
  () => new (class extends Array {})(1),
  () => Object.create([], { length: { value: 0 } }),
  (thing: unknown[]) => Object.defineProperty(thing, 0, code),
  () => Object.defineProperty([1, 2], 1, code),
];

function unlistable(): never {
  throw new Error('keys are not listed');
}

/** Where an oddity stands, which one it is, and whether keys stand in another order. */
const oddly = fc.record({
  path: fc.array(fc.nat(5), { maxLength: 4 }),
  which: fc.oneof(fc.constant(0), fc.nat(ODDITIES.length - 1)),
  turned: fc.boolean(),
});

/** A thing of its own with the fields of a value, odd in one place. */
function thingOf(whole: Value, odd: { path: number[]; which: number; turned: boolean }, depth = 0): unknown {
  const here = depth === odd.path.length;
  const make = ODDITIES[here ? odd.which : 0] as (thing: unknown) => unknown;
  if (typeof whole !== 'object' || whole === null || whole instanceof Ref) return here ? makeOf(make, whole) : whole;
  if (whole instanceof Uint8Array) return here ? makeOf(make, Uint8Array.from(whole)) : Uint8Array.from(whole);
  const step = odd.path[depth] ?? 0;
  const entries = Object.entries(whole).map(([key, item], i, all) => {
    const isOn = !here && i === step % all.length;
    return [key, isOn ? thingOf(item as Value, odd, depth + 1) : plain(item as Value)] as const;
  });
  if (Array.isArray(whole))
    return makeOf(
      make,
      entries.map(([, item]) => item),
    );
  return makeOf(make, Object.fromEntries(odd.turned ? entries.reverse() : entries));
}

/** Not every oddity can be done to every thing: then it stays plain. */
function makeOf(make: (thing: unknown) => unknown, thing: unknown): unknown {
  try {
    return make(thing);
  } catch {
    return thing;
  }
}

function plain(item: Value): unknown {
  return decode(encode(item));
}

type Judged = { readonly value: Value; readonly bytes: number } | undefined;

/** What normal form and schema make of a thing, when they accept it as it is: undefined for everything else. */
function longWay(node: SchemaNode, thing: unknown): Judged {
  let normal: { readonly value: Value; readonly bytes: number };
  try {
    normal = normalValue(thing);
  } catch {
    return undefined;
  }
  const checked = check(node, normal.value);
  return checked.ok && checked.value === normal.value ? normal : undefined;
}

describe(`normal form and schema in one walk (seed ${SEED})`, () => {
  it.each<[string, SchemaNode]>([
    ['a list', compileSchema(z.array(z.int()))],
    ['a tuple', compileSchema(z.tuple([z.int(), z.int()]))],
    ['any value', compileSchema(value())],
  ])(
    'an accessor in a list is never run where %s is due, and the list is left to the long way [CODEC-12]',
    (_, node) => {
      const list = Object.defineProperty([1, 2], 1, code);
      ran = 0;
      expect([fittedForm(node, list, ROOM), longWay(node, list), ran]).toEqual([undefined, undefined, 0]);
      expect(fittedForm(node, [1, 2], ROOM)?.value).toEqual([1, 2]);
    },
  );

  it('a thing that is taken in one walk is what normal form and schema give: bytes, size and order of keys [SCH-3, CODEC-12]', () => {
    const seen = { taken: 0, left: 0, refused: 0 };
    const law = fc.property(cases, oddly, ([schema, whole], odd) => {
      const node = compileSchema(schema);
      const thing = thingOf(whole, odd);
      ran = 0;
      const short = fittedForm(node, thing, ROOM);
      const long = longWay(node, thing);
      expect(ran, 'accessors that were run').toBe(0);
      if (short === undefined) seen[long === undefined ? 'refused' : 'left']++;
      if (short === undefined) return;
      seen.taken++;
      expect(long, 'what the long way does not accept as it is').toBeDefined();
      expect(toHex(encode(short.value))).toBe(toHex(encode(long?.value)));
      expect(short.bytes).toBe(encode(long?.value).length);
      expect(keysIn(short.value)).toEqual(keysIn(long?.value as Value));
    });
    assertProperty(law, { numRuns: 8_000 / stepOf(4), command });
    expect(seen.taken).toBeGreaterThan(300);
    expect(seen.refused).toBeGreaterThan(300);
    expect(seen.left, 'plain values that fit and are left all the same').toBeLessThan(seen.taken);
  });

  it('a thing that is taken in one walk shares nothing that can be written into with what was given [RED-1]', () => {
    const fitting = samples.chain(({ schema, fitting }) => fc.tuple(fc.constant(schema), fitting));
    const law = fc.property(fitting, ([schema, whole]) => {
      const before = toHex(encode(whole));
      scribble(fittedForm(compileSchema(schema), whole, ROOM)?.value);
      expect(toHex(encode(whole))).toBe(before);
    });
    assertProperty(law, { numRuns: 1_500 / stepOf(3), command });
  });

  const link = Ref.fromHex('cd'.repeat(32), 'value');
  const order = compileSchema(
    z.strictObject({
      total: z.int().min(0),
      id: z.string().max(5),
      note: z.exactOptional(z.string()),
      lines: z.array(z.strictObject({ sku: z.string(), n: z.int() })).max(2),
      of: z.record(z.string().max(2), z.int()).nullable(),
      how: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('card'), last: z.tuple([z.int(), z.string()]) }),
        z.strictObject({ kind: z.literal('cash') }),
      ]),
      any: value() as z.ZodType,
    }),
  );
  const given = {
    any: { bytes: Uint8Array.of(1), link },
    how: { last: [1, 'a'], kind: 'card' },
    of: { zz: 1, a: 2 },
    lines: [{ sku: 'x', n: 1 }],
    note: undefined,
    id: 'order',
    total: -0,
  };

  it('a thing of every kind of node is taken, whatever the order of its keys', () => {
    const { value: found, bytes } = fittedForm(order, given, ROOM) ?? {};
    expect(toHex(encode(found))).toBe(toHex(encode(given)));
    expect(bytes).toBe(encode(given).length);
    expect(Object.keys(found as object)).toEqual(['id', 'of', 'any', 'how', 'lines', 'total']);
    expect(fittedForm(order, { ...given, of: null }, ROOM)).toBeDefined();
    expect(fittedForm(order, { ...given, how: { kind: 'cash' } }, ROOM)).toBeDefined();
  });

  it.each<[string, object]>([
    ['a key that the schema does not have', { extra: 1 }],
    ['a text that is too long', { id: 'orders' }],
    ['a number that is too small', { total: -1 }],
    ['too many items', { lines: [{}, {}, {}].map(() => ({ sku: 'x', n: 1 })) }],
    ['an item that does not fit', { lines: [{ sku: 1, n: 1 }] }],
    ['a tuple that is too long', { how: { kind: 'card', last: [1, 'a', 2] } }],
    ['the fields of another option', { how: { kind: 'cash', last: [1, 'a'] } }],
    ['a tag that no option has', { how: { kind: 'gold' } }],
    ['a key of a record that no text is', { of: { 'a\ud800': 1 } }],
    ['a key of a record that does not fit', { of: { long: 1 } }],
    ['a key of a record that no map may have', { of: JSON.parse('{"__proto__": 1}') }],
    ['a symbol in a record', { of: { [Symbol('s')]: 1 } }],
    ['a key of a record without a value', { of: { a: undefined } }],
    ['a list of another class', { lines: new (class extends Array {})() }],
    ['a list without a prototype', { lines: Object.setPrototypeOf([], null) }],
    ['an optional field that does not fit', { note: 1 }],
  ])('a thing with %s is left to the schema', (_what, odd) => {
    expect(fittedForm(order, { ...given, ...odd }, ROOM)).toBeUndefined();
  });

  it('a thing that lacks a field is left to the schema, though maps with other fields came before', () => {
    const pair = compileSchema(z.strictObject({ a: z.int(), b: z.int(), c: z.int().optional() }));
    for (let again = 0; again < 3; again++) {
      expect(fittedForm(pair, { a: 1, b: 2 }, ROOM)?.value).toEqual({ a: 1, b: 2 });
      expect(fittedForm(pair, { a: 1, c: 2 }, ROOM)).toBeUndefined();
      expect(fittedForm(pair, { a: 1, d: 2 }, ROOM)).toBeUndefined();
      expect(fittedForm(pair, { a: 1, b: undefined }, ROOM)).toBeUndefined();
      expect(fittedForm(pair, { b: 1, a: 2, c: 3 }, ROOM)?.value).toEqual({ a: 2, b: 1, c: 3 });
    }
  });

  it('a thing with code in place of a field, of a tag or of an entry is left, and the code is not run [CODEC-12]', () => {
    ran = 0;
    const coded = (of: object, key: string) => Object.defineProperty(of, key, code);
    for (const odd of [{ how: coded({}, 'kind') }, { of: coded({}, 'a') }, { any: coded({}, 'a') }]) {
      expect(fittedForm(order, { ...given, ...odd }, ROOM)).toBeUndefined();
    }
    expect(fittedForm(order, coded({ ...given }, 'id'), ROOM)).toBeUndefined();
    expect(ran).toBe(0);
  });

  it('a thing that has the field __proto__ is left, though a schema asked for it', () => {
    const fields = Object.defineProperty({}, '__proto__', {
      value: { node: { type: 'value' }, optional: false },
      enumerable: true,
    });
    const node = { type: 'object', fields } as SchemaNode;
    const record: SchemaNode = { type: 'record', key: { type: 'text' }, item: { type: 'value' } };
    for (const one of [node, record]) expect(fittedForm(one, JSON.parse('{"__proto__": 1}'), ROOM)).toBeUndefined();
  });

  it('a thing is taken whichever of its optional fields it has', () => {
    const some = compileSchema(z.strictObject({ a: z.int(), b: z.int().optional(), c: z.int().optional() }));
    for (const thing of [{ a: 1, b: 2 }, { a: 1, c: 2 }, { c: 1, a: 2 }, { a: 1 }, { a: 1, c: 1, b: 1 }]) {
      expect(fittedForm(some, thing, ROOM)?.value).toEqual(thing);
      expect(fittedForm(some, thing, ROOM)?.bytes).toBe(encode(thing).length);
    }
  });

  it('a thing that would get a default is left to the schema, in a union as well', () => {
    const filled = z.strictObject({ a: z.int().default(7) });
    expect(fittedForm(compileSchema(filled), {}, ROOM)).toBeUndefined();
    expect(fittedForm(compileSchema(filled), { a: 1 }, ROOM)?.value).toEqual({ a: 1 });
    const either = compileSchema(z.union([filled, z.strictObject({})]));
    expect(fittedForm(either, {}, ROOM)).toBeUndefined();
    expect(check(either, {})).toEqual({ ok: true, value: { a: 7 } });
  });

  it('a thing is taken up to exactly so many bytes, and as deep as values may nest', () => {
    const size = encode(given).length;
    expect(fittedForm(order, given, size)).toBeDefined();
    expect(fittedForm(order, given, size - 1)).toBeUndefined();
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { next: nested(depth - 1) });
    const deep = (depth: number): SchemaNode => {
      if (depth === 0) return { type: 'number', int: true };
      return { type: 'object', fields: { next: { node: deep(depth - 1), optional: false } } };
    };
    for (const [depth, fits] of [
      [48, true],
      [49, false],
    ] as const) {
      expect(fittedForm(compileSchema(value() as z.ZodType), nested(depth), ROOM) !== undefined).toBe(fits);
      const node = deep(depth);
      expect([fittedForm(node, nested(depth), ROOM) !== undefined, longWay(node, nested(depth)) !== undefined]).toEqual(
        [fits, fits],
      );
    }
  });

  it('a thing that names one list again and again is left in bounded time', () => {
    let list: unknown = ['x'.repeat(100)];
    for (let i = 0; i < 40; i++) list = [list, list];
    expect(fittedForm(compileSchema(value() as z.ZodType), list, 64 * 1024)).toBeUndefined();
  });
});

/** The keys of every map in a value, in the order in which code finds them. */
function keysIn(item: Value): string[] {
  if (typeof item !== 'object' || item === null || item instanceof Ref || item instanceof Uint8Array) return [];
  return Object.entries(item).flatMap(([key, inner]) => [key, ...keysIn(inner as Value)]);
}

function scribble(item: unknown): void {
  if (typeof item !== 'object' || item === null || item instanceof Ref) return;
  if (item instanceof Uint8Array) item.fill(7);
  for (const inner of Object.values(item)) scribble(inner);
  if (Array.isArray(item)) item.push('scribbled');
  else if (!(item instanceof Uint8Array)) (item as Record<string, unknown>).scribbled = true;
}
