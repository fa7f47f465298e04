/** Slots for effects that may run at once, by kind. */

/** Effects of one kind that may run at once, unless the adapter says otherwise. */
const CONCURRENCY_DEFAULT = 8;

/** Counts the slots in use. */
export class Slots {
  readonly #used = new Map<string, number>();
  readonly #kindOf = new Map<string, string>();

  /** @param concurrencyOf the maximum number of running effects of a kind; undefined for the default */
  constructor(private readonly concurrencyOf: (kind: string) => number | undefined) {}

  /** Takes a slot. @returns false when none is free, or the effect already has one */
  take(effect: string, kind: string): boolean {
    const used = this.#used.get(kind) ?? 0;
    if (this.#kindOf.has(effect)) return false;
    if (used >= (this.concurrencyOf(kind) ?? CONCURRENCY_DEFAULT)) return false;
    this.#used.set(kind, used + 1);
    this.#kindOf.set(effect, kind);
    return true;
  }

  /** Gives back the slot of an effect, when it has one. */
  give(effect: string): void {
    const kind = this.#kindOf.get(effect);
    if (kind === undefined) return;
    this.#kindOf.delete(effect);
    this.#used.set(kind, Math.max(0, (this.#used.get(kind) ?? 0) - 1));
  }
}
