/**
 * Follows a world that another process may write: its frames in order, each once, and new ones as they become durable.
 *
 * Invariants
 * W1  Only durable frames are read, in their order: a reader has a prefix of the journal at any time.
 * W2  A hint of the store only ends a wait early. With all hints lost, everything arrives by looking again and again.
 * W3  What is read continues what was read, by the chain of hashes: a journal that fell back, or that was written anew from
 *     some frame on, ends the reading and is never mixed with the one before.
 * W4  A reader holds one page of its store, however slow it is: it asks for the next frame only when it is asked for it.
 */
import {
  aSignal,
  isRepriseError,
  type KnownOptions,
  RepriseError,
  requireKnownOptions,
  wholeFrom,
} from '@reprise/contracts';
import { nextHead } from '../../ports/journal/chain.js';
import { EMPTY_HEAD, type Head, type StoredFrame } from '../../ports/journal/port.js';
import type { ReadonlyStore } from '../../ports/store/store.js';
import { type Clock, systemClock } from '../../ports/time/clock.js';
import { requireReadable } from '../../pure/arguments/stores.js';
import { portableSha256 } from '../../pure/codec/hash.js';
import { Bell } from './bell.js';

/** How {@link followHeads} looks at a world. */
export interface LookOptions {
  /** Ends it, without an error. */
  readonly signal?: AbortSignal;
  /** The longest time between two looks, in milliseconds; 1,000 when absent. A hint of the store makes the next one earlier. */
  readonly pollMs?: number;
  /** How long a store that fails is asked again before its error ends the reading, in milliseconds; 60,000 when absent. */
  readonly patienceMs?: number;
}

/** From where a world is followed, and for how long. */
export interface FollowFramesOptions extends LookOptions {
  /** The first frame; 0 when absent. */
  readonly from?: number;
  /**
   * Yields nothing before the journal has this frame where it is read, such as the one that an acknowledgement names: a
   * replica may not have it yet.
   */
  readonly atLeast?: number;
  /** How long to wait for the frame `atLeast`, in milliseconds; 30,000 when absent. */
  readonly within?: number;
}

/** The longest time of a timer of the platform. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const LOOK_OPTIONS: KnownOptions<LookOptions> = {
  signal: aSignal,
  pollMs: wholeFrom(1, TIMER_MS_MAX),
  patienceMs: wholeFrom(0, TIMER_MS_MAX),
};

/** What may be passed to {@link followFrames}, for callers that pass it on. */
export const FOLLOW_OPTIONS: KnownOptions<FollowFramesOptions> = {
  ...LOOK_OPTIONS,
  from: wholeFrom(0),
  atLeast: wholeFrom(0),
  within: wholeFrom(0, TIMER_MS_MAX),
};

const POLL_MS = 1_000;
const PATIENCE_MS = 60_000;
const WITHIN_MS = 30_000;

/** Between two questions whether a world has moved, which hardly ever happens, in milliseconds. */
const STATUS_MS = 1_000;

/**
 * Looks at the end of a journal again and again: at once, after each hint of the store, and at least every `pollMs`.
 *
 * @returns the durable head at each look, also when it is the same
 * @throws RepriseError `head_mismatch` when the journal has become shorter; `world_elsewhere` when the world has moved; and
 *   the errors of the store
 */
export function followHeads(store: ReadonlyStore, options: LookOptions = {}): AsyncGenerator<Head, void> {
  return new Follower(store, options, systemClock).heads();
}

/**
 * Follows the frames of a world from any process: those that are durable, then new ones, until the signal is aborted. While
 * the store cannot be reached it waits, for at most `patienceMs`. It takes no lock and writes nothing to the world.
 *
 * @param store the world, open for reading; it stays open
 * @throws RepriseError `reader_behind` when the journal has no frame `atLeast` in time; `head_mismatch` when what follows is
 *   not of the journal that was read; `world_elsewhere` when the world has moved and all that it had here is read; and the
 *   errors of the store
 * @example
 * const store = await postgres(url).world('home').openReadonly()
 * for await (const { seq, bytes } of followFrames(store, { from: 0, signal })) index(readFrame(bytes, seq))
 */
export function followFrames(
  store: ReadonlyStore,
  options: FollowFramesOptions = {},
): AsyncGenerator<StoredFrame, void> {
  return followWith(systemClock, store, options);
}

/** {@link followFrames} with a clock of its own, for tests. */
export function followWith(
  clock: Clock,
  store: ReadonlyStore,
  options: FollowFramesOptions,
): AsyncGenerator<StoredFrame, void> {
  requireReadable(store, 'followFrames');
  requireKnownOptions(options, FOLLOW_OPTIONS, 'followFrames');
  return new Follower(store, options, clock).frames(options);
}

/** One reading of a world that goes on. */
class Follower {
  readonly #signal: AbortSignal | undefined;
  readonly #pollMs: number;
  readonly #patienceMs: number;
  /** Since when the store has failed without a success, by the monotonic clock. */
  #failsSince: number | undefined;
  /** When the store is asked next whether the world has moved, by the monotonic clock. */
  #asksAt = Number.NEGATIVE_INFINITY;
  /** When waiting for a frame ends, by the monotonic clock. */
  #until = Number.POSITIVE_INFINITY;

