import { createHash } from 'node:crypto';
import { Ref } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import {
  compareBytes,
  decode,
  encode,
  equalBytes,
  fromHex,
  linksOf,
  portableSha256,
  toHex,
} from '../../../src/pure/codec/index.js';
import { values } from './arbitraries.js';
import { refusalOf } from './refusal.js';
import { assertProperty, SEED, vitestCommand } from './seed.js';

const command = vitestCommand('packages/kernel/test/pure/codec/bytes.test.ts');
const bytes = fc.uint8Array({ maxLength: 300 });

describe(`given random bytes (seed ${SEED})`, () => {
  it('the portable sha-256 is that of node:crypto [CODEC-15]', () => {
    const same = fc.property(bytes, (input) => {
      expect(toHex(portableSha256(input))).toBe(createHash('sha256').update(input).digest('hex'));
    });
    assertProperty(same, { numRuns: 500 / stepOf(4), command });
  });

  it('hex is decoded to the same bytes, and equals the hex of Buffer', () => {
    const same = fc.property(bytes, (input) => {
      expect(toHex(input)).toBe(Buffer.from(input).toString('hex'));
      expect(equalBytes(fromHex(toHex(input)), input)).toBe(true);
    });
    assertProperty(same, { numRuns: 500 / stepOf(4), command });
  });

  it.each(['a', 'abc', '0g', '/0', ':0', '`0', '0A', '0x'])('%s is no hex', (text) => {
    expect(() => fromHex(text)).toThrow(RangeError);
  });

  it('bytes compare as Buffer compares them, and are equal only to themselves', () => {
    const same = fc.property(bytes, bytes, fc.nat({ max: 300 }), (a, b, cut) => {
      expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
      expect(Math.sign(compareBytes(a, a.subarray(0, cut)))).toBe(Buffer.compare(a, a.subarray(0, cut)));
      expect(equalBytes(a, b)).toBe(Buffer.compare(a, b) === 0);
    });
    assertProperty(same, { numRuns: 500 / stepOf(4), command });
  });
});

describe('given a value with links', () => {
  const [a, b, c] = ['aa', 'bb', 'cc'].map((byte) => Ref.fromHex(byte.repeat(32))) as [Ref, Ref, Ref];

  it('each is listed once, in the order of the bytes', () => {
    const value = { zz: [a, { deep: b }], y: c, x: [b, `sha256:${a.hex}`, fromHex(a.hex)] };
    expect(linksOf(value).map(String)).toEqual([b, c, a].map(String));
  });

  it('the same content as raw bytes and as a value is two links [CODEC-7]', () => {
    expect(linksOf([a, a.asValue(), a]).map((link) => link.kind)).toEqual(['raw', 'value']);
  });

  it('text and bytes are not links [CODEC-8]', () => {
    expect(linksOf([a.toString(), a.hex, fromHex(a.hex), encode(a)])).toEqual([]);
  });

  it(`the list is the same before and after the bytes (seed ${SEED})`, () => {
    const same = fc.property(values, (value) => {
      expect(linksOf(value).map(String)).toEqual(linksOf(decode(encode(value))).map(String));
    });
    assertProperty(same, { numRuns: 500 / stepOf(4), command });
  });

  it('a cycle is refused', () => {
    const ring: unknown[] = [];
    ring.push(ring);
    expect(refusalOf(() => linksOf(ring as never)).code).toBe('invalid_value');
  });
});
