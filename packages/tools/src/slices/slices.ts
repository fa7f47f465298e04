/** Splits long work into slices: between two slices the event loop runs, and an abort signal is noticed. */

/**
 * The length of a slice in milliseconds: too short for a person, or for a model call that streams meanwhile, to notice.
 */
const SLICE_MS = 10;

/** How many steps pass between two reads of the clock. */
const STEPS_PER_LOOK = 32;

/** The slices of one piece of work. */
export class Slices {
  #endsAt = performance.now() + SLICE_MS;
  #steps = 0;

  constructor(readonly signal: AbortSignal) {}

  /** Whether the slice is over. Read it once for each step. */
  get due(): boolean {
    this.#steps += 1;
    if (this.#steps < STEPS_PER_LOOK) return false;
    this.#steps = 0;
    return performance.now() >= this.#endsAt;
  }

  /** Yields to the event loop if the slice is over. @throws the signal's reason when it aborted */
  async next(): Promise<void> {
    this.signal.throwIfAborted();
    if (performance.now() < this.#endsAt) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.signal.throwIfAborted();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}
