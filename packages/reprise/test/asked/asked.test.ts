/** Whom a model call asked stands on its receipt, however the call ended. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCall, ENDS, played } from './outcomes.js';

const asked = { profile: 'house', model: 'large', provider: 'house-inc', server: 'api.house.example' };

const STATUS = {
  answered: 'ok',
  refused: 'error',
  'failed for now': 'error',
  'cut off': 'error',
  thrown: 'error',
  'out of time by its client': 'timeout',
  'out of time by the kernel': 'timeout',
  cancelled: 'cancelled',
  'crashed and resumed': 'ok',
} as const;

describe('the receipt of a model call', () => {
  it.each(ENDS)('a call that was %s says whom it asked, in the same words as an answered one [MOD-60]', async (end) => {
    const receipts = await played({ end, asked, waitsMs: 40 });
    expect(receipts.map(({ status }) => status)).toContain(STATUS[end]);
    for (const receipt of receipts) expect(receipt.asked).toEqual(asked);
  });

  it('calls with any outcome, by clients with any names, say whom they asked, and nothing that is not known (seed 41) [MOD-60]', async () => {
    await fc.assert(
      fc.asyncProperty(anyCall, async (drawn) => {
        const receipts = await played(drawn);
        expect(receipts.length).toBeGreaterThan(0);
        for (const receipt of receipts) {
          expect(receipt.asked).toEqual(drawn.asked);
          expect(Object.keys(receipt.asked ?? {}).sort()).toEqual(Object.keys(drawn.asked).sort());
        }
      }),
      { seed: 41, numRuns: 40 },
    );
  });

  it('given a client that begins its answer after 40 ms, the receipt of the answer says so [MOD-61]', async () => {
    const [receipt] = await played({ end: 'answered', asked, waitsMs: 40 });
    expect(receipt?.first_chunk_ms).toBe(40);
  });

  it('given an answer that was cut off, the failed receipt says when it began [MOD-61]', async () => {
    const [receipt] = await played({ end: 'cut off', asked, waitsMs: 70 });
    expect(receipt).toMatchObject({ status: 'error', first_chunk_ms: 70 });
  });

  it('given a call without a first piece, no time of one stands in the receipt [MOD-61]', async () => {
    for (const end of ['refused', 'thrown', 'out of time by the kernel'] as const) {
      const [receipt] = await played({ end, asked, waitsMs: 40 });
      expect(Object.keys(receipt ?? {})).not.toContain('first_chunk_ms');
    }
  });
});
