import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../../conformance/part.js';
import { appendPosting, chunkOf, type Posting, readPostings, withoutPosting } from '../../../src/pure/text/index.js';
import { averageLength, lnQ16, rarity, scoreOf } from '../../../src/pure/text/rank.js';
import { assertProperty, SEED, vitestCommand } from '../codec/seed.js';

const RUN = { numRuns: 2_000 / stepOf(4), command: vitestCommand('packages/kernel/test/pure/text/rank.test.ts') };

describe(`ranking in integers (seed ${SEED})`, () => {
  it('the logarithm is within 5 in 100,000 of the real one', () => {
    assertProperty(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(5_000_000), (denominator, more) => {
        const numerator = denominator + more;
        const error = Math.abs(lnQ16(numerator, denominator) / 65_536 - Math.log(numerator / denominator));
        expect(error).toBeLessThan(0.000_1);
      }),
      RUN,
    );
  });

  it('the logarithm of a power of two is that many times the one of two, to the bit', () => {
    expect([1, 2, 4, 1024].map((power) => lnQ16(power, 1))).toEqual([0, 45_426, 90_852, 454_260]);
  });

  it('a word tells the more the fewer documents have it, and something even when all have it', () => {
    expect([rarity(10, 1), rarity(10, 3)]).toEqual([lnQ16(22, 3), lnQ16(22, 7)]);
    expect(rarity(10, 10)).toBeGreaterThan(0);
  });

  it('the average length is in sixteenths of a word, cut, and never nothing or beyond its bound', () => {
    expect([averageLength(5, 3), averageLength(0, 4), averageLength(0, 0)]).toEqual([26, 1, 1]);
    expect(averageLength(Number.MAX_SAFE_INTEGER / 16, 1)).toBe(1_048_576);
  });

  it('a score is a whole number below 2^53, near that of the formula in floats [VIEW-9]', () => {
    const words = fc.record({
      weight: fc.integer({ min: 1, max: 1_500_000 }),
      count: fc.integer({ min: 1, max: 64 }),
      length: fc.integer({ min: 1, max: 5_000_000 }),
      average: fc.integer({ min: 1, max: 1_048_576 }),
    });
    assertProperty(
      fc.property(words, ({ weight, count, length, average }) => {
        const seen = Math.min(length, 1_048_576);
        const real = (weight * 2.2 * count) / (count + 0.3 + (0.9 * seen * 16) / average);
        const score = scoreOf(weight, count, length, average);
        expect(Number.isSafeInteger(score)).toBe(true);
        expect(Math.abs(score - real)).toBeLessThan(1 + real * 1e-9);
        expect(weight * 44 * count * average).toBeLessThan(2 ** 53);
      }),
      RUN,
    );
  });

  it('a count and a length take a byte each below 128, and two from there', () => {
    const posting = (count: number, length: number) => [...appendPosting(null, { document: 515, count, length })];
    expect(posting(127, 127)).toEqual([3, 127, 127]);
    expect(posting(127, 128)).toEqual([3, 127, 128, 1]);
    expect(posting(300, 16_384)).toEqual([3, 172, 2, 128, 128, 1]);
  });

  it('postings are read as they were written, and a removed posting leaves the others', () => {
    const lists = fc.uniqueArray(fc.integer({ min: 512, max: 767 }), { minLength: 1, maxLength: 40 });
    assertProperty(
      fc.property(lists, fc.integer({ min: 1, max: 9_000_000 }), fc.nat(39), (documents, length, which) => {
        const postings: Posting[] = documents
          .toSorted((a, b) => a - b)
          .map((document, i) => ({ document, count: i + 1, length: length + i }));
        const chunk = postings.reduce<Uint8Array | null>(appendPosting, null) ?? new Uint8Array();
        expect(readPostings(chunk, chunkOf(512))).toEqual(postings);
        const gone = postings[which % postings.length]?.document ?? 0;
        const rest = withoutPosting(chunk, 2, gone);
        expect(rest === null ? [] : readPostings(rest, 2)).toEqual(
          postings.filter(({ document }) => document !== gone),
        );
      }),
      RUN,
    );
  });
});