  constructor(
    private readonly store: ReadonlyStore,
    { signal, pollMs = POLL_MS, patienceMs = PATIENCE_MS }: LookOptions,
    private readonly clock: Clock,
  ) {
    this.#signal = signal;
    this.#pollMs = pollMs;
    this.#patienceMs = patienceMs;
  }

  async *heads(): AsyncGenerator<Head, void> {
    let before: Head | undefined;
    for await (const head of this.#looks()) {
      if (head === undefined) continue;
      this.#failsSince = undefined;
      yield head;
      if (head.digest === before?.digest) await this.#requireHere(head);
      before = head;
    }
  }

  async *frames({
    from = 0,
    atLeast = -1,
    within = WITHIN_MS,
  }: FollowFramesOptions): AsyncGenerator<StoredFrame, void> {
    let last: Head | undefined = from === 0 ? EMPTY_HEAD : undefined;
    let next = from;
    this.#until = atLeast < 0 ? Number.POSITIVE_INFINITY : this.clock.monotonic() + within;
    for await (const head of this.#looks()) {
      if (head === undefined || head.seq < atLeast) {
        if (this.clock.monotonic() >= this.#until) throw behind(atLeast, head);
        if (head !== undefined) this.#failsSince = undefined;
        continue;
      }
      this.#until = Number.POSITIVE_INFINITY;
      try {
        for await (const frame of this.store.journal.read(next, head.seq)) {
          if (this.#isOver) return;
          this.#failsSince = undefined;
          last = this.#after(last, frame);
          next = frame.seq + 1;
          yield frame;
        }
        this.#failsSince = undefined; // not before: a store may tell its head, and never give what is before it
      } catch (error) {
        this.#bear(error);
      }
      if (last?.seq === head.seq && last.digest !== head.digest) throw anotherJournal(head.seq);
      if (next > head.seq) await this.#requireHere(head);
    }
  }

  /** Ends a reading of a world that has moved, once all of it is read. Asked now and then. */
  async #requireHere({ seq }: Head): Promise<void> {
    const now = this.clock.monotonic();
    if (this.store.status === undefined || now < this.#asksAt) return;
    this.#asksAt = now + STATUS_MS;
    try {
      const { movedTo } = await this.store.status();
      if (movedTo !== undefined && (await this.store.journal.head()).seq === seq) throw moved(movedTo);
    } catch (error) {
      this.#bear(error);
    }
  }

  /** The durable head at each look; undefined while the store fails. */
  async *#looks(): AsyncGenerator<Head | undefined, void> {
    const bell = new Bell(this.store, this.clock);
    let before = -1;
    try {
      while (!this.#isOver) {
        const head = await this.#head();
        if (head !== undefined && head.seq < before) throw shorter(before, head.seq);
        before = head?.seq ?? before;
        yield head;
        if (this.#isOver) return;
        const left = Math.max(0, this.#until - this.clock.monotonic());
        await bell.wait(Math.min(this.#pollMs, left), this.#signal);
      }
    } finally {
      bell.stop();
    }
  }

  async #head(): Promise<Head | undefined> {
    try {
      return await this.store.journal.head();
    } catch (error) {
      return this.#bear(error);
    }
  }

  /** Waits out a store that fails for a while, such as a database that starts again. @throws the error of one that goes on failing */
  #bear(error: unknown): undefined {
    const now = this.clock.monotonic();
    this.#failsSince ??= now;
    if (!isRepriseError(error, 'store_failed') || now - this.#failsSince >= this.#patienceMs) throw error;
    return undefined;
  }

  /** The head after one more frame, which continues the one before (W3). */
  #after(last: Head | undefined, { seq, head: digest, bytes }: StoredFrame): Head {
    const hash = this.store.hash ?? portableSha256;
    if (last !== undefined && nextHead(last, bytes, hash).digest !== digest) throw anotherJournal(seq);
    return { seq, digest };
  }

  get #isOver(): boolean {
    return this.#signal?.aborted === true;
  }
}

function behind(atLeast: number, head: Head | undefined): RepriseError {
  return new RepriseError('reader_behind', 'a reader did not have a frame in its time', {
    expected: `frame ${atLeast}`,
    actual: head === undefined ? 'a store that fails' : head.seq < 0 ? 'no frame' : `frame ${head.seq}`,
    hint: 'Is it the number of a frame of this world? A replica may be late: wait longer, or read the primary.',
  });
}

function shorter(before: number, after: number): RepriseError {
  return new RepriseError('head_mismatch', 'the journal became shorter while it was followed', {
    expected: `frame ${before}`,
    actual: after < 0 ? 'no frame' : `frame ${after}`,
    hint: 'The world was restored or replaced. Read it again from the beginning.',
  });
}

function moved(to: string): RepriseError {
  return new RepriseError('world_elsewhere', 'this world has moved to another store', {
    expected: 'the world where it is in use',
    actual: to,
    hint: 'All that it had here was read. Follow it there, from the next frame on.',
  });
}

function anotherJournal(seq: number): RepriseError {
  return new RepriseError('head_mismatch', 'the journal was written anew while it was followed', {
    where: `frame ${seq}`,
    expected: 'a frame that continues the ones that were read',
    hint: 'The world was restored or replaced. Read it again from the beginning.',
  });
}
