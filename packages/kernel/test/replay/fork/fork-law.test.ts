import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hold, SEED } from '../../support/laws/hold.js';
import { anyForkedWorld, type HeldForks, holdForks } from './fork-law.js';

describe(`forks (seed ${SEED})`, () => {
  it('random worlds, forked at every frame: nothing runs twice, and replay of the same inputs gives the same fork', async () => {
    const held: HeldForks = { forks: 0, compared: 0, matched: 0, settled: 0 };
    const law = fc.asyncProperty(anyForkedWorld(8), (requests) => holdForks(requests, held));
    await hold(law, {
      numRuns: 40,
      command: 'npx vitest run packages/kernel/test/replay/fork/fork-law.test.ts',
    });
    expect(held.compared).toBeGreaterThan(50);
    expect(held.matched).toBeGreaterThan(20);
    expect(held.settled).toBeGreaterThan(10);
  });
});
