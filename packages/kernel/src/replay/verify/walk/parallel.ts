/**
 * Verifies a journal in ranges at once, and puts the results together.
 *
 * Invariants
 * V1  A range counts only when it began exactly where the one before it ended: frame, head, state map and era.
 * V2  Results are judged in the order of the ranges, so the first defect of the journal is reported, also when
 *     another one was found before it.
 * V3  Where the ranges do not fit, or a defect may be hidden from a verification from the beginning, there is no result:
 *     the journal is then verified in one piece, which decides.
 */
import { isRepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '../../../ports/store/store.js';
import type { VerifiedEra } from './era-walk.js';
import { fromPortable } from './portable-error.js';
import type { Progress } from './progress.js';
import {
  type Boundary,
  cutIntoRanges,
  type RangeFound,
  type RangeTask,
  type Told,
  type VerifyWorkers,
} from './range.js';

/** What the ranges are verified with. */
interface RangeParts {
  readonly workers: VerifyWorkers;
  readonly expect: string | undefined;
  readonly progress: Progress;
  /** Whether a range begins where the one before it ended (V1). */
  readonly joins?: (end: Boundary, start: Boundary) => boolean;
}

/**
 * Verifies all frames of a journal in ranges.
 *
 * @returns undefined when it must be verified in one piece (V3)
 * @throws the first defect of the journal, or the error of a worker that ended
 */
export async function verifyInRanges(
  store: Pick<ReadonlyStore, 'journal'>,
  { workers, expect, progress, joins = isSame }: RangeParts,
): Promise<{ readonly found: RangeFound; readonly begun: number } | undefined> {
  const tasks = await tasksOf(store, workers, expect);
  const begun = tasks.length < 2 ? 0 : await workers.begin(tasks.length);
  if (begun === 0) return undefined;
  return together(progress, 'frames', async (tell, stop) => {
    const results = queued(tasks, begun, stop, (task, i) => workers.verify(task, tell(i), stop));
    let found: RangeFound | undefined;
    for (const result of results) {
      const next = await result;
      if (found !== undefined && (next.start === undefined || !joins(found.end, next.start))) return undefined; // V1, V3
      if (next.status === 'defect') {
        if (found !== undefined && found.gone.length > 0) return undefined; // V3: it may follow from what is missing
        throw fromPortable(next.error); // V2
      }
      found = found === undefined ? next : joined(found, next);
    }
    // Workers open the file themselves: it must be the one that is open here.
    return found !== undefined && (await endsThere(store, found.end)) ? { found, begun } : undefined;
  });
}

/**
 * Reads all blobs in shares, one for each worker that has begun.
 *
 * @returns their number; undefined when one of them has a defect: which is the first of the store's list, only who reads
 *   all of them knows (V3)
 */
export async function readInShares(
  workers: VerifyWorkers,
  begun: number,
  progress: Progress,
): Promise<number | undefined> {
  const shares = Array.from({ length: begun }, (_, part) => ({ part, of: begun }));
  return together(progress, 'blobs', async (tell, stop) => {
    const read = await Promise.all(shares.map((share, i) => workers.read(share, tell(i), stop)));
    const sum = read.reduce((sum, { blobs }) => sum + (blobs ?? Number.NaN), 0);
    return Number.isNaN(sum) ? undefined : sum;
  });
}

/** An error in an index or a frame is for the verification in one piece to report. */
async function tasksOf(
  { journal }: Pick<ReadonlyStore, 'journal'>,
  workers: VerifyWorkers,
  expect: string | undefined,
): Promise<readonly RangeTask[]> {
  try {
    const tasks = await cutIntoRanges(journal, workers);
    return expect === undefined ? tasks : tasks.map((task) => ({ ...task, expect }));
  } catch (error) {
    if (isRepriseError(error)) return [];
    throw error;
  }
}

/** Runs work whose parts report their own progress, and stops what still runs when it is over. */
async function together<T>(
  progress: Progress,
  what: keyof Told,
  work: (tell: (part: number) => (progress: Told) => void, stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const counts: number[] = [];
  const over = new AbortController();
  const tell = (part: number) => (told: Told) => {
    counts[part] = told[what] ?? 0;
    progress.reach({ [what]: counts.reduce((sum, count) => sum + (count ?? 0), 0) });
  };
  const beat = setInterval(() => progress.reach({}), HEARTBEAT_MS); // for frames that take long
  try {
    return await work(tell, over.signal);
  } finally {
    clearInterval(beat);
    over.abort();
  }
}

/** The interval of reports without news, in milliseconds. */
const HEARTBEAT_MS = 1_000;

/** Starts tasks in order, so many at once. The promises of all; none is left without a handler. */
function queued<T, R>(
  tasks: readonly T[],
  size: number,
  stop: AbortSignal,
  run: (task: T, i: number) => Promise<R>,
): readonly Promise<R>[] {
  let next = 0;
  const settle: ((result: Promise<R>) => void)[] = [];
  const results = tasks.map((_, i) => new Promise<R>((resolve) => (settle[i] = resolve)));
  const work = async (): Promise<void> => {
    for (let i = next++; i < tasks.length && !stop.aborted; i = next++) {
      const result = run(tasks[i] as T, i);
      settle[i]?.(result);
      await result.catch(() => undefined);
    }
  };
  for (let i = 0; i < size; i++) void work();
  for (const result of results) result.catch(() => undefined);
  return results;
}

async function endsThere({ journal }: Pick<ReadonlyStore, 'journal'>, { seq, head }: Boundary): Promise<boolean> {
  for await (const stored of journal.read(seq, seq)) return stored.head === head;
  return false;
}

function isSame(end: Boundary, start: Boundary): boolean {
  const isOne = end.seq === start.seq && end.head === start.head && end.manifest === start.manifest;
  return isOne && end.root !== null && end.root === start.root;
}

function joined(found: RangeFound, next: RangeFound): RangeFound {
  return {
    status: 'verified',
    start: found.start,
    end: next.end,
    records: found.records + next.records,
    eras: joinedEras(found.eras, next.eras),
    newest: [...found.newest, ...next.newest],
    erased: [...found.erased, ...next.erased],
    lastErase: Math.max(found.lastErase, next.lastErase),
    gone: [...found.gone, ...next.gone],
    isExpected: found.isExpected || next.isExpected,
  };
}

/** The era in which a range begins is the one in which the range before it ended. */
function joinedEras(before: readonly VerifiedEra[], after: readonly VerifiedEra[]): readonly VerifiedEra[] {
  const [first, ...rest] = after;
  const last = before.at(-1);
  if (first === undefined || last === undefined) return [...before, ...after];
  return [...before.slice(0, -1), { ...last, to: first.to }, ...rest];
}
