/** Scenarios × protocols in the mode `ranges`; the other modes are in `modes.test.ts` and `crash.test.ts`. */
import { describe, expect, it } from 'vitest';
import { everyNth } from '../part.js';
import { randomFrom } from '../random.js';
import { CASES, caseOf, freshOf, SAMPLED, titled } from './cases.js';
import { holdRanges, placedStore } from './ranges.js';
import { someOf, tamperings } from './tampering.js';

const SEED = 20_27;
const TAMPERINGS = 9;

describe(`ranges (seed ${SEED}) [RPL-27]`, () => {
  it.each(titled(everyNth(8, CASES)))('%s', async (_, one) => {
    const { store } = await freshOf(one);
    expect(await holdRanges(await store.openReadonly())).toBeGreaterThan(1);
  });

  it.each(titled(everyNth(4, SAMPLED)))('%s, damaged [RPL-28]', async (_, one) => {
    const random = randomFrom(Math.imul(SEED, 7919) + CASES.indexOf(one));
    const trials = await tamperings(await (await freshOf(one)).store.openReadonly(), 1, random);
    for (const { what, sample } of someOf(trials, TAMPERINGS, random)) {
      await holdRanges(placedStore(sample)).catch((error: Error) => {
        throw new Error(`${what}: ${error.message}`);
      });
    }
  });

  it('mutant: workers that forget a record are found', async () => {
    const { store } = await freshOf(caseOf('single-tool', 'openai-responses'));
    await expect(holdRanges(await store.openReadonly(), true)).rejects.toThrow('records');
  });
});
