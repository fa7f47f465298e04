/** A store whose holder dies at a chosen append: before what it appends is there, or just after. */
import type { OpenStore, Store } from '@reprise/kernel';

/** A store that kills its holders. */
export class DyingStore implements Store {
  readonly label: string;
  /** How many holders have died. */
  deaths = 0;
  /** How many appends there were. */
  appends = 0;
  /** The bytes of the largest frame that was appended since it was set to 0. */
  largest = 0;
  #left = Number.POSITIVE_INFINITY;
  #side: 'before' | 'after' = 'before';

  /** @param onDeath what a holder does at its death, such as killing its process */
  constructor(
    private readonly inner: Store,
    private readonly onDeath?: () => void,
  ) {
    this.label = `dying ${inner.label}`;
  }

  /** The holder dies at the n-th append from now. */
  dieAt(n: number, side: 'before' | 'after'): void {
    this.#left = n;
    this.#side = side;
  }

  async open(): Promise<OpenStore> {
    const open = await this.inner.open();
    let isDead = false;
    return {
      ...open,
      cleanlyClosed: open.cleanlyClosed && this.deaths === 0,
      journal: {
        ...open.journal,
        append: async (frames, expected) => {
          if (isDead) throw new Error('the process is dead');
          this.appends++;
          for (const { bytes } of frames) this.largest = Math.max(this.largest, bytes.length);
          if (--this.#left > 0) return open.journal.append(frames, expected);
          this.#left = Number.POSITIVE_INFINITY;
          if (this.#side === 'after') await open.journal.append(frames, expected);
          this.onDeath?.();
          isDead = true;
          this.deaths++;
          await open.close();
          throw new Error('the process is dead');
        },
      },
    };
  }

  openReadonly() {
    return this.inner.openReadonly();
  }
}
