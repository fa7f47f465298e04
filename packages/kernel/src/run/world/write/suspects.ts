/**
 * The fact that the last holders died of.
 *
 * Memory may run out while a fact is being folded; folding it again would bring the world down at every open. So after
 * an unclean close the first facts are noted durably while they are folded, and one that was noted when one process
 * after the other died is journaled without its cascade.
 */

/** The store's note, which outlives the process. */
export interface Suspicion {
  /** What was noted when the last holder died: the fact that was being folded, and for how many holders it was. */
  readonly noted: string | null;
  note(text: string | null): Promise<void>;
}

/** Facts that are noted after an unclean close; a poisoned one comes among the first, since it recurs at every open. */
const SUSPECT_FACTS = 32;

/** A kill from outside can fall upon the fold of a healthy fact, hardly ever twice upon the same; poison kills each time. */
const DEATHS_MAX = 2;

/** Notes the first facts of a process. */
export class Suspects {
  #left = SUSPECT_FACTS;
  /** What the last holders died of; undefined once it was folded here: a fact of that name that comes later is another. */
  #suspect: { readonly fact: string; readonly deaths: number } | undefined;

  /** @param suspicion absent after a clean close: then nothing is suspected, and nothing noted */
  constructor(private readonly suspicion: Suspicion | undefined) {
    const [, deaths, fact] = /^(\d+) (.*)$/s.exec(suspicion?.noted ?? '') ?? [];
    if (deaths !== undefined && fact !== undefined) this.#suspect = { fact, deaths: Number(deaths) };
  }

  /**
   * Notes a fact before it is folded.
   *
   * @returns `poison` when it is what the last holders died of; undefined when nothing is noted
   */
  async note(fact: string): Promise<'noted' | 'poison' | undefined> {
    const { suspicion } = this;
    if (suspicion === undefined || this.#left <= 0) return undefined;
    this.#left--;
    const before = this.#suspect?.fact === fact ? this.#suspect.deaths : 0;
    if (before >= DEATHS_MAX) return 'poison';
    try {
      await suspicion.note(`${before + 1} ${fact}`);
      return 'noted';
    } catch {
      return undefined; // a store that cannot note will say so at the commit
    }
  }

  /** It was folded: nobody died of it. */
  async clear(fact: string): Promise<void> {
    if (this.#suspect?.fact === fact) this.#suspect = undefined;
    try {
      await this.suspicion?.note(null);
    } catch {
      // The note stays: at worst one healthy fact is journaled without its cascade should the next opens crash too.
    }
  }
}
