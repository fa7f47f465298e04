/**
 * A disk between simulated processes and a store: every call waits for its turn, may fail, and ends with its process.
 *
 * Invariants
 * K1  An operation of a dead process that was not executed never is; an executed one stays, whether it was answered or
 *     not.
 * K2  An append is executed whole or not at all, as the port's contract requires. Content that was stored without a
 *     later append is lost with its process.
 * K3  One process has the store open, unless it lost the store: then a second one may open it. A lost lock fences nobody,
 *     so the first process finds out by an append that the head refuses; from then on no append fails without a reason,
 *     because the head could not tell whose bytes it is made of. A lost lease fences its holder from the moment in which
 *     the next one opens: its appends, its notes and its looks at the head are refused, and appends of any process may fail.
 */
import {
  type Head,
  memory,
  type OpenStore,
  type ReadonlyStore,
  RepriseError,
  type Store,
  type StoredFrame,
} from '@reprise/kernel';
import type { Choices } from './choices.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { Sometimes } from './sometimes.js';
import type { Turnstile } from './turnstile.js';

/** Trouble of the next append: nothing is written and it fails; or it is written, and the answer is lost. */
type DiskTrouble = 'fails' | 'answer lost';

/** What holds a store for its process, and was lost: a lock that fences nobody, or a lease that fences its holder. */
type Hold = 'lock' | 'lease';

/** A store whose owner can be killed. Without `crash` it is closed instead, and the next opening reports a crash. */
export type CrashableStore = Store & { crash?(): Promise<void> };

/** The parts of a disk. */
interface DiskParts {
  readonly choices: Choices;
  readonly turnstile: Turnstile;
  readonly sometimes: Sometimes;
  /** The store that really stores; memory when absent. */
  readonly platter?: CrashableStore;
  /** Called for each frame at the moment in which it becomes durable. */
  readonly durable: (frames: readonly StoredFrame[]) => void;
}

/** One call in this many waits for its turn when it is only a query or a copy; appends always do. */
const WAITS_ONCE_IN = 6;

/** A disk that can be full or fail, and whose lock can be lost. */
export class SimulatedDisk {
  /** While true, nothing can be written. */
  full = false;
  /** The trouble of the next append. */
  trouble: DiskTrouble | undefined;
  /** Whether a second process was ever let in beside one that nothing fences. */
  wasShared = false;
  /** Whether a second process was ever let in. */
  wasTakenOver = false;
  readonly #platter: CrashableStore;
  readonly #users = new Set<SimulatedProcess>();
  /** Processes that lost their lease to a later one. */
  readonly #fenced = new Set<SimulatedProcess>();
  #open: OpenStore | undefined;
  /** The process that opened it last, and how its opening ended. */
  #owner: SimulatedProcess | undefined;
  #ended: 'clean' | 'died' = 'clean';
  #mark: string | null = null;
  #lost: Hold | undefined;
  /** Processes whose last append failed: much may happen before their next look at the head. */
  readonly #doubting = new Set<SimulatedProcess>();

  constructor(private readonly parts: DiskParts) {
    this.#platter = parts.platter ?? memory();
  }

  /** Whether a process has the store open. */
  get held(): boolean {
    return this.#users.size > 0;
  }

  /** Whether a process opened the store last, and has not closed it. */
  isOwner(process: SimulatedProcess): boolean {
    return this.#owner === process && this.#users.has(process);
  }

