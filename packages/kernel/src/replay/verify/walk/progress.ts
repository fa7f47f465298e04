/** Reports how far a verification has come, and lets the process breathe. */
import { systemClock } from '../../../ports/time/clock.js';
import { macrotask } from '../../../ports/time/turn.js';

/** How far a verification has come. */
export interface VerifyProgress {
  /** The number of frames that were verified so far. */
  readonly frames: number;
  /** Frames of the journal when the verification began. */
  readonly of: number;
  /** Stored blobs that were read; they are read after the frames. */
  readonly blobs: number;
}

/** The time between two reports, in milliseconds. */
const REPORT_MS = 200;

/**
 * Steps between two turns of the event loop. Stores free the memory of what was read only between turns: without them,
 * reading half a million blobs took half a gigabyte.
 */
const STEPS_PER_TURN = 64;

/** Counts steps, reports now and then, and gives the event loop its turns. */
export class Progress {
  #steps = 0;
  #reported = systemClock.monotonic();
  #frames = 0;
  #blobs = 0;

  constructor(
    private readonly of: number,
    private readonly report: ((progress: VerifyProgress) => void) | undefined,
  ) {}

  /** The next step. @returns a promise when it is time for a turn */
  step(reached: Partial<Pick<VerifyProgress, 'frames' | 'blobs'>>): Promise<void> | undefined {
    this.reach(reached);
    return ++this.#steps % STEPS_PER_TURN === 0 ? macrotask() : undefined;
  }

  /** Reports the numbers, unless the last report was just now. */
  reach({ frames, blobs }: Partial<Pick<VerifyProgress, 'frames' | 'blobs'>>): void {
    if (frames !== undefined) this.#frames = frames;
    if (blobs !== undefined) this.#blobs = blobs;
    if (this.report === undefined) return;
    if (systemClock.monotonic() - this.#reported >= REPORT_MS) this.end();
  }

  /** Reports the numbers, however new the last report is. */
  end(): void {
    this.#reported = systemClock.monotonic();
    this.report?.({ frames: this.#frames, of: this.of, blobs: this.#blobs });
  }
}
