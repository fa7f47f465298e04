import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { decode, encode, toHex } from '../../../src/pure/codec/index.js';
import { values } from './arbitraries.js';
import { cbor2Bytes, cborgBytes } from './peers.js';
import { assertProperty, SEED, vitestCommand } from './seed.js';

const command = vitestCommand('packages/kernel/test/pure/codec/encoders-agree.test.ts');

describe(`given 2,000 random values (seed ${SEED})`, () => {
  it('our bytes are those of cborg and of cbor2 [CODEC-2]', () => {
    const agree = fc.property(values, (value) => {
      const ours = toHex(encode(value));
      expect(toHex(cborgBytes(value)), 'cborg').toBe(ours);
      expect(toHex(cbor2Bytes(value)), 'cbor2').toBe(ours);
    });
    assertProperty(agree, { numRuns: 2_000 / stepOf(4), command });
  });

  it('a decoded value encodes to the same bytes (500 of them) [CODEC-16]', () => {
    const same = fc.property(values, (value) => {
      const bytes = encode(value);
      expect(toHex(encode(decode(bytes)))).toBe(toHex(bytes));
    });
    assertProperty(same, { numRuns: 500 / stepOf(4), command });
  });
});
