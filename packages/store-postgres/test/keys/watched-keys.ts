/** Keys in memory that a test looks into, and whose calls it can stop as a frozen process would stop. */
import type { KeyService } from '@reprise/kernel';
import { memoryKeys } from '../../src/index.js';

/** Where a call is stopped: before it has done anything, or when it has and its caller does not know. */
export interface StopAt {
  readonly call: 'keep' | 'destroy';
  readonly when: 'before' | 'after';
}

/** The process that has made a call is frozen: {@link letGo} lets it go on. */
export interface Stopped {
  letGo(): void;
}

export class WatchedKeys {
  readonly #inner = memoryKeys();
  readonly #names = new Set<string>();
  #trap: (StopAt & { caught(stopped: Stopped): void }) | undefined;

  /** What one process uses. */
  readonly service: KeyService = {
    label: 'watched',
    keep: async (names) => {
      await this.#pass('keep', 'before');
      const keys = await this.#inner.keep(names);
      for (const name of names) this.#names.add(name);
      await this.#pass('keep', 'after');
      return keys;
    },
    find: (names) => this.#inner.find(names),
    destroy: async (names) => {
      await this.#pass('destroy', 'before');
      await this.#inner.destroy(names);
      for (const name of names) this.#names.delete(name);
      await this.#pass('destroy', 'after');
    },
  };

  /** All keys that there are now, of names with a part. */
  async all(part: string): Promise<readonly Uint8Array[]> {
    const names = [...this.#names].filter((name) => name.includes(part));
    return (await this.#inner.find(names)).flatMap((key) => key ?? []);
  }

  /** Stops the next such call. @returns resolves when it is stopped */
  stopNext(at: StopAt): Promise<Stopped> {
    return new Promise((resolve) => {
      this.#trap = { ...at, caught: resolve };
    });
  }

  /** Stops nothing any more. */
  disarm(): void {
    this.#trap = undefined;
  }

  async #pass(call: StopAt['call'], when: StopAt['when']): Promise<void> {
    const trap = this.#trap;
    if (trap?.call !== call || trap.when !== when) return;
    this.#trap = undefined;
    await new Promise<void>((resolve) => trap.caught({ letGo: resolve }));
  }
}
