/** Files of a world that an attacker changed. The long form: `scripts/long/hostile-files.ts`. */
import { describe, expect, it } from 'vitest';
import { fuzz, MEMORY_MIB_MAX } from './fuzz.js';

const SEED = 20_26;
const INPUTS = 160;

describe('a file that an attacker changed', () => {
  it(`a changed file gets a verdict of the closed list in bounded memory, over ${INPUTS} files (seed ${SEED}; again: npx tsx --conditions=@reprise/source scripts/long/hostile-files.ts --seed ${SEED} --inputs ${INPUTS}) [JRN-33]`, async () => {
    const { findings, hangs, memoryMiB, verdicts } = await fuzz(SEED, 0, INPUTS);
    expect(findings).toEqual([]);
    expect(hangs).toBe(0);
    expect(memoryMiB).toBeLessThan(MEMORY_MIB_MAX);
    expect(verdicts.get('journal_damaged')).toBeGreaterThan(INPUTS / 4);
  });

  it('a changed file makes a mutant reader that trusts it hang, break, or report wrong content', async () => {
    const options = { judge: 'trusting-judge.ts', patienceMs: 3_000, kinds: ['views', 'rows'] };
    const { findings, hangs } = await fuzz(SEED, 0, 16, options);
    expect(hangs).toBeGreaterThan(0);
    expect(findings.length).toBeGreaterThan(hangs);
  });
});
