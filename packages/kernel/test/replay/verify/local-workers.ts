/** Workers of a verification in this process, for laws: what they exchange is cloned, as between threads. */
import {
  type RangeCode,
  type RangeTask,
  type ReadonlyStore,
  readShare,
  type VerifyWorkers,
  verifyRange,
} from '../../../src/index.js';
import type { RangeResult } from '../../../src/replay/verify/index.js';

/** The parts of workers that a test replaces. */
export interface LocalParts {
  readonly code: RangeCode;
  /** The store that a task reads. */
  readonly storeOf: (after: number) => ReadonlyStore;
  readonly size?: number;
  readonly framesMin?: number;
  /** Changes a result on its way, as a mutant would. */
  readonly mutate?: (result: RangeResult, task: RangeTask, store: ReadonlyStore) => RangeResult | Promise<RangeResult>;
}

/** Makes workers. */
export function localWorkers(parts: LocalParts): VerifyWorkers & { readonly tasks: RangeTask[] } {
  const { code, storeOf, size = 2, framesMin = 1, mutate = (result) => result } = parts;
  const tasks: RangeTask[] = [];
  return {
    tasks,
    size,
    framesMin,
    begin: async (count) => Math.min(count, size),
    verify: async (task, tell) => {
      tasks.push(task);
      const result = await verifyRange(storeOf(task.after), structuredClone(task), code, tell);
      return structuredClone(await mutate(result, task, storeOf(task.after)));
    },
    read: async (share, tell) => structuredClone(await readShare(storeOf(-1), structuredClone(share), tell)),
  };
}