  /** Whether much hangs on the hold: an input is noted that is being folded, or an owner does not know what it has written. */
  get isDelicate(): boolean {
    return this.held && (this.#mark !== null || this.#doubting.size > 0);
  }

  /** Loses the lock or the lease: the next process that opens the store is let in beside its owner. */
  lose(hold: Hold): void {
    this.#lost = hold;
  }

  /** The store as a process sees it. */
  storeOf(process: SimulatedProcess): Store {
    return {
      label: `simulated ${this.#platter.label}`,
      open: () => this.#openFor(process),
      openReadonly: () => this.reader(),
    };
  }

  /** The durable state, for reading. */
  reader(): Promise<ReadonlyStore> {
    return this.#platter.openReadonly();
  }

  /** Ends a process. What it did not make durable is lost. */
  async died(process: SimulatedProcess): Promise<void> {
    if (!this.#users.delete(process)) return;
    if (this.#users.size > 0) return;
    if (this.#platter.crash === undefined) await this.#open?.close();
    else await this.#platter.crash();
    this.#open = undefined;
  }

  async #openFor(process: SimulatedProcess): Promise<OpenStore> {
    await this.parts.turnstile.wait(process, 'open');
    if (this.held && this.#lost === undefined) {
      this.parts.sometimes.happened('a second opener found the world locked');
      throw new RepriseError('world_locked', 'the world is already open for writing', { where: this.#platter.label });
    }
    const ended = this.held ? this.#takenOver() : this.#ended;
    this.#lost = undefined;
    this.#users.add(process);
    this.#owner = process;
    this.#ended = 'died'; // unless it closes the store
    this.#open ??= await this.#platter.open();
    const open = this.#open;
    const cleanlyClosed = open.cleanlyClosed && ended === 'clean';
    const markAtOpen = this.#mark ?? open.markAtOpen;
    const hash = open.hash === undefined ? {} : { hash: open.hash };
    return { ...hash, ...this.#viewOf(process, open), cleanlyClosed, ended, markAtOpen };
  }

  /** A process is let in beside those that have the store open (K3). */
  #takenOver(): 'lost' {
    this.wasTakenOver = true;
    if (this.#lost === 'lease') {
      for (const user of this.#users) this.#fenced.add(user);
      this.parts.sometimes.happened('a second writer was let in, and the lease of the first was over');
    } else {
      this.wasShared = true;
      this.parts.sometimes.happened('a second writer was let in, for the lock was lost');
    }
    return 'lost';
  }

  /** K3: a process without its lease is refused, wherever it looks for what it owns. */
  #requireLease(process: SimulatedProcess): void {
    if (!this.#fenced.has(process)) return;
    this.parts.sometimes.happened('a writer without its lease was fenced');
    throw new RepriseError('fenced', 'another process has taken this world over', { where: this.#platter.label });
  }

  #viewOf(process: SimulatedProcess, open: OpenStore): Pick<OpenStore, 'journal' | 'content' | 'mark' | 'close'> {
    const look = <T>(what: string, then: () => Promise<T>) => this.#look(process, what, then);
    const write = <T>(what: string, then: () => Promise<T>) => this.#write(process, what, then);
    const { journal, content } = open;
    return {
      journal: {
        head: () =>
          look('head', () => {
            this.#requireLease(process);
            return journal.head();
          }),
        findKey: (key) => look('find key', () => journal.findKey(key)),
        findLast: (kind, seq) => look('find last', () => journal.findLast(kind, seq)),
        read: (from, to) => this.#read(process, 'read', () => journal.read(from, to)),
        append: (frames, expected) => this.#append(process, open, frames, expected),
      },
      content: {
        get: (ref) => look('get', () => content.get(ref)),
        has: (ref) => look('has', () => content.has(ref)),
        erasedBy: (ref) => look('erased by', () => content.erasedBy(ref)),
        erasedThrough: () => look('erased through', () => content.erasedThrough()),
        list: () => this.#read(process, 'list', () => content.list()),
        put: (bytes) => look('put', () => this.#unlessFull(() => content.put(bytes))),
        putStream: (pieces) => look('put stream', () => this.#unlessFull(() => content.putStream(pieces))),
        erase: (refs, by) => write('erase', () => content.erase(refs, by)),
      },
      mark: (note) =>
        write('mark', async () => {
          this.#requireLease(process);
          await open.mark(note);
          this.#mark = note;
        }),
      close: () => write('close', () => this.#closed(process)),
    };
  }

  async #closed(process: SimulatedProcess): Promise<void> {
    if (!this.#users.delete(process)) return;
    if (process === this.#owner) this.#ended = 'clean';
    if (this.#users.size > 0) return;
    await this.#open?.close();
    this.#open = undefined;
  }

  /** K2: before the turn, something may go wrong; after it, the answer still has to arrive. */
  async #append(
    process: SimulatedProcess,
    { journal }: OpenStore,
    frames: readonly StoredFrame[],
    expected: Head,
  ): Promise<Head> {
    const { turnstile, sometimes } = this.parts;
    await turnstile.wait(process, 'append');
    const { trouble } = this;
    this.trouble = undefined;
    this.#requireLease(process);
    if (this.full) throw storeFull();
    if (trouble === 'fails' && !this.wasShared) {
      this.#doubting.add(process);
      throw new RepriseError('store_failed', 'the write failed');
    }
    const head = await journal.append(frames, expected).catch((thrown: unknown) => {
      sometimes.happened('a writer without the lock was stopped by the head');
      throw thrown;
    });
    this.parts.durable(frames);
    await turnstile.wait(process, 'append answers');
    if (trouble === 'answer lost') throw new RepriseError('store_failed', 'the answer was lost');
    return head;
  }

  async #unlessFull<T>(then: () => Promise<T>): Promise<T> {
    if (this.full) throw storeFull();
    return then();
  }

  async #look<T>(process: SimulatedProcess, what: string, then: () => Promise<T>): Promise<T> {
    const { turnstile, choices } = this.parts;
    const doubts = this.#doubting.delete(process);
    if (!process.dead && (doubts || choices.once(WAITS_ONCE_IN))) await turnstile.wait(process, what);
    else await turnstile.hurry(process, what);
    return then();
  }

  /** K1: executed, and answered later. */
  async #write<T>(process: SimulatedProcess, what: string, then: () => Promise<T>): Promise<T> {
    await this.parts.turnstile.wait(process, what);
    const done = await then();
    await this.parts.turnstile.hurry(process, `${what} answers`);
    return done;
  }

  async *#read<T>(process: SimulatedProcess, what: string, items: () => AsyncIterable<T>): AsyncGenerator<T> {
    await this.#look(process, what, async () => undefined);
    for await (const item of items()) {
      await this.parts.turnstile.hurry(process, what);
      yield item;
    }
  }
}

function storeFull(): RepriseError {
  return new RepriseError('store_full', 'no space is left on the disk');
}
