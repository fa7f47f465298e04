/**
 * Watches for a store that is full or slow while others wait for it: where no caller waits, nobody else would tell the
 * operator.
 */
import { RepriseError } from '@reprise/contracts';
import { type Clock, WAKE } from '../../../ports/time/clock.js';
import type { StoreTrouble } from '../../state/trouble.js';

/** How long a store may work on one thing before it is slow, in milliseconds: far above the sync of a busy disk. */
const STORE_SLOW_MS = 1_500;

/** How often a trouble that lasts is reported again, in milliseconds. */
export const REPORT_AGAIN_MS = 60_000;

/** The collaborators of a watch. */
interface StoreWatchParts {
  /** The label of the store. */
  readonly where: string;
  readonly clock: Clock;
  /** The journal time now. */
  now(): number;
  /** A new trouble, once. */
  began(trouble: StoreTrouble): void;
  /** Reports the error: at once, and every minute while the trouble lasts. */
  report(error: RepriseError): void;
}

/** Something that the store has been working on for too long. */
interface Slow {
  readonly since: number;
  readonly waiting: number;
}

/** The troubles of a world's store. */
export class StoreWatch {
  #full: StoreTrouble | undefined;
  #fullAt = 0;
  readonly #slow = new Set<Slow>();
  /** Called when the store becomes slow. */
  readonly #impatient = new Set<() => void>();
  /** Ends the watch of each thing that the store works on. */
  readonly #watched = new Set<AbortController>();
  #ended = false;

  constructor(private readonly parts: StoreWatchParts) {}

  /** The troubles that last. */
  get troubles(): readonly StoreTrouble[] {
    const slow = this.#slowNow();
    return [...(this.#full === undefined ? [] : [this.#full]), ...(slow === undefined ? [] : [slow])];
  }

  /** A commit found the store full, and inputs wait for room. */
  full(error: RepriseError, waiting: number): void {
    const { where, clock, now } = this.parts;
    const before = this.#full;
    this.#full = { kind: 'store_full', where, code: 'store_full', since: before?.since ?? now(), waiting };
    if (before === undefined) this.parts.began(this.#full);
    else if (clock.monotonic() - this.#fullAt < REPORT_AGAIN_MS) return;
    this.#fullAt = clock.monotonic();
    this.parts.report(error);
  }

  /** The store has taken a commit. */
  wrote(): void {
    this.#full = undefined;
  }

  /** Does something in the store for which others wait. */
  async during<T>(waiting: number, work: () => Promise<T>): Promise<T> {
    if (this.#ended) return work();
    const over = new AbortController();
    this.#watched.add(over);
    void this.#watch(waiting, over.signal);
    try {
      return await work();
    } finally {
      this.#watched.delete(over);
      over.abort(WAKE);
    }
  }

  /** The world writes no more: what the store never ends is not waited for, and no timer keeps the process alive. */
  end(): void {
    this.#ended = true;
    for (const over of this.#watched) over.abort(WAKE);
    this.#watched.clear();
  }

  /** Waits for something that waits for the store; undefined when the store is slow. */
  async unlessSlow<T>(work: Promise<T>): Promise<T | undefined> {
    let leave = (): void => undefined;
    const slow = new Promise<undefined>((resolve) => {
      leave = () => resolve(undefined);
    });
    this.#impatient.add(leave);
    if (this.#slow.size > 0) leave();
    try {
      return await Promise.race([work, slow]);
    } finally {
      this.#impatient.delete(leave);
    }
  }

  async #watch(waiting: number, over: AbortSignal): Promise<void> {
    await this.#wait(STORE_SLOW_MS, over);
    if (over.aborted) return;
    // Only now: what is quick does not read the wall clock.
    const slow = { since: this.parts.now() - STORE_SLOW_MS, waiting };
    const isFirst = this.#slow.size === 0;
    this.#slow.add(slow);
    const trouble = this.#slowNow();
    if (isFirst && trouble !== undefined) this.parts.began(trouble);
    for (const leave of this.#impatient) leave();
    // One of several reports for all.
    for (let reports = isFirst; !over.aborted; reports = this.#oldest === slow) {
      if (reports) this.parts.report(this.#slowError());
      await this.#wait(REPORT_AGAIN_MS, over);
    }
    this.#slow.delete(slow);
  }

  /** A clock may wake its sleepers early. */
  async #wait(ms: number, over: AbortSignal): Promise<void> {
    const { clock } = this.parts;
    const end = clock.monotonic() + ms;
    for (let left = ms; left > 0 && !over.aborted; left = end - clock.monotonic()) await clock.sleep(left, over);
  }

  get #oldest(): Slow | undefined {
    const [oldest] = this.#slow;
    return oldest;
  }

  #slowNow(): StoreTrouble | undefined {
    const oldest = this.#oldest;
    if (oldest === undefined) return undefined;
    const waiting = [...this.#slow].reduce((sum, one) => sum + one.waiting, 0);
    return { kind: 'store_slow', where: this.parts.where, code: 'store_slow', since: oldest.since, waiting };
  }

  #slowError(): RepriseError {
    const { where, now } = this.parts;
    return new RepriseError('store_slow', 'the store has not answered for some time', {
      where,
      actual: `${Math.round((now() - (this.#oldest?.since ?? now())) / 1_000)} seconds`,
      hint: 'Check the disk: the world goes on by itself when the disk does.',
    });
  }
}
