/** Counts what goes wrong with each world in a row, and says when to try again. */

/** How long a world in trouble is left alone, doubling from the first to the second. */
const WAKE_RETRY_MS_FIRST = 1_000;
const WAKE_RETRY_MS_MAX = 300_000;

/** Worlds in trouble. A world that is well costs nothing here. */
export class Troubles {
  readonly #inARow = new Map<string, number>();

  /** Whether it is in trouble. */
  has(world: string): boolean {
    return this.#inARow.has(world);
  }

  /** Once more. @returns how long to leave it alone, in milliseconds */
  add(world: string): number {
    const before = this.#inARow.get(world) ?? 0;
    this.#inARow.set(world, before + 1);
    return Math.min(WAKE_RETRY_MS_FIRST * 2 ** Math.min(before, 30), WAKE_RETRY_MS_MAX);
  }

  /** It is well. */
  over(world: string): void {
    this.#inARow.delete(world);
  }
}
