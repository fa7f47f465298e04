/** Looks for a mistake in real worlds: a module by itself, so that it can be bundled with a broken reducer. */
import fc from 'fast-check';
import { playWorld } from '../../../../conformance/tree/worlds/play.js';
import { worldSchedules } from '../../../../conformance/tree/worlds/schedule.js';

/** Plays worlds. @returns what the first wrong one shows; undefined when none is wrong */
export async function findWorld(runs: number, seed: number): Promise<string | undefined> {
  const law = fc.asyncProperty(worldSchedules, async (schedule) => void (await playWorld(schedule)));
  const found = await fc.check(law, { numRuns: runs, seed, endOnFailure: true });
  if (!found.failed) return undefined;
  const why = found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
  return `world ${found.numRuns}: ${why}`;
}
