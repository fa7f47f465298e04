/** A store in memory that is owned by a lease and a fence, as one in a database is; each fault breaks one promise of it. */
import { RepriseError } from '@reprise/contracts';
import { memory, type OpenStore, type Store } from '@reprise/kernel';
import type { FenceSubject } from '@reprise/testkit/ports';

/** What a broken store does otherwise. */
export type FenceFault =
  | 'append is not fenced'
  | 'head is not fenced'
  | 'note is not fenced'
  | 'late content stays'
  | 'take-over counts as a death'
  | 'close gives away'
  | 'lease comes again'
  | 'number stays'
  | 'second opener gets in'
  | 'openers are let in together'
  | 'reads take an append for a hole'
  | 'errors have no code'
  | 'failure loses a frame';

/** A subject with every ability, and one fault or none. */
export function fencedMemory(fault?: FenceFault): FenceSubject {
  const place = new Place(fault);
  const store: Store = { label: 'fenced memory', open: () => place.open(), openReadonly: () => place.openReadonly() };
  return {
    store,
    endTenure: async () => place.end(),
    failing: async () => {
      place.isFailing = true;
      return async () => {
        place.isFailing = false;
      };
    },
  };
}

class Place {
  readonly #inner = memory();
  #kept: Promise<OpenStore> | undefined;
  #epoch = 0;
  #owner: number | undefined;
  #before: 'clean' | 'lost' = 'clean';
  #lose: () => void = () => undefined;
  #appending = false;
  #appends = 0;
  isFailing = false;

  constructor(private readonly fault: FenceFault | undefined) {}

  async open(): Promise<OpenStore> {
    this.#requireStorage();
    const isHeld = this.#owner !== undefined;
    if (this.fault === 'openers are let in together') await Promise.resolve();
    if (isHeld && this.fault !== 'second opener gets in')
      throw new RepriseError('world_locked', 'another opening has it');
    if (this.fault !== 'number stays' || this.#epoch === 0) this.#epoch++;
    const epoch = this.#epoch;
    this.#owner = epoch;
    const ended = this.#before;
    this.#before = 'lost';
    this.#kept ??= this.#inner.open();
    return this.#viewOf(await this.#kept, epoch, ended);
  }

  async openReadonly() {
    this.#requireStorage();
    const reader = await this.#inner.openReadonly();
    const { journal } = reader;
    return {
      ...reader,
      journal: { ...journal, read: (from: number, to?: number) => this.#read(journal.read(from, to)) },
    };
  }

  end(): void {
    this.#owner = undefined;
    this.#lose();
  }

  #viewOf(kept: OpenStore, epoch: number, ended: 'clean' | 'lost'): OpenStore {
    const { journal, content } = kept;
    const fenced = async <T>(fault: FenceFault | undefined, then: () => Promise<T>): Promise<T> => {
      this.#requireStorage();
      if (this.#owner !== epoch && (fault === undefined || this.fault !== fault))
        throw new RepriseError('fenced', 'taken over');
      return then();
    };
    const asked = async <T>(then: () => Promise<T>): Promise<T> => {
      this.#requireStorage();
      return then();
    };
    let isOver = false;
    const lost = new Promise<void>((resolve) => {
      this.#lose = resolve;
    });
    const holds = (): boolean => {
      isOver ||= this.#owner !== epoch;
      return !isOver || this.fault === 'lease comes again';
    };
    return {
      ...kept,
      journal: {
        head: () => fenced('head is not fenced', () => journal.head()),
        read: (from, to) => this.#checked(journal.read(from, to)),
        findKey: (key) => asked(() => journal.findKey(key)),
        findLast: (kind, seq) => asked(() => journal.findLast(kind, seq)),
        append: (frames, expected) => fenced('append is not fenced', () => this.#append(kept, frames, expected)),
      },
      content: {
        ...content,
        get: (ref) => asked(() => content.get(ref)),
        has: (ref) => asked(() => content.has(ref)),
        put: (bytes) => fenced('late content stays', () => content.put(bytes)),
        erase: (refs, by) => fenced(undefined, () => content.erase(refs, by)),
      },
      cleanlyClosed: ended === 'clean',
      ended: this.fault === 'take-over counts as a death' && ended === 'lost' ? 'died' : ended,
      tenure: { epoch, holds, lost },
      mark: (note) => fenced('note is not fenced', () => kept.mark(note)),
      close: async () => {
        if (this.#owner !== epoch && this.fault !== 'close gives away') return;
        this.#owner = undefined;
        this.#before = 'clean';
      },
    };
  }

  /** With a fault, an append is in two steps: what it has not finished looks like a hole. */
  async #append(
    kept: OpenStore,
    frames: Parameters<OpenStore['journal']['append']>[0],
    expected: Parameters<OpenStore['journal']['append']>[1],
  ) {
    this.#appending = true;
    if (this.fault === 'reads take an append for a hole' && this.#appends++ > 0) await turns(3);
    try {
      return await kept.journal.append(frames, expected);
    } finally {
      this.#appending = false;
    }
  }

  async *#read(frames: AsyncIterable<import('@reprise/kernel').StoredFrame>) {
    await turns(1);
    if (this.fault === 'reads take an append for a hole' && this.#appending)
      throw new RepriseError('journal_damaged', 'a frame is missing');
    for await (const frame of frames) {
      if (this.fault === 'failure loses a frame' && this.#lostOne && frame.seq > 0) return;
      yield frame;
    }
  }

  async *#checked(frames: AsyncIterable<import('@reprise/kernel').StoredFrame>) {
    this.#requireStorage();
    yield* frames;
  }

  #lostOne = false;

  #requireStorage(): void {
    if (!this.isFailing) return;
    this.#lostOne = true;
    if (this.fault === 'errors have no code') throw new Error('connection terminated unexpectedly');
    throw new RepriseError('store_failed', 'the storage is gone');
  }
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve));
}
