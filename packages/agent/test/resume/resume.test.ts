import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { anyWatchedHistory, journalOf, sampled } from './histories.js';
import { MUTANTS } from './mutants.js';
import { recordedWorld } from './recorded-world.js';
import { holdResume } from './resume-law.js';

const command = 'npx vitest run packages/agent/test/resume';

describe('streams of events', () => {
  it('event streams of a world, a session, a run, their trees and pages resume behind any event with exactly the rest [EVT-3, EVT-7]', async () => {
    const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
      await holdResume(recordedWorld(await journalOf(watched)), sampled(watched));
    });
    await hold(kept, { numRuns: 40, seed: SEED, command });
  }, 240_000);

  it('event streams of a whole history resume behind every event with exactly the rest [EVT-3, EVT-7]', async () => {
    const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
      await holdResume(recordedWorld(await journalOf(watched)), (cursors) => cursors);
    });
    await hold(kept, { numRuns: 3, seed: SEED, command });
  }, 240_000);

  for (const [what, mutant] of Object.entries(MUTANTS)) {
    it(`the resume law detects a wrong resume: ${what} [EVT-3]`, async () => {
      const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
        const recorded = recordedWorld(await journalOf(watched));
        await holdResume(recorded, sampled(watched), mutant(recorded));
      });
      await expect(hold(kept, { numRuns: 200, seed: SEED, command, shrink: false })).rejects.toThrow(
        /where it should be/,
      );
    }, 240_000);
  }
});
