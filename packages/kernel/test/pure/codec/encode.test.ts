import { runInNewContext } from 'node:vm';
import { Ref } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { ENCODED_BYTES_MAX } from '../../../src/pure/codec/bounds.js';
import { encode, FRAME_DEPTH_MAX, normalValue, toHex, VALUE_DEPTH_MAX } from '../../../src/pure/codec/index.js';
import { refusalOf } from './refusal.js';

const hex = (thing: unknown): string => toHex(encode(thing));

/** A list in a list, `levels` deep. */
function nested(levels: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < levels; i++) value = [value];
  return value;
}

describe('given the same value in other words', () => {
  it.each<[string, unknown, unknown]>([
    ['minus zero', -0, 0],
    ['a key without a value', { a: 1, b: undefined }, { a: 1 }],
    ['only keys without values', { a: undefined }, {}],
    ['keys in another order', { b: 1, aa: 2, a: 3 }, { a: 3, b: 1, aa: 2 }],
    [
      'keys like integers',
      { 10: 1, 9: 2, a: 3 },
      Object.fromEntries([
        ['9', 2],
        ['a', 3],
        ['10', 1],
      ]),
    ],
    ['a map without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['a map of another realm', runInNewContext('({ a: [1, { b: 2 }] })'), { a: [1, { b: 2 }] }],
    ['bytes of another realm', runInNewContext('Uint8Array.of(1, 2)'), Uint8Array.of(1, 2)],
    ['a Buffer', Buffer.from([1, 2]), Uint8Array.of(1, 2)],
    ['a view into a larger buffer', new Uint8Array([9, 1, 2, 9]).subarray(1, 3), Uint8Array.of(1, 2)],
    ['a frozen list', Object.freeze([1, Object.freeze({ a: 1 })]), [1, { a: 1 }]],
    ['a value named twice', ((x: object) => [x, x])({ a: 1 }), [{ a: 1 }, { a: 1 }]],
    ['a property that is not enumerable', Object.defineProperty({ a: 1 }, 'b', { value: 2 }), { a: 1 }],
    ['a proxy', new Proxy({ a: 1 }, {}), { a: 1 }],
  ])('%s: it writes the same bytes [CODEC-2, CODEC-6]', (_, one, other) => {
    expect(hex(one)).toBe(hex(other));
  });

  it('text that looks like a hash stays text, and a link never becomes text [CODEC-7, CODEC-8]', () => {
    const digest = 'ab'.repeat(32);
    expect(hex(`sha256:${digest}`)).not.toBe(hex(Ref.fromHex(digest)));
    expect(hex(Ref.fromHex(digest))).toBe(`d82a58250001551220${digest}`);
    expect(hex(Ref.fromHex(digest).asValue())).toBe(`d82a58250001711220${digest}`);
  });
});

const cycle: Record<string, unknown> = { a: 1 };
cycle.self = cycle;
const ring: unknown[] = [];
ring.push(1, ring);
function argumentsOf(..._: unknown[]): unknown {
  // biome-ignore lint/complexity/noArguments: the old object, not a list, is what must be refused
  return arguments;
}
const holed = [1, 2, 3];
delete holed[1];
const sparse = [1, 2];
sparse.length = 3;

describe('given things that are not values', () => {
  it.each<[string, unknown, string, string]>([
    ['NaN', Number.NaN, '$', 'NaN'],
    ['infinity', { a: { b: [0, 0, 0, Number.POSITIVE_INFINITY] } }, '$.a.b[3]', 'Infinity'],
    ['minus infinity', [Number.NEGATIVE_INFINITY], '$[0]', '-Infinity'],
    ['a hole', { list: holed }, '$.list[1]', 'hole'],
    ['a hole at the end', sparse, '$[2]', 'hole'],
    ['undefined in a list', [[undefined]], '$[0][0]', 'undefined'],
    ['undefined', undefined, '$', 'undefined'],
    ['a date', { at: new Date(0) }, '$.at', 'instance'],
    ['a Map', new Map(), '$', 'instance'],
    ['an error', [new Error('x')], '$[0]', 'instance'],
    [
      'an instance',
      new (class Cell {
        a = 1;
      })(),
      '$',
      'instance',
    ],
    ['a list of a subclass', new (class Items extends Array {})(), '$', 'instance'],
    ['an object with a prototype', Object.create({ a: 1 }), '$', 'instance'],
    ['other typed arrays', new Float64Array(1), '$', 'instance'],
    ['a faked Uint8Array', Object.create(Uint8Array.prototype), '$', 'instance'],
    ['a boxed number', [Object(1)], '$[0]', 'instance'],
    ['a date of another realm', runInNewContext('new Date(0)'), '$', 'instance'],
    ['a function', { f: () => 1 }, '$.f', 'function'],
    ['a symbol', [Symbol('s')], '$[0]', 'symbol'],
    ['a symbol as key', { a: { [Symbol('s')]: 1 } }, '$.a', 'symbol key'],
    ['arguments', argumentsOf(1), '$', 'symbol key'],
    [
      'a getter',
      {
        a: {
          get b() {
            return 1;
          },
        },
      },
      '$.a.b',
      'accessor',
    ],
    ['a setter', { set b(_: number) {} }, '$.b', 'accessor'],
    ['a getter in a list', Object.defineProperty([1], 1, { get: () => 2, enumerable: true }), '$[1]', 'accessor'],
    ['undefined in a list', [undefined], '$[0]', 'undefined'],
    ['a bigint', [1n], '$[0]', 'bigint'],
    ['a high surrogate', { t: 'a\ud800' }, '$.t', 'lone surrogate'],
    ['a low surrogate', ['\udc00b'], '$[0]', 'lone surrogate'],
    ['a high surrogate before a letter', '\ud800a', '$', 'lone surrogate'],
    ['a high surrogate before the last unit', '\ud800\uffff', '$', 'lone surrogate'],
    ['surrogates in the wrong order', '\udc00\ud800', '$', 'lone surrogate'],
    ['a surrogate in a key', { '\ud800': 1 }, '$["\\ud800"]', 'lone surrogate'],
    ['the key __proto__', JSON.parse('{"a":{"__proto__":1}}'), '$.a.__proto__', '__proto__'],
    ['a path of odd keys', { 'a b': { '': [Number.NaN] } }, '$["a b"][""][0]', 'NaN'],
    ['a forged link', { [Symbol.for('reprise.ref')]: true, hex: 'AB' }, '$', 'link'],
    ['a forged link of more than a digest', { [Symbol.for('reprise.ref')]: true, hex: 'ab'.repeat(33) }, '$', 'link'],
    ['a long key', { ['k'.repeat(65)]: Number.NaN }, `$["${'k'.repeat(64)}"]`, 'NaN'],
    ['a cycle through a map', cycle, `$${'.self'.repeat(VALUE_DEPTH_MAX)}`, 'depth'],
    ['a cycle through a list', ring, `$${'[1]'.repeat(VALUE_DEPTH_MAX)}`, 'depth'],
  ])('%s is refused with its path [CODEC-1, CODEC-5, CODEC-9]', (_, thing, where, actual) => {
    const error = refusalOf(() => encode(thing));
    expect({ code: error.code, where: error.details.where, actual: error.details.actual }).toEqual({
      code: 'invalid_value',
      where,
      actual,
    });
  });

  it('a getter is never run [CODEC-12]', () => {
    let runs = 0;
    refusalOf(() =>
      encode({
        get a() {
          return ++runs;
        },
      }),
    );
    const list = Object.defineProperty([1, 2], 1, { get: () => ++runs, enumerable: true });
    refusalOf(() => encode(list));
    refusalOf(() => normalValue([list]));
    expect(runs).toBe(0);
  });
});

describe('given depth and size', () => {
  it('the encoder accepts 48 levels by default and refuses the 49th [CODEC-10]', () => {
    expect(hex(nested(VALUE_DEPTH_MAX))).toHaveLength(2 * VALUE_DEPTH_MAX);
    expect(refusalOf(() => encode(nested(VALUE_DEPTH_MAX + 1))).details.actual).toBe('depth');
  });

  it('the encoder accepts 64 levels for a frame and refuses the 65th [CODEC-10]', () => {
    expect(hex(encode(nested(VALUE_DEPTH_MAX)))).toBeTypeOf('string');
    expect(encode(nested(FRAME_DEPTH_MAX), FRAME_DEPTH_MAX)).toHaveLength(FRAME_DEPTH_MAX);
    expect(refusalOf(() => encode(nested(FRAME_DEPTH_MAX + 1), FRAME_DEPTH_MAX)).details.actual).toBe('depth');
  });

  it('a value a million levels deep is refused, not a stack overflow [CODEC-10]', () => {
    expect(refusalOf(() => encode(nested(1_000_000))).details.actual).toBe('depth');
  });

  it('a small value that names its parts twice at each level is refused by its size [CODEC-11]', () => {
    let bomb: unknown = 'x'.repeat(1_000_000);
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb];
    const error = refusalOf(() => encode(bomb));
    expect(error.details.actual).toBe('size');
    expect(error.message).toContain(String(ENCODED_BYTES_MAX));
  });
});

