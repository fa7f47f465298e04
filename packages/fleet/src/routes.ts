/** What a process remembers of the others: where worlds were the last time, and which processes did not answer. */

/** The worlds whose place is remembered; beyond it the one found first is forgotten, which costs a look. */
const ROUTES_MAX = 10_000;

/** Where worlds were the last time. It is a hint: the process at the address says when it has the world no longer. */
export class Routes {
  readonly #byWorld = new Map<string, string>();
  /** Processes that did not answer their last request: the next one waits less for a sign of life. */
  readonly #suspects = new Set<string>();

  get(world: string): string | undefined {
    return this.#byWorld.get(world);
  }

  set(world: string, address: string | undefined): void {
    this.#byWorld.delete(world);
    if (address === undefined) return;
    this.#byWorld.set(world, address);
    if (this.#byWorld.size > ROUTES_MAX) for (const oldest of this.#byWorld.keys()) return this.set(oldest, undefined);
  }

  isSuspect(address: string): boolean {
    return this.#suspects.has(address);
  }

  suspect(address: string, isSuspect: boolean): void {
    if (!isSuspect) this.#suspects.delete(address);
    else if (this.#suspects.size < ROUTES_MAX) this.#suspects.add(address);
  }
}
