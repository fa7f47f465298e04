import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import {
  giveBack,
  type Purse,
  type Share,
  setAside,
  settleRun,
  UNUSED,
  usedBy,
  usedTogether,
} from '../../src/pure/kit/index.js';

const count = fc.integer({ min: 0, max: 1_000_000 });
const tally = fc.record({ steps: count, tokens_in: count, tokens_out: count, micro_money: count });
const share = fc.record({ unit: fc.constantFrom('tokens' as const, 'micro_money' as const), amount: count });
const code = fc.constantFrom('', 'provider_error/401', 'outcome_unknown/process_died', 'limit/max_wall_ms', 'stopped');

describe('use of a budget', () => {
  it('what a session reports counts in full, whatever is set aside and however it ended', () => {
    fc.assert(
      fc.property(tally, fc.option(share), code, (reported, aside, why) => {
        const used = usedBy(reported, aside, why);
        expect(used.tokens).toBeGreaterThanOrEqual(reported.tokens_in + reported.tokens_out);
        expect(used.micro_money).toBeGreaterThanOrEqual(reported.micro_money);
      }),
    );
  });

  it('a run of which nothing is heard, and one that ends during a model call, count as all that was set aside', () => {
    fc.assert(
      fc.property(fc.option(tally), share, (reported, aside: Share) => {
        const why = reported === null ? '' : 'outcome_unknown/process_died';
        expect(usedBy(reported, aside, why)[aside.unit]).toBeGreaterThanOrEqual(aside.amount);
      }),
    );
  });

  it.each([
    ['model calls without tokens count as all of the share', 'stopped', 500],
    ['a model call that the provider refused has used nothing', 'provider_error/401', 0],
  ])('%s', (_, why, tokens) => {
    const reported = { steps: 1, tokens_in: 0, tokens_out: 0, micro_money: 0 };
    expect(usedBy(reported, { unit: 'tokens', amount: 500 }, why)).toStrictEqual({ tokens, micro_money: 0 });
    expect(usedBy(reported, null, why)).toStrictEqual(UNUSED);
  });

  it('use adds up in both units', () => {
    const both = usedTogether({ tokens: 1, micro_money: 2 }, { tokens: 30, micro_money: 40 });
    expect(both).toStrictEqual({ tokens: 31, micro_money: 42 });
  });

  it.each<[string, number, { amount: number; least?: number; returns?: number }, number | string, number?]>([
    ['what fits is set aside', 30, { amount: 40 }, 40],
    ['what does not fit waits for what others give back', 70, { amount: 40, least: 1 }, 'wait'],
    ['what does not fit gets the rest when nothing is set aside', 0, { amount: 140, least: 1 }, 100],
    [
      'what does not fit gets the rest when nothing that is set aside comes back for it',
      70,
      { amount: 40, least: 1, returns: 0 },
      30,
    ],
    [
      'what needs more than the rest, and nothing is set aside, needs a larger budget',
      0,
      { amount: 95, least: 95 },
      'spent',
      10,
    ],
    ['what asks for nothing gets nothing', 70, { amount: 0, least: 1 }, 'wait'],
  ])('%s', (_, reserved, asked, expected, tokens) => {
    const purse: Purse = { spent: { tokens: tokens ?? 0, micro_money: 0 }, reserved };
    const given = setAside(purse, { unit: 'tokens', amount: 100 }, asked);
    expect(typeof given === 'string' ? given : given?.amount).toBe(expected);
    expect(purse.reserved).toBe(reserved + (typeof expected === 'number' ? expected : 0));
    expect(setAside(purse, null, asked)).toBeNull();
  });

  it('what is used and set aside stays within the budget, whatever begins and ends, and all that was set aside comes back (from the seed 39)', () => {
    const act = fc.record({
      amount: fc.integer({ min: 0, max: 400 }),
      least: fc.integer({ min: 1, max: 400 }),
      ends: fc.nat(3),
      part: fc.nat(100),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), fc.integer({ min: 1, max: 1_000 }), (acts, amount) => {
        const purse: Purse = { spent: UNUSED, reserved: 0 };
        const budget: Share = { unit: 'tokens', amount };
        const open: Share[] = [];
        for (const { ends, part, ...asked } of acts) {
          const share = setAside(purse, budget, asked);
          if (share !== null && typeof share !== 'string') {
            expect(share.amount).toBeGreaterThanOrEqual(asked.least);
            open.push(share);
          }
          for (const one of open.splice(0, ends)) {
            const tokens_in = Math.floor((one.amount * part) / 100);
            settleRun(purse, one, part === 0 ? null : { steps: 1, tokens_in, tokens_out: 0, micro_money: 0 }, '');
          }
          expect(purse.spent.tokens + purse.reserved).toBeLessThanOrEqual(amount);
        }
        for (const one of open) giveBack(purse, one);
        expect(purse.reserved).toBe(0);
      }),
      { seed: 39, numRuns: 500 / stepOf(4) },
    );
  });
});