describe('given a writer that is used again and again', () => {
  it('a throw half-way leaves the next bytes right', () => {
    const good = { a: ['x'.repeat(1_000), { b: 1.5 }], z: Uint8Array.of(1, 2, 3) };
    const before = hex(good);
    for (const bad of [[good, Number.NaN], { a: good, b: { c: [good, () => 1] } }, ['\ud800'], cycle]) {
      refusalOf(() => encode(bad));
      expect(hex(good)).toBe(before);
    }
  });

  it('a proxy that calls back into encode disturbs neither call', () => {
    const inner: string[] = [];
    const meddler = new Proxy(
      { a: 1, b: 2 },
      {
        get(target, key, receiver) {
          inner.push(hex({ inner: ['y'.repeat(40_000)] }).slice(0, 20));
          return Reflect.get(target, key, receiver);
        },
      },
    );
    expect(hex(['before', meddler, 'after'])).toBe(hex(['before', { a: 1, b: 2 }, 'after']));
    expect(inner.length).toBeGreaterThan(0);
    expect(new Set(inner).size).toBe(1);
  });

  it('returned bytes do not change with the next call, nor the next call with them [CODEC-12]', () => {
    const first = encode(['first', 1]);
    const copy = toHex(first);
    const second = encode(['other', 2]);
    expect(toHex(first)).toBe(copy);
    first.fill(0xff);
    expect(toHex(second)).toBe(hex(['other', 2]));
    expect(first.buffer).not.toBe(second.buffer);
    expect(first.buffer.byteLength).toBe(first.length);
  });

  it('a value larger than the pool is written whole, and small ones after it as well', () => {
    const large = { text: 'é'.repeat(700_000), bytes: new Uint8Array(2_000_000).fill(7) };
    expect(encode(large)).toHaveLength(1 + 5 + (5 + 1_400_000) + 6 + (5 + 2_000_000));
    expect(hex({ a: 1 })).toBe('a1616101');
  });
});
