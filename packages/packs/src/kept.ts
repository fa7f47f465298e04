/**
 * Inflated packs that all stores of a process keep together: 16 MiB. A session reads its history again and again, and
 * from fewer packs than it has each reading would inflate all of them.
 */
const KEPT_PACKS_MAX = 128;

/** Plain packs by name, the last used at the end; the oldest leave. */
export class KeptPacks {
  readonly #packs = new Map<string, Uint8Array>();

  /** A pack that is kept, which counts as used now; undefined when it has left. */
  get(name: string): Uint8Array | undefined {
    const plain = this.#packs.get(name);
    if (plain !== undefined) this.keep(name, plain);
    return plain;
  }

  /** Keeps a pack, in place of the one that was used the longest time ago. */
  keep(name: string, plain: Uint8Array): void {
    this.#packs.delete(name);
    this.#packs.set(name, plain);
    const [oldest] = this.#packs.keys();
    if (this.#packs.size > KEPT_PACKS_MAX && oldest !== undefined) this.#packs.delete(oldest);
  }

  /** Forgets the packs whose names begin with a text: what they hold may have been erased. */
  forget(start: string): void {
    for (const name of this.#packs.keys()) if (name.startsWith(start)) this.#packs.delete(name);
  }
}
