import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { anyWatchedHistory, journalOf, sampled, type WatchedHistory } from './histories.js';
import { MUTANTS } from './mutants.js';
import { recordedWorld } from './recorded-world.js';
import { holdResume } from './resume-law.js';

const command = 'npx vitest run packages/agent/test/resume';

/** Histories that the long form of the law found, made small: inputs that move to a run which was accepted earlier. */
const FOUND: readonly WatchedHistory[] = JSON.parse(readFileSync(new URL('./found.json', import.meta.url), 'utf8'));

describe('streams of events', () => {
  it('event streams of a world, a session, a run, their trees and pages resume behind any event with exactly the rest [EVT-3, EVT-7]', async () => {
    const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
      await holdResume(recordedWorld(await journalOf(watched)), sampled(watched));
    });
    await hold(kept, { numRuns: 40 / stepOf(8), seed: SEED, command });
  });

  it('event streams of a whole history resume behind every event with exactly the rest [EVT-3, EVT-7]', async () => {
    const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
      await holdResume(recordedWorld(await journalOf(watched)), (cursors) => cursors);
    });
    await hold(kept, { numRuns: 3 / stepOf(3), seed: SEED, command });
  });

  it('a run whose input moved to another run shows the events and the pending items of that run [EVT-3]', async () => {
    for (const watched of FOUND) await holdResume(recordedWorld(await journalOf(watched)), (cursors) => cursors);
  });

  for (const [what, mutant] of everyNth(3, Object.entries(MUTANTS))) {
    it(`the resume law detects a wrong resume: ${what} [EVT-3]`, async () => {
      const kept = fc.asyncProperty(anyWatchedHistory, async (watched) => {
        const recorded = recordedWorld(await journalOf(watched));
        await holdResume(recorded, sampled(watched), mutant(recorded));
      });
      await expect(hold(kept, { numRuns: 200, seed: SEED, command, shrink: false })).rejects.toThrow(
        /where it should be/,
      );
    });
  }
});
