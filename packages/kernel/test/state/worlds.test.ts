import { describe, expect, it } from 'vitest';
import { readHostileWorlds } from './run-worlds.js';

const SEED = 20_261_122;
const RUNS = 120;

describe('given worlds that were forged with sound digests', () => {
  it(`every answer of a forged world is a value or an error of the closed list, within bounded memory and time: when it is verified, opened, written to and read in its past (seed ${SEED}; long form: npm run test:long -- --only hostile) [RPL-26, JRN-1]`, async () => {
    const { broke, forged, counts } = await readHostileWorlds(SEED, RUNS, 500_000);
    expect(broke).toEqual([]);
    expect(forged).toBeGreaterThan(RUNS * 0.9);
    const ways = new Set(counts.map(([verdict]) => verdict));
    for (const met of ['open: read', 'open: refused journal_damaged', 'open: refused blob_damaged']) {
      expect(ways, 'what the forgeries came to').toContain(met);
    }
    expect(ways).toContain('verify: refused replay_divergence');
  });
});
