/** Ranks: the same on every engine. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rankMany } from '../../../../conformance/memory/rank.js';
import { exponentialQ16, referenceRank } from '../../../../conformance/memory/reference.js';
import { rankOf } from '../../src/index.js';

const SEED = 20_261_123;
const DAY = 86_400_000;

describe('ranks of memories', () => {
  it('the factor of each score is e to the power of a tenth of it, cut to 16 bits', () => {
    for (let score = -10; score <= 20; score++) {
      expect(rankOf({ text: 65_536, score, last_used_at: 0 }, 0)).toBe(exponentialQ16(score));
    }
  });

  it(`a rank is what integers of any size give, for random texts, scores and ages (seed ${SEED}) [MEM-2] [MEM-4]`, () => {
    const text = fc.integer({ min: 0, max: 200_000_000 });
    const score = fc.integer({ min: -10, max: 20 });
    const age = fc.integer({ min: -DAY, max: 5_000 * DAY });
    const law = fc.property(text, score, age, (words, points, since) => {
      const now = 2_000_000 * DAY;
      const rank = rankOf({ text: words, score: points, last_used_at: now - since }, now);
      expect(rank).toBe(referenceRank(words, { score: points, lastUsed: now - since }, now));
      expect(Number.isSafeInteger(rank)).toBe(true);
    });
    fc.assert(law, { seed: SEED, numRuns: 2_000 });
  });

  it('a rank by floating point is found by the law', () => {
    const floating = (text: number, score: number) => Math.floor(text * Math.exp(score / 10));
    const differs = fc.property(
      fc.integer({ min: 0, max: 200_000_000 }),
      fc.integer({ min: -10, max: 20 }),
      (text, score) => {
        return floating(text, score) === referenceRank(text, { score, lastUsed: 0 }, 0);
      },
    );
    expect(fc.check(differs, { seed: SEED, numRuns: 2_000 }).failed).toBe(true);
  });

  /** The same digest on every engine: `conformance/memory-long.ts --rank 10000` compares more memories. */
  it('searches among 500 memories find the recorded memories in the recorded order [MEM-2]', async () => {
    const { searches, digest } = await rankMany(500);
    expect(searches.filter(({ ids }) => ids.length === 10).length).toBeGreaterThan(3);
    expect(digest).toBe('426f8ab03f875233');
  });
});
