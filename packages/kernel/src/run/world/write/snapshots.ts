/** When and how the map of all leaves is written, so that the next open has a short tail to replay. */
import type { LeafTable } from '../../../state/leaf-table.js';
import { type Ack, ackOfFrame } from './acknowledgement.js';
import type { CommittedFrame } from './ingress.js';
import type { Stepper } from './stepper.js';

/** Frames between snapshots of a world in which few leaves change. */
const SNAPSHOT_EVERY_MIN = 1_000;

/** The longest tail that an open has to replay. */
const SNAPSHOT_EVERY_MAX = 20_000;

/**
 * Frames for each leaf that a snapshot would write. Writing one takes about a tenth of the time of a frame: in a world of a
 * thousand busy cells, a snapshot after every thousand frames cost a sixth of all time, and doubled the file.
 */
const FRAMES_PER_LEAF = 8;

/**
 * A larger frame counts as several: what a tail costs to replay, and what can be verified at once, goes by bytes as well.
 * An ordinary frame has some kilobytes.
 */
const FRAME_BYTES = 16 * 1024;

/** How much a frame adds to the tail, which is 1 for most. */
export function weightOf(bytes: number): number {
  return Math.max(1, Math.floor(bytes / FRAME_BYTES));
}

/** The collaborators of taking snapshots. */
interface SnapshotParts {
  readonly table: LeafTable;
  readonly stepper: Stepper;
  /** Frames between two snapshots; 0 for never, undefined for an interval that grows with the world. */
  readonly every: number | undefined;
}

/** Takes the snapshots of a world. */
export class Snapshots {
  /** Frames since the last one. */
  #frames: number;

  /** The weight of the frames since the last one; the frame of a snapshot does not count towards the next one. */
  #weight: number;

  /** @param tail the frames since the last snapshot when the world was opened */
  constructor(
    private readonly parts: SnapshotParts,
    tail: { readonly frames: number; readonly weight: number },
  ) {
    this.#frames = tail.frames;
    this.#weight = tail.weight;
  }

  /** Frames since the last one. */
  get framesSince(): number {
    return this.#frames;
  }

  /** Follows durable frames, and takes a snapshot when it is due. */
  follow(frames: readonly CommittedFrame[]): void {
    for (const { records, size } of frames) {
      if (records[0]?.kind === 'snapshot') continue;
      this.#frames++;
      this.#weight += weightOf(size);
    }
    const { every } = this.parts;
    if (every === 0 || (every === undefined ? this.#weight < this.#everyBySize() : this.#frames < every)) return;
    this.#restart();
    // A failed snapshot costs only the next open's time; the stepper closes the world if the store is gone.
    void this.take().catch(() => undefined);
  }

  /** Takes a snapshot in a frame of its own. */
  take(): Promise<Ack> {
    const { stepper, table } = this.parts;
    return stepper.exclusively(async () => {
      this.#restart(); // before its own frame is committed, which would call for another
      const { ref, leaves } = await table.snapshot();
      const frame = await stepper.commitAlone((stamps) => ({
        kind: 'snapshot',
        ...stamps,
        principal: 'kernel',
        root: ref,
        leaves,
      }));
      table.rebase(ref);
      return ackOfFrame(frame);
    });
  }

  #restart(): void {
    this.#frames = 0;
    this.#weight = 0;
  }

  #everyBySize(): number {
    const paid = this.parts.table.dirtyLeaves * FRAMES_PER_LEAF;
    return Math.min(SNAPSHOT_EVERY_MAX, Math.max(SNAPSHOT_EVERY_MIN, paid));
  }
}
