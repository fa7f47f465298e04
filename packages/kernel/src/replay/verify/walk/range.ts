/**
 * A journal in ranges that are verified apart, and the port to where that is done.
 *
 * The proof is an induction. A range begins with the state map that the snapshot before it names, and must regenerate
 * every frame up to its own last snapshot, whose computed root must be the recorded one. Each range says where it began
 * and where it ended; the end of each must be the beginning of the next, down to the first, which begins at genesis.
 */
import type { BlobShare } from '../../../ports/content/port.js';
import type { ReadableJournal } from '../../../ports/journal/port.js';
import type { VerifiedEra } from './era-walk.js';
import type { PortableError } from './portable-error.js';
import type { VerifyProgress } from './progress.js';

/** A place between two frames, and everything that the frames after it are derived from. */
export interface Boundary {
  /** The frame before it, −1 at genesis. */
  readonly seq: number;
  /** The head after that frame, as hex. */
  readonly head: string;
  /** The state map that the frame names, as hex; null when it is no snapshot, and at genesis. */
  readonly root: string | null;
  /** The frame of the era's manifest, −1 at genesis. */
  readonly manifest: number;
}

/** A range to be verified. All fields can be sent to another thread. */
export interface RangeTask {
  /** The frame of the snapshot before the range, −1 for genesis. */
  readonly after: number;
  /** The manifest of the era of that snapshot, −1 for genesis. */
  readonly manifest: number;
  /** The last frame, a snapshot; undefined for the end of the journal. */
  readonly to?: number;
  /** A head to look out for, as hex. */
  readonly expect?: string;
}

/** What a range contains that only the whole journal can judge. */
export interface RangeFound {
  readonly status: 'verified';
  readonly start: Boundary;
  readonly end: Boundary;
  readonly records: number;
  readonly eras: readonly VerifiedEra[];
  /** The newest frame of each kind. */
  readonly newest: readonly (readonly [kind: string, seq: number])[];
  /** Erased digests, each with the newest frame that names it. */
  readonly erased: readonly (readonly [hex: string, seq: number])[];
  /** The last frame that erases, −1 without one. */
  readonly lastErase: number;
  /** Missing content, in the order of its mention. */
  readonly gone: readonly { readonly hex: string; readonly kind: 'raw' | 'value'; readonly where: string }[];
  /** Whether a frame has the head to look out for. */
  readonly isExpected: boolean;
}

/** A range with a defect. */
interface RangeDefect {
  readonly status: 'defect';
  /** Where the range began; absent when the defect kept it from beginning. */
  readonly start?: Boundary;
  readonly error: PortableError;
}

/** The result of verifying a range. All fields can be sent to another thread. */
export type RangeResult = RangeFound | RangeDefect;

/** What was read of a share. All fields can be sent to another thread. */
export interface SharedBlobs {
  /** The number of its blobs, all read; absent when one of them has a defect. */
  readonly blobs?: number;
}

/**
 * Verifies ranges of one world at once: in threads or in processes that open the world and load its apps themselves,
 * since an app cannot be sent. `verifyFile` of `reprise/verify` has such workers.
 */
export interface VerifyWorkers {
  /** How many workers there can be. */
  readonly size: number;
  /** The frames that a range must have to be worth a task. */
  readonly framesMin: number;
  /**
   * Starts workers, once, before their first task.
   *
   * Contract: resolves the number that started, at most {@link size}; 0 when they cannot do the work.
   */
  begin(tasks: number): Promise<number>;
  /**
   * Verifies a range with the result of `verifyRange`, and reports what it has verified so far.
   *
   * Contract: gets no more tasks at once than workers have begun; rejects only without a result, because the worker ended
   * or the signal was aborted.
   */
  verify(task: RangeTask, tell: (progress: Told) => void, stop: AbortSignal): Promise<RangeResult>;
  /** Reads the blobs of a share with the result of `readShare`. Contract: as for {@link verify}. */
  read(share: BlobShare, tell: (progress: Told) => void, stop: AbortSignal): Promise<SharedBlobs>;
}

/** The part of the progress that a worker knows: its own. */
export type Told = Partial<Pick<VerifyProgress, 'frames' | 'blobs'>>;

/** How many short ranges each worker gets at the end. */
const LAST_RANGES = 4;

/** Cuts a journal at snapshots into ranges, the longer ones first; one range when it is short or has no snapshots. */
export async function cutIntoRanges(
  journal: Pick<ReadableJournal, 'head' | 'findLast'>,
  { size, framesMin }: Pick<VerifyWorkers, 'size' | 'framesMin'>,
): Promise<RangeTask[]> {
  const starts: Pick<RangeTask, 'after' | 'manifest'>[] = [{ after: -1, manifest: -1 }];
  for (const from of cuts((await journal.head()).seq + 1, size, Math.max(framesMin, 1))) {
    const snapshot = await journal.findLast('snapshot', from);
    if (snapshot === undefined || snapshot.seq <= (starts.at(-1)?.after ?? -1)) continue;
    const manifest = await journal.findLast('manifest', snapshot.seq);
    if (manifest !== undefined) starts.push({ after: snapshot.seq, manifest: manifest.seq });
  }
  return starts.map((start, i) => {
    const to = starts[i + 1]?.after;
    return to === undefined ? start : { ...start, to };
  });
}

/**
 * Where ranges should begin, after the first. The workers get ranges of half of what is left, and of half of the rest, and
 * so on, since beginning one costs something; the rest is cut into short ones, as many for each worker, so that none waits
 * long for another.
 */
function cuts(frames: number, size: number, framesMin: number): number[] {
  const found: number[] = [];
  for (let from = 0; from < frames; ) {
    const left = frames - from;
    const worth = Math.floor(left / framesMin);
    const isLast = worth <= size * LAST_RANGES;
    const count = isLast ? worth - (worth % size) || worth || 1 : size;
    const length = (isLast ? left : left / 2) / count;
    for (let i = 0; i < count; i++) found.push(Math.floor(from + i * length));
    from += Math.ceil(count * length);
  }
  return found.slice(1);
}
