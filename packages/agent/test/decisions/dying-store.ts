/** A store whose writer dies at a chosen append: the frames are lost, or durable without anybody hearing so. */
import { memory, type OpenStore, RepriseError, type Store } from '@reprise/kernel';

/** Where the writer dies. */
export interface Death {
  /** After how many appends. */
  readonly appends: number;
  /** Whether the frames of that append are durable. */
  readonly durable: boolean;
}

/** A store in memory whose writer can die. */
export class DyingStore implements Store {
  readonly label = 'dying memory';
  readonly #inner = memory();
  #left = Number.POSITIVE_INFINITY;
  #durable = false;
  #holder: OpenStore | undefined;
  died = false;

  /** Makes the writer die, counted from now. */
  arm({ appends, durable }: Death): void {
    this.#left = appends;
    this.#durable = durable;
  }

  async open(): Promise<OpenStore> {
    const open = await this.#inner.open();
    const cleanlyClosed = open.cleanlyClosed && !this.died;
    this.#holder = open;
    this.died = false;
    const append: OpenStore['journal']['append'] = async (frames, expected) => {
      if (this.died) throw death();
      this.#left--;
      if (this.#left >= 0) return open.journal.append(frames, expected);
      this.died = true;
      if (this.#durable) await open.journal.append(frames, expected);
      throw death();
    };
    // A dead process learns nothing any more, not even that its last frames are durable.
    const head: OpenStore['journal']['head'] = async () => {
      if (this.died) throw death();
      return open.journal.head();
    };
    return { ...open, cleanlyClosed, journal: { ...open.journal, append, head } };
  }

  openReadonly() {
    return this.#inner.openReadonly();
  }

  /** Ends the dead writer, so that the next one can open the store. */
  async bury(): Promise<void> {
    this.#left = Number.POSITIVE_INFINITY;
    await this.#holder?.close();
  }
}

function death(): RepriseError {
  return new RepriseError('store_failed', 'the process that held this store is dead');
}
