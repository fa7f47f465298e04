import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import {
  afterPrefix,
  compareBytes,
  decodeKey,
  encodeKey,
  type RowKeyPart,
  textPrefix,
} from '../../../src/pure/codec/index.js';
import { assertProperty, SEED, vitestCommand } from '../../pure/codec/seed.js';

const RUN = { numRuns: 3_000 / stepOf(4), command: vitestCommand('packages/kernel/test/serve/views/ordered.test.ts') };
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '\0', '\0\0', 'a\0', 'a\0b', 'a', 'ab', '\uffff', '\u{10000}', 'é', 'ÿ', '\u0001'),
);
const integers = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -300, max: 300 }));
const keys = fc.array(fc.oneof(texts, integers), { minLength: 1, maxLength: 3 });

/** The order as it is said: integers first, texts by code point, shorter lists first. */
function reference(a: readonly RowKeyPart[], b: readonly RowKeyPart[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = comparePart(a[i] as RowKeyPart, b[i] as RowKeyPart);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function comparePart(a: RowKeyPart, b: RowKeyPart): number {
  if (typeof a === 'number' || typeof b === 'number') {
    if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const [one, other] = [[...a].map((char) => char.codePointAt(0) ?? 0), [...b].map((char) => char.codePointAt(0) ?? 0)];
  return reference(one, other);
}

describe(`ordered keys (seed ${SEED})`, () => {
  it('the bytes of keys stand in the order of the keys [VIEW-4]', () => {
    assertProperty(
      fc.property(keys, keys, (a, b) => {
        expect(Math.sign(compareBytes(encodeKey(a), encodeKey(b)))).toBe(Math.sign(reference(a, b)));
      }),
      RUN,
    );
  });

  it('an order by code units, as `<` has it, is another one', () => {
    const byUnits = (a: string, b: string) => (a < b ? -1 : 1);
    expect(Math.sign(byUnits('\uffff', '\u{10000}'))).not.toBe(
      Math.sign(compareBytes(encodeKey('\uffff'), encodeKey('\u{10000}'))),
    );
  });

  it('a key is read back as it was given, a single part as itself', () => {
    assertProperty(
      fc.property(keys, (key) => {
        const given = key.map((part) => (Object.is(part, -0) ? 0 : part));
        expect(decodeKey(encodeKey(given))).toEqual(given.length === 1 ? given[0] : given);
      }),
      RUN,
    );
  });

  it('a text prefix takes the texts that begin so, and nothing else', () => {
    assertProperty(
      fc.property(texts, texts, (prefix, text) => {
        const [from, key] = [textPrefix(prefix), encodeKey([text, 7])];
        const to = afterPrefix(from);
        const inside = compareBytes(key, from) >= 0 && (to === undefined || compareBytes(key, to) < 0);
        expect(inside).toBe(text.startsWith(prefix));
      }),
      RUN,
    );
  });

  it.each([[[]], [1.5], [2 ** 53], ['\ud800'], [null], [['a', ['b']]], [Number.NaN]])('%j is no key', (key) => {
    expect(() => encodeKey(key)).toThrow(/invalid_value/);
  });

  it('a key of 1,024 bytes is taken and one of 1,025 is not', () => {
    expect(encodeKey('x'.repeat(1022))).toHaveLength(1024);
    expect(() => encodeKey('x'.repeat(1023))).toThrow(/bound_exceeded/);
  });
});
