/**
 * Mode `ranges`: a verification in ranges between snapshots says what a verification in one piece says, of a case's world
 * and of the world damaged. The workers are in this process; what they exchange is cloned, as between threads.
 */
import assert from 'node:assert/strict';
import { agentApp } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import {
  type RangeTask,
  type ReadonlyStore,
  readShare,
  type StoredFrame,
  type VerifyOptions,
  type VerifyWorkers,
  verifyRange,
  verifyStore,
} from '@reprise/kernel';
import { type Sample, storeOf } from '../tamper/sample.js';

/** Workers that read a store, with a list of the ranges that they verified. */
interface Workers extends VerifyWorkers {
  readonly tasks: RangeTask[];
}

function workersOn(store: ReadonlyStore, forgets: boolean): Workers {
  const tasks: RangeTask[] = [];
  return {
    tasks,
    size: 2,
    framesMin: 1,
    begin: async (count) => Math.min(count, 2),
    verify: async (task, tell) => {
      tasks.push(task);
      const result = structuredClone(await verifyRange(store, task, { apps: [agentApp] }, tell));
      return forgets && result.status === 'verified' ? { ...result, records: result.records - 1 } : result;
    },
    read: async (share, tell) => structuredClone(await readShare(store, share, tell)),
  };
}

/**
 * Holds both verifications to one verdict.
 *
 * @param forgets a mutant, whose workers count one record less
 * @returns the number of ranges
 */
export async function holdRanges(store: ReadonlyStore, forgets = false): Promise<number> {
  const workers = workersOn(store, forgets);
  const whole = await verdict(store, { app: agentApp });
  assert.deepEqual(await verdict(store, { app: agentApp, workers }), whole);
  return workers.tasks.length;
}

/** A store with a sample's frames, read by their place: a frame in another place is for the verification to find. */
export function placedStore(sample: Sample): ReadonlyStore {
  const store = storeOf(sample);
  async function* read(from: number, to = sample.frames.length): AsyncGenerator<StoredFrame> {
    yield* sample.frames.slice(from, to + 1);
  }
  return { ...store, journal: { ...store.journal, read } };
}

/** The report, or the code and the place of the first defect. */
async function verdict(store: ReadonlyStore, options: VerifyOptions): Promise<unknown> {
  try {
    return await verifyStore(store, options);
  } catch (error) {
    if (isRepriseError(error)) return { code: error.code, where: error.details.where };
    throw error;
  }
}
