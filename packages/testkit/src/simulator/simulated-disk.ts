/**
 * A disk between simulated processes and a store: every call waits for its turn, may fail, and ends with its process.
 *
 * Invariants
 * K1  An operation of a dead process that was not executed never is; an executed one stays, whether it was answered or
 *     not.
 * K2  An append is executed whole or not at all, as the port's contract requires. Content that was stored without a
 *     later append is lost with its process.
 * K3  One process has the store open, unless the lock was lost: then a second one may open it, and the first finds out
 *     by a refused append. From then on no append fails without a reason: the head could not tell whether it was
 *     executed, because the other process may have written the same bytes.
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

/** A simulated disk. */
export class SimulatedDisk {
  /** While true, nothing can be written. */
  full = false;
  /** The trouble of the next append. */
  trouble: DiskTrouble | undefined;
  /** Whether a second process was ever let in. */
  wasShared = false;
  readonly #platter: CrashableStore;
  readonly #users = new Set<SimulatedProcess>();
  #open: OpenStore | undefined;
  #clean = true;
  #mark: string | null = null;
  #lockLost = false;

  constructor(private readonly parts: DiskParts) {
    this.#platter = parts.platter ?? memory();
  }

  /** Whether a process has the store open. */
  get held(): boolean {
    return this.#users.size > 0;
  }

  /** Loses the lock: the next process that opens the store is let in beside its owner. */
  loseLock(): void {
    this.#lockLost = true;
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
    this.#clean = false;
    if (this.#users.size > 0) return;
    if (this.#platter.crash === undefined) await this.#open?.close();
    else await this.#platter.crash();
    this.#open = undefined;
  }

  async #openFor(process: SimulatedProcess): Promise<OpenStore> {
    await this.parts.turnstile.wait(process, 'open');
    if (this.held && !this.#lockLost) {
      this.parts.sometimes.happened('a second opener found the world locked');
      throw new RepriseError('world_locked', 'the world is already open for writing', { where: this.#platter.label });
    }
    if (this.held) {
      this.wasShared = true;
      this.parts.sometimes.happened('a second writer was let in, for the lock was lost');
    }
    this.#lockLost = false;
    this.#users.add(process);
    this.#open ??= await this.#platter.open();
    const open = this.#open;
    const cleanlyClosed = open.cleanlyClosed && this.#clean;
    const markAtOpen = this.#mark ?? open.markAtOpen;
    this.#clean = true;
    return { ...(open.hash && { hash: open.hash }), ...this.#viewOf(process, open), cleanlyClosed, markAtOpen };
  }

  #viewOf(process: SimulatedProcess, open: OpenStore): Pick<OpenStore, 'journal' | 'content' | 'mark' | 'close'> {
    const look = <T>(what: string, then: () => Promise<T>) => this.#look(process, what, then);
    const write = <T>(what: string, then: () => Promise<T>) => this.#write(process, what, then);
    const { journal, content } = open;
    return {
      journal: {
        head: () => look('head', () => journal.head()),
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
          await open.mark(note);
          this.#mark = note;
        }),
      close: () => write('close', () => this.#closed(process)),
    };
  }

  async #closed(process: SimulatedProcess): Promise<void> {
    if (!this.#users.delete(process) || this.#users.size > 0) return;
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
    if (this.full) throw storeFull();
    if (trouble === 'fails' && !this.wasShared) throw new RepriseError('store_failed', 'the write failed');
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
    if (!process.dead && choices.once(WAITS_ONCE_IN)) await turnstile.wait(process, what);
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
