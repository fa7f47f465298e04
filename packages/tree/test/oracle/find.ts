/** Looks for a mistake: a module by itself, so that it can be bundled with a broken reducer. */
import fc from 'fast-check';
import { tryCalls } from '../../../../conformance/tree/authority.js';
import { play } from '../../../../conformance/tree/play.js';
import { schedules } from '../../../../conformance/tree/schedule.js';
import { treeReducer } from '../../src/pure/reducer/tree-reducer.js';

/** Plays schedules. @returns what the first wrong one shows; undefined when none is wrong */
export function find(runs: number, seed: number): string | undefined {
  const law = fc.property(schedules(), (schedule) => void play(treeReducer, schedule));
  const found = fc.check(law, { numRuns: runs, seed, endOnFailure: true });
  if (!found.failed) return undefined;
  return found.errorInstance instanceof Error ? found.errorInstance.message : String(found.errorInstance);
}

/** Makes random calls. @returns those of which the tree says otherwise than the table */
export function differences(calls: number, seed: number): readonly string[] {
  return tryCalls(treeReducer, calls, seed).differences;
}
