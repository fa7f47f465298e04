/** Long work in slices: the event loop gets its turn between two of them, and whoever says stop is heard there. */

/** How long a slice may take, in milliseconds: unnoticed by a person, and by a model call that streams meanwhile. */
const SLICE_MS = 10;

/** How many steps are taken between two looks at the clock. */
const STEPS_PER_LOOK = 32;

/** The slices of one piece of work. */
export class Slices {
  #endsAt = performance.now() + SLICE_MS;
  #steps = 0;

  constructor(readonly signal: AbortSignal) {}

  /** Whether the slice is over. Ask once for each step. */
  get due(): boolean {
    this.#steps += 1;
    if (this.#steps < STEPS_PER_LOOK) return false;
    this.#steps = 0;
    return performance.now() >= this.#endsAt;
  }

  /** Lets others have their turn, if the slice is over. @throws the reason of the signal when it aborted */
  async next(): Promise<void> {
    this.signal.throwIfAborted();
    if (performance.now() < this.#endsAt) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.signal.throwIfAborted();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}
