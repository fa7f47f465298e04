import type { Value } from '@reprise/contracts';
import { Ref } from '@reprise/contracts';
import fc from 'fast-check';
import { fromHex, toHex } from '../../../src/pure/codec/index.js';

/** Integers and lengths where a head grows, where 32-bit arithmetic wraps and where integers end. */
const EDGES = [0, 23, 24, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];

const integers = fc.oneof(fc.constantFrom(...EDGES.flatMap((n) => [n, -n, -n - 1])), fc.integer(), fc.maxSafeInteger());

const numbers = fc.oneof(
  { weight: 3, arbitrary: integers },
  { weight: 2, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constantFrom(-0, 2 ** 53, -(2 ** 53), 2 ** 63, 2 ** 64, 1e21, 5e-324, 0.1, 1.5, 1e300) },
);

const texts = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 20, maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom('\uffff', '\u{10000}', '\u{10ffff}', '\ufeff', '\u0000', 'é', '水', '😀') },
);

/** Keys that engines reorder, keys whose bytes sort otherwise than their units, names of the prototype. */
const keys = fc
  .oneof(
    { weight: 6, arbitrary: fc.string({ maxLength: 4 }) },
    { weight: 2, arbitrary: fc.nat({ max: 300 }).map(String) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('constructor', 'toString', 'hasOwnProperty', '\uffff', '\u{10000}', 'é', 'zz'),
    },
  )
  .filter((key) => key !== '__proto__');

const byteStrings = fc.uint8Array({ maxLength: 40 });

const links = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.constantFrom('raw' as const, 'value' as const))
  .map(([digest, kind]) => Ref.fromHex(toHex(digest), kind));

const longs = fc.constantFrom<Value>(
  'a'.repeat(255),
  'é'.repeat(128),
  'b'.repeat(65_536),
  new Uint8Array(256),
  Array.from({ length: 24 }, (_, i) => i),
  Array.from({ length: 256 }, () => null),
  Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, i])),
);

const { tree } = fc.letrec<{ tree: Value; leaf: Value }>((tie) => ({
  leaf: fc.oneof(
    { weight: 20, arbitrary: numbers },
    { weight: 20, arbitrary: texts },
    { weight: 8, arbitrary: fc.constantFrom<Value>(null, true, false) },
    { weight: 6, arbitrary: byteStrings },
    { weight: 4, arbitrary: links },
    { weight: 1, arbitrary: longs },
  ),
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 2, arbitrary: tie('leaf') },
    { weight: 2, arbitrary: fc.array(tie('tree'), { maxLength: 6 }) },
    { weight: 3, arbitrary: fc.dictionary(keys, tie('tree'), { maxKeys: 8 }) },
  ),
}));

/** Any canonical value: null-prototype maps, −0 and bytes of every length among them. */
export const values: fc.Arbitrary<Value> = tree;

/** Heads that open something large, odd or forbidden: what a mutation puts in the place of a good one. */
const HEADS = [
  '18',
  '19ffff',
  '1bffffffffffffffff',
  '3b001fffffffffffff',
  '5f',
  '5bffffffffffffffff',
  '7f',
  '7a7fffffff',
]
  .concat([
    '9f',
    '9bffffffffffffffff',
    'bf',
    'ba10000000',
    'c2',
    'd82a',
    'd82a582500015512',
    'd82a5825000171',
    'f7',
    'f90000',
  ])
  .concat([
    'fa00000000',
    'fb7ff8000000000000',
    'fb0000000000000000',
    'fb8000000000000000',
    'ff',
    'f820',
    '6180',
    '62c080',
    '63eda080',
  ])
  .map(fromHex);

type Edit = { readonly at: number; readonly kind: number; readonly bytes: Uint8Array };

const edits: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(),
  kind: fc.nat({ max: 5 }),
  bytes: fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 4 }), fc.constantFrom(...HEADS)),
});

/** Applies one edit: overwrite, insert, delete, cut, repeat or swap. */
function edited(bytes: Uint8Array, edit: Edit): Uint8Array {
  const at = bytes.length === 0 ? 0 : edit.at % bytes.length;
  const head = bytes.subarray(0, at);
  const rest = bytes.subarray(at);
  const size = edit.bytes.length;
  const half = rest.length >> 1;
  switch (edit.kind) {
    case 0:
      return joined(head, edit.bytes, rest.subarray(size));
    case 1:
      return joined(head, edit.bytes, rest);
    case 2:
      return joined(head, rest.subarray(size));
    case 3:
      return head.slice();
    case 4:
      return joined(head, rest.subarray(0, size), rest);
    default:
      return joined(head, rest.subarray(half), rest.subarray(0, half));
  }
}

function joined(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * Byte strings that may be anything: noise, and good bytes damaged a little.
 *
 * @param encode the encoder whose bytes are damaged
 */
export function byteInputs(encode: (value: Value) => Uint8Array): fc.Arbitrary<Uint8Array> {
  const damaged = fc
    .tuple(values, fc.array(edits, { minLength: 1, maxLength: 3 }))
    .map(([value, list]) => list.reduce(edited, encode(value)));
  return fc.oneof({ weight: 1, arbitrary: fc.uint8Array({ maxLength: 24 }) }, { weight: 3, arbitrary: damaged });
}
