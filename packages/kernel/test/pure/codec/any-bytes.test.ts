import { isRepriseError } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { encode } from '../../../src/pure/codec/index.js';
import { byteInputs } from './arbitraries.js';
import { judge } from './judge.js';
import { assertProperty, SEED, vitestCommand } from './seed.js';

const command = vitestCommand('packages/kernel/test/pure/codec/any-bytes.test.ts');

describe(`given 20,000 random and damaged byte strings (seed ${SEED})`, () => {
  it('each byte string is refused as invalid_bytes, or is exactly the encoding of its value, as cborg confirms [CODEC-3]', () => {
    const seen = { accepted: 0, refused: 0 };
    const judged = fc.property(byteInputs(encode), (bytes) => {
      const error = judge(bytes);
      if (error === undefined) seen.accepted++;
      else seen.refused++;
      expect(error === undefined || isRepriseError(error, 'invalid_bytes')).toBe(true);
    });
    assertProperty(judged, { numRuns: 20_000 / stepOf(4), command });
    // Damage that never leaves good bytes, or always does, would make this test say nothing.
    expect(seen.accepted).toBeGreaterThan(200);
    expect(seen.refused).toBeGreaterThan(2_000 / stepOf(4));
  });
});
