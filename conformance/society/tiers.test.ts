import { posteriorPpm, TRUST_WINDOW, tierOf, tierThere, tierUsed } from '@reprise/society/contracts';
import { describe, expect, it } from 'vitest';
import { draws } from './draws.js';
import { exactTier } from './exact-tier.js';

/** The verdicts of a sequence that the window holds. */
function windowed(verdicts: readonly boolean[]): { right: number; all: number } {
  const last = verdicts.slice(-TRUST_WINDOW);
  return { right: last.filter(Boolean).length, all: last.length };
}

describe('tiers of trust', () => {
  it('Tiers are those of exact fractions in 300 sequences of verdicts [SOC-26]', () => {
    const { below, of } = draws(26);
    const seen = new Set<string>();
    for (let sequence = 0; sequence < 300; sequence++) {
      const rightOf10 = below(11);
      const verdicts: boolean[] = [];
      for (let n = of([3, 30, 300, 600]); n > 0; n--) {
        verdicts.push(below(10) < rightOf10);
        const last = windowed(verdicts);
        const [right, all] = [13n + BigInt(last.right), 20n + BigInt(last.all)];
        expect(tierOf(last)).toBe(exactTier(right, all));
        expect(BigInt(posteriorPpm(last))).toBe((2_000_000n * right + all) / (2n * all));
        seen.add(tierOf(last));
      }
    }
    expect([...seen].sort()).toEqual(['high', 'low', 'medium', 'untrusted']);
  });

  it('The borders from the prior are the second and the 24th wrong, and the 27th right', () => {
    const wrong = (all: number) => tierOf({ right: 0, all });
    const right = (all: number) => tierOf({ right: all, all });
    expect([wrong(0), wrong(1), wrong(2), wrong(23), wrong(24)]).toEqual([
      'medium',
      'medium',
      'low',
      'low',
      'untrusted',
    ]);
    expect([right(26), right(27)]).toEqual(['medium', 'high']);
  });

  it('A posterior of 85 of 100 is medium', () => {
    expect(tierOf({ right: 4, all: 0 })).toBe('medium'); // 17 of 20
    expect(tierOf({ right: 38, all: 40 })).toBe('medium'); // 51 of 60
    expect(tierOf({ right: 39, all: 40 })).toBe('high');
  });

  it('The tier that is used is the lowest of the observers, and not below the promise', () => {
    expect(tierThere(tierUsed('untrusted', 'high'), 'low')).toBe('low');
    expect(tierThere(tierUsed('medium', 'low'), 'untrusted')).toBe('untrusted');
    expect(tierThere(tierUsed('low', 'high'))).toBe('high');
  });
});
