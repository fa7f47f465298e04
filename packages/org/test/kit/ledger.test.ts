import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Share, UNUSED, usedBy, usedTogether } from '../../src/pure/kit/index.js';

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
});
