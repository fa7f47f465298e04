import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { anyOptions, anyProfile, holdPrefix, holdTotality } from './prompt-laws.js';
import { anyTranscript } from './transcripts.js';

const call = fc.record({ options: anyOptions, profile: anyProfile });

describe('a request of any transcript', () => {
  it('a request breaks no rule of any wire format (seed 11) [MOD-13]', async () => {
    const law = fc.asyncProperty(anyTranscript, call, async (drawn, given) => {
      await holdTotality(drawn, given);
    });
    await fc.assert(law, { seed: 11, numRuns: 400 / stepOf(2) });
  });

  it('a request begins with the bytes of the request before it (seed 12) [MOD-14]', async () => {
    let compared = 0;
    const law = fc.asyncProperty(anyTranscript, call, async (drawn, given) => {
      compared += await holdPrefix(drawn, given);
    });
    await fc.assert(law, { seed: 12, numRuns: 200 / stepOf(2) });
    expect(compared).toBeGreaterThan(500 / stepOf(2));
  });
});
