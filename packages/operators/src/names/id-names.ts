/** Names in place of the ids of agents, wherever an id stands in a text. */
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { skimFrames } from '../skim/index.js';
import { LONG_ID, shortId } from './owner.js';
import { REDUCERS } from './reducers.js';
import { HOLDING_NAMES, WorldNames } from './world-names.js';

/** The digits behind a name: agents of a swarm often have one name. */
const DIGITS = 4;

/** A name that cannot be taken for anything but a word. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u;

/** Writes the names of agents. What was read names them; an older one is looked up when its id stands in a text. */
export class IdNames {
  readonly #names = new WorldNames();
  readonly #looked = new Set<string>();
  /** Whether the frames before those that were read were searched. */
  #isSearched = false;

  constructor(private readonly store: ReadonlyStore) {}

  /** Takes the records of a frame. */
  take(records: readonly JournalRecord[]): void {
    for (const record of records) this.#names.take(record);
  }

  /** A text with names in place of ids, as `cleo·3fa9`; of an id without a name its beginning. @param read the first frame that was read */
  async words(text: string, read: number): Promise<string> {
    for (const [id] of text.matchAll(LONG_ID)) if (this.#names.entityName(id) === undefined) await this.#look(id, read);
    return text.replace(LONG_ID, (id) => {
      const name = this.#names.entityName(id);
      return name === undefined ? shortId(id) : `${wordOf(name)}·${id.slice(0, DIGITS)}`;
    });
  }

  async #look(id: string, read: number): Promise<void> {
    if (read <= 0 || this.#looked.has(id)) return;
    this.#looked.add(id);
    // Loaded where it is needed: most texts hold no older id, and it is half of what printing a few lines loads.
    const { snapshotBefore } = await import('@reprise/kernel/inspect');
    const snapshot = await snapshotBefore(this.store, read - 1);
    const cell = await snapshot.cell([REDUCERS.entity, id]);
    if (cell !== undefined) return this.#names.name(cell);
    if (this.#isSearched) return;
    this.#isSearched = true;
    const range = { from: snapshot.seq + 1, to: read - 1, holding: HOLDING_NAMES };
    await skimFrames(this.store, range, (_, __, records) => this.take(records));
  }
}

function wordOf(name: string): string {
  return PLAIN.test(name) ? name : JSON.stringify(name);
}
