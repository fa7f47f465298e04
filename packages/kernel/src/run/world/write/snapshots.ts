/** When and how the map of all leaves is written, so that the next open has a short tail to replay. */
import type { LeafTable } from '../../state/leaf-table.js';
import { type Ack, ackOfFrame } from './acknowledgement.js';
import type { CommittedFrame } from './ingress.js';
import type { Stepper } from './stepper.js';

/** Frames between snapshots of a small world. A large one waits longer: a snapshot rewrites a path for each changed leaf. */
const SNAPSHOT_EVERY_MIN = 1_000;

/** The longest tail that an open has to replay. */
const SNAPSHOT_EVERY_MAX = 20_000;

/** The interval grows by one frame for every so many leaves. */
const LEAVES_PER_FRAME = 8;

/** The collaborators of taking snapshots. */
interface SnapshotParts {
  readonly table: LeafTable;
  readonly stepper: Stepper;
  /** Frames between two snapshots; 0 for never, undefined for an interval that grows with the world. */
  readonly every: number | undefined;
}

/** Takes the snapshots of a world. */
export class Snapshots {
  /** Leaves at the last snapshot of this process. */
  #leaves = 0;

  /** @param tail frames since the last snapshot when the world was opened */
  constructor(
    private readonly parts: SnapshotParts,
    private tail: number,
  ) {}

  /** Frames since the last one. */
  get framesSince(): number {
    return this.tail;
  }

  /** Follows durable frames, and takes a snapshot when it is due. */
  follow(frames: readonly CommittedFrame[]): void {
    // The frame of a snapshot does not count towards the next one.
    this.tail += frames.filter(({ records }) => records[0]?.kind !== 'snapshot').length;
    const every = this.parts.every ?? this.#everyBySize();
    if (every === 0 || this.tail < every) return;
    this.tail = 0;
    // A failed snapshot costs only the next open's time; the stepper closes the world if the store is gone.
    void this.take().catch(() => undefined);
  }

  /** Takes one. */
  take(): Promise<Ack> {
    const { stepper, table } = this.parts;
    return stepper.exclusively(async () => {
      this.tail = 0; // before its own frame is committed, which would call for another
      const { ref, leaves } = await table.snapshot();
      const frame = await stepper.commitAlone((stamps) => ({
        kind: 'snapshot',
        ...stamps,
        principal: 'kernel',
        root: ref,
        leaves,
      }));
      table.rebase(ref);
      this.#leaves = leaves;
      return ackOfFrame(frame);
    });
  }

  #everyBySize(): number {
    return Math.min(SNAPSHOT_EVERY_MAX, Math.max(SNAPSHOT_EVERY_MIN, Math.floor(this.#leaves / LEAVES_PER_FRAME)));
  }
}
