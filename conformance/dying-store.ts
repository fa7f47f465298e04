/**
 * A store whose holder dies at a chosen append: before what it appends is there, or just after. Or it dies each time when it
 * has noted one chosen input, as if folding that input took all the memory there is: after two deaths the input is
 * quarantined (REC-4).
 */
import type { OpenStore, Store } from '@reprise/kernel';

/** The frames of an append. */
type Appended = Parameters<OpenStore['journal']['append']>[0];

/** So often an input kills before it is quarantined. */
const DEATHS_MAX = 2;

/** A store that kills its holders. */
export class DyingStore implements Store {
  readonly label: string;
  /** How many holders have died. */
  deaths = 0;
  /** The last frame that was there when a holder died at an append; -1 before. */
  diedAt = -1;
  /** How many appends there were. */
  appends = 0;
  /** The bytes of the largest frame that was appended since it was set to 0. */
  largest = 0;
  /** How many inputs were noted. Inputs are noted after an unclean close only. */
  notes = 0;
  #left = Number.POSITIVE_INFINITY;
  /** Which note is deadly, the input that it names, and how often that has killed. */
  #deadly = 0;
  #poison: string | undefined;
  #killed = 0;
  #side: 'before' | 'after' = 'before';
  #isLast: (frames: Appended) => boolean = () => false;
  #holder: (() => Promise<never>) | undefined;

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

  /** The holder dies just after the first append of which this is true. */
  dieAfter(isLast: (frames: Appended) => boolean): void {
    this.#isLast = isLast;
  }

  /** The holder dies now: nothing that it writes from now on is there. @returns never */
  async kill(): Promise<never> {
    if (this.#holder === undefined) throw new Error('nobody has the store open');
    return this.#holder();
  }

  /** The holder dies at the n-th note from now, and at the next note of the same input. */
  dieAtNote(n: number): void {
    this.#deadly = this.notes + n;
  }

  /** The input that was deadly, once it has killed as often as it may; undefined before. */
  get poison(): string | undefined {
    return this.#killed < DEATHS_MAX ? undefined : this.#poison;
  }

  #isDeadly(note: string | null): boolean {
    if (note === null || this.#deadly === 0) return false;
    const input = note.replace(/^\d+ /, '');
    if (++this.notes === this.#deadly) this.#poison = input;
    return input === this.#poison && ++this.#killed <= DEATHS_MAX;
  }

  async open(): Promise<OpenStore> {
    const open = await this.inner.open();
    let isDead = false;
    const die = async (): Promise<never> => {
      this.onDeath?.();
      isDead = true;
      this.deaths++;
      await open.close();
      throw new Error('the process is dead');
    };
    this.#holder = die;
    return {
      ...open,
      cleanlyClosed: open.cleanlyClosed && this.deaths === 0,
      mark: async (note) => {
        if (isDead) throw new Error('the process is dead');
        await open.mark(note);
        if (this.#isDeadly(note)) await die();
      },
      journal: {
        ...open.journal,
        append: async (frames, expected) => {
          if (isDead) throw new Error('the process is dead');
          this.appends++;
          for (const { bytes } of frames) this.largest = Math.max(this.largest, bytes.length);
          const isLast = this.#isLast(frames);
          if (--this.#left > 0 && !isLast) return open.journal.append(frames, expected);
          this.#left = Number.POSITIVE_INFINITY;
          this.#isLast = () => false;
          if (isLast || this.#side === 'after') await open.journal.append(frames, expected);
          this.diedAt = (await open.journal.head()).seq;
          return die();
        },
      },
    };
  }

  openReadonly() {
    return this.inner.openReadonly();
  }
}
