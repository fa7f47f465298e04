/** Counts the failures of each world in a row, and says when to try again. */

/** How long a failing world is left alone, in milliseconds, doubling from the first to the second. */
const WAKE_RETRY_MS_FIRST = 1_000;
const WAKE_RETRY_MS_MAX = 300_000;

/** The failing worlds. A healthy world costs nothing here. */
export class Troubles {
  readonly #inARow = new Map<string, number>();

  /** Whether the world is failing. */
  has(world: string): boolean {
    return this.#inARow.has(world);
  }

  /** Counts a failure. @returns how long to leave the world alone, in milliseconds */
  add(world: string): number {
    const before = this.#inARow.get(world) ?? 0;
    this.#inARow.set(world, before + 1);
    return Math.min(WAKE_RETRY_MS_FIRST * 2 ** Math.min(before, 30), WAKE_RETRY_MS_MAX);
  }

  /** Marks the world healthy: the next failure is its first in a row. */
  over(world: string): void {
    this.#inARow.delete(world);
  }
}
