import { Ref, type RepriseError, type Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { decode, encode, FRAME_DEPTH_MAX, fromHex, toHex } from '../../../src/pure/codec/index.js';
import { refusalOf } from './refusal.js';

const digest = 'ab'.repeat(32);

/**
 * Each class of refusal with its mutant: canonical bytes that are accepted, and the same value with one thing wrong.
 * Were the reader to lose that one check, the mutant would be accepted.
 */
const MUTANTS: [what: string, good: string, mutant: string, reason: string][] = [
  ['an integer in a longer form', '17', '1817', 'an integer or length is not in its shortest form'],
  ['a length in a longer form', '820102', '98020102', 'an integer or length is not in its shortest form'],
  ['an indefinite list', '820102', '9f0102ff', 'a length is indefinite'],
  ['an indefinite text', '626162', '7f61616162ff', 'a length is indefinite'],
  ['unsorted keys', 'a2616101616202', 'a2616202616101', 'keys are not in canonical order'],
  ['keys sorted by byte, not by length', 'a261620162616102', 'a262616102616201', 'keys are not in canonical order'],
  ['a key twice', 'a2616101616202', 'a2616101616102', 'a key is repeated'],
  ['the key __proto__', 'a1695f5f70726f746f5f2d01', 'a1695f5f70726f746f5f5f01', 'a map has no key __proto__'],
  ['a key that is no text', 'a1613101', 'a10101', 'a key is not text'],
  ['a 16-bit float', 'fb3ff8000000000000', 'f93e00', 'a float is not of 64 bits'],
  ['a 32-bit float', 'fb3ff8000000000000', 'fa3fc00000', 'a float is not of 64 bits'],
  ['NaN', 'fb7fefffffffffffff', 'fb7ff8000000000000', 'a number is not finite'],
  ['infinity', 'fb7fefffffffffffff', 'fb7ff0000000000000', 'a number is not finite'],
  ['an integer as a float', '01', 'fb3ff0000000000000', 'a float holds a safe integer'],
  ['minus zero', '00', 'fb8000000000000000', 'a float holds a safe integer'],
  ['undefined', 'f6', 'f7', 'a simple value is not false, true or null'],
  ['another simple value', 'f4', 'f3', 'a simple value is not false, true or null'],
  ['another tag', `d82a58250001551220${digest}`, `d82b58250001551220${digest}`, 'a tag is not 42'],
  [
    'another codec',
    `d82a58250001551220${digest}`,
    `d82a58250001701220${digest}`,
    'a link is not a CIDv1 of raw bytes or a value by sha2-256',
  ],
  ['an overlong sequence', '6141', '62c181', 'text is not well-formed UTF-8'],
  ['a surrogate in UTF-8', '63ed9fbf', '63eda080', 'text is not well-formed UTF-8'],
  ['an integer beyond the safe ones', '1b001fffffffffffff', '1b0020000000000000', 'an integer lies beyond ±(2^53−1)'],
  ['a second value', '01', '0101', 'bytes go on after the value'],
  ['bytes cut short', '820102', '8201', 'a length goes beyond the bytes'],
  ['a value that is missing', 'a1616101', 'a16161', 'bytes end before the value does'],
  ['a head cut short', '8218ff01', '820118', 'bytes end before the value does'],
  ['a length beyond the bytes', '8101', '9bffffffffffffffff', 'a length goes beyond the bytes'],
  ['one level too deep', `${'81'.repeat(63)}80`, `${'81'.repeat(64)}80`, 'nests deeper than 64'],
];

/** The part of a message that tells what was found, where there is one. */
function told(error: RepriseError): string {
  return error.details.actual === undefined ? '' : `; got ${String(error.details.actual)}`;
}

describe('given canonical bytes and their mutant', () => {
  it.each(MUTANTS)(
    '%s is refused for that reason alone [CODEC-3, CODEC-4, CODEC-5, CODEC-7, CODEC-9, CODEC-13]',
    (_, good, mutant, reason) => {
      expect(toHex(encode(decode(fromHex(good)), FRAME_DEPTH_MAX))).toBe(good);
      const error = refusalOf(() => decode(fromHex(mutant)));
      expect(error.message).toBe(`invalid_bytes: ${reason}; at ${error.details.where}${told(error)}`);
    },
  );
});

describe('given canonical bytes', () => {
  it('maps become plain objects with their keys in canonical order [CODEC-13]', () => {
    const map = decode(fromHex('a3616201616301626161' + '02')) as Record<string, Value>;
    expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
    expect(Object.keys(map)).toEqual(['b', 'c', 'aa']);
  });

  it('names of the prototype become own keys and change nothing else [CODEC-13]', () => {
    const map = decode(encode({ constructor: 1, toString: 2, valueOf: null })) as Record<string, Value>;
    expect(Object.hasOwn(map, 'constructor')).toBe(true);
    expect({}.toString()).toBe('[object Object]');
  });

  it('bytes become a copy, also when the input is a Buffer in its pool', () => {
    const input = Buffer.from('83410141024103', 'hex');
    const list = decode(input) as Uint8Array[];
    input.fill(0xff);
    expect(list.map((bytes) => [Object.getPrototypeOf(bytes) === Uint8Array.prototype, toHex(bytes)])).toEqual([
      [true, '01'],
      [true, '02'],
      [true, '03'],
    ]);
  });

  it('a view that starts inside its buffer is read from where it starts', () => {
    const whole = fromHex('ffff821903e8fb3ff8000000000000ff');
    expect(decode(whole.subarray(2, 15))).toEqual([1000, 1.5]);
  });

  it('a link becomes a Ref, and equal text does not [CODEC-8]', () => {
    expect(decode(fromHex(`d82a58250001551220${digest}`))).toEqual(Ref.fromHex(digest));
    expect(decode(fromHex(`d82a58250001711220${digest}`))).toEqual(Ref.fromHex(digest, 'value'));
    expect(decode(encode(`sha256:${digest}`))).toBe(`sha256:${digest}`);
  });

  it('long text of every width is read back', () => {
    for (const text of ['a'.repeat(5_000), 'é'.repeat(5_000), '水a'.repeat(5_000), '😀'.repeat(5_000)]) {
      expect(decode(encode(text))).toBe(text);
    }
  });

  it.each([0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff])(
    'the character %i, at an edge of UTF-8, is written as a TextEncoder does and read back',
    (point) => {
      const text = String.fromCodePoint(point);
      const utf8 = new TextEncoder().encode(text);
      expect(toHex(encode(text))).toBe(toHex(Uint8Array.of(0x60 + utf8.length, ...utf8)));
      expect(decode(encode([text, { [text]: text }]))).toEqual([text, { [text]: text }]);
    },
  );

  it('the depth bound is the caller’s', () => {
    expect(decode(fromHex('8180'), 2)).toEqual([[]]);
    expect(refusalOf(() => decode(fromHex('8180'), 1)).details.where).toBe('byte 1');
  });
});

describe('given no bytes at all', () => {
  it.each([null, undefined, 'a1', 1, {}, [0xa0], new Float64Array(1)])(
    '%s is refused as input that is not bytes',
    (given) => {
      const { code, details } = refusalOf(() => decode(given as never));
      expect({ code, expected: details.expected }).toEqual({ code: 'invalid_bytes', expected: 'a Uint8Array' });
    },
  );
});

describe('given lengths that lie', () => {
  it('no memory is allocated for false lengths [CODEC-14]', () => {
    const before = process.memoryUsage();
    for (const head of ['9aff000000', '5aff000000', '7aff000000', 'baff000000', '9b001fffffffffffff']) {
      for (let i = 0; i < 1_000; i++) refusalOf(() => decode(fromHex(head)));
    }
    const after = process.memoryUsage();
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(10_000_000);
  });
});
