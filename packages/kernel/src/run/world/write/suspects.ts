/**
 * Remembers the own input that crashed earlier processes.
 *
 * Memory may run out while an own input is being folded; folding it again would crash the process at every open. So after an
 * unclean close the first own inputs are noted durably while they are folded, and an own input that was noted in several crashes
 * in a row is journaled without its cascade.
 */

/** The store's note, which outlives the process. */
export interface Suspicion {
  /** The note that stood at opening: the own input that was being folded, and how many processes it may have crashed. */
  readonly noted: string | null;
  /** Whether the process that wrote the note died; otherwise it lost the world, and may have lived on. */
  readonly died: boolean;
  note(text: string | null): Promise<void>;
  /** {@link OpenStore.answerFor} of the store, where it has one. */
  answerFor?<T>(fold: () => T): T;
}

/** Facts that are noted after an unclean close; a poisoned one comes among the first, since it recurs at every open. */
const SUSPECT_FACTS = 32;

/** A kill from outside can hit the fold of a healthy own input, hardly ever twice the same; poison crashes every time. */
const DEATHS_MAX = 2;

/** Notes the first own inputs of a process. */
export class Suspects {
  #left = SUSPECT_FACTS;
  /** The suspected own input; undefined once it was folded here: a later own input of that name is another one. */
  #suspect: { readonly name: string; readonly deaths: number } | undefined;

  /** @param suspicion absent after a clean close: then nothing is suspected or noted */
  constructor(private readonly suspicion: Suspicion | undefined) {
    const [, deaths, name] = /^(\d+) (.*)$/s.exec(suspicion?.noted ?? '') ?? [];
    if (deaths === undefined || name === undefined) return;
    // The note was written for the case of a death: without one, only the deaths before it count.
    this.#suspect = { name, deaths: suspicion?.died === true ? Number(deaths) : Number(deaths) - 1 };
  }

  /** Whether the next own input is noted before it is folded. */
  get areWatched(): boolean {
    return this.suspicion !== undefined && this.#left > 0;
  }

  /**
   * Notes an own input before it is folded.
   *
   * @returns `poison` when it crashed the last processes; undefined when nothing is noted
   */
  async note(name: string): Promise<'noted' | 'poison' | undefined> {
    const { suspicion } = this;
    if (suspicion === undefined || !this.areWatched) return undefined;
    this.#left--;
    const before = this.#suspect?.name === name ? this.#suspect.deaths : 0;
    if (before >= DEATHS_MAX) return 'poison';
    try {
      await suspicion.note(`${before + 1} ${name}`);
      return 'noted';
    } catch {
      return undefined; // a store that cannot write will fail at the commit
    }
  }

  /** Runs the fold of an own input that is noted: a death in it is that of this world, and not of its neighbours. */
  fold<T>(fold: () => T): T {
    const { suspicion } = this;
    return suspicion?.answerFor === undefined ? fold() : suspicion.answerFor(fold);
  }

  /** The own input was folded without a crash. */
  async clear(name: string): Promise<void> {
    if (this.#suspect?.name === name) this.#suspect = undefined;
    try {
      await this.suspicion?.note(null);
    } catch {
      // The note stays: at worst one healthy own input is journaled without its cascade if the next opens crash too.
    }
  }
}
