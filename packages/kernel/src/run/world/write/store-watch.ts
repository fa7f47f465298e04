/**
 * Watches for a store that is full or slow while others wait for it: where no caller waits, nobody else would tell the
 * operator. Every call of the store passes here: see `watched-store.ts`.
 */
import { RepriseError } from '@reprise/contracts';
import { type Clock, WAKE } from '../../../ports/time/clock.js';
import { inNextTurn } from '../../../ports/time/turn.js';
import type { StoreTrouble } from '../../../state/trouble.js';

/** How long a store may work on one thing before it is slow, in milliseconds: far above the sync of a busy disk. */
const STORE_SLOW_MS = 1_500;

/** How often a trouble that lasts is reported again, in milliseconds. */
export const REPORT_AGAIN_MS = 60_000;

/** The collaborators of a watch. */
interface StoreWatchParts {
  /** The label of the store. */
  readonly where: string;
  readonly clock: Clock;
  now(): number;
  /** Called once for each trouble, when it begins. */
  began(trouble: StoreTrouble): void;
  /** The list of troubles is another one now. */
  changed(): void;
  /** Reports the error: at once, and every minute while the trouble lasts. */
  report(error: RepriseError): void;
}

/** A call that the store has been working on for too long. */
interface Slow {
  readonly since: number;
}

/** A call of the store that has not ended. */
interface Call {
  /** When it began, on the monotonic clock. */
  readonly from: number;
  isOver: boolean;
  /** Ends the watch of a call that is not over within a turn of the event loop. */
  over?: AbortController;
}

/** The troubles of a world's store. */
export class StoreWatch {
  #full: StoreTrouble | undefined;
  #fullAt = 0;
  readonly #slow = new Set<Slow>();
  /** Called when the store becomes slow. */
  readonly #impatient = new Set<() => void>();
  /** The calls that are watched. */
  readonly #watched = new Set<Call>();
  /** Calls of this turn of the event loop: most end in it, and then cost no timer. */
  #begun: Call[] = [];
  /** The inputs of the commit under way. */
  #inputs = 0;
  #ended = false;

  constructor(private readonly parts: StoreWatchParts) {}

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
    else this.parts.changed();
    if (before !== undefined && clock.monotonic() - this.#fullAt < REPORT_AGAIN_MS) return;
    this.#fullAt = clock.monotonic();
    this.parts.report(error);
  }

  /** The store has taken a commit. */
  wrote(): void {
    if (this.#full === undefined) return;
    this.#full = undefined;
    this.parts.changed();
  }

  /** Writes a commit for which a number of inputs wait. */
  commit<T>(inputs: number, write: () => Promise<T>): Promise<T> {
    this.#inputs = inputs;
    const over = (): void => {
      this.#inputs = 0;
    };
    const written = write();
    written.then(over, over);
    return written;
  }

  /** Calls the store. A driver that blocks the process is seen when it returns: nothing runs before that. */
  during<T>(call: () => Promise<T>): Promise<T> {
    const { clock } = this.parts;
    const from = clock.monotonic();
    const called = call();
    const ms = clock.monotonic() - from;
    if (ms >= STORE_SLOW_MS && !this.#ended) this.parts.report(this.#slowError(ms));
    const end = this.begin();
    called.then(end, end);
    return called;
  }

  /** The store begins to work. @returns a function to call when it has ended */
  begin(): () => void {
    const call: Call = { from: this.parts.clock.monotonic(), isOver: false };
    if (this.#begun.push(call) === 1) inNextTurn(() => this.#watchAll());
    return () => {
      call.isOver = true;
      call.over?.abort(WAKE);
      this.#watched.delete(call);
    };
  }

  /** The world writes no more: what the store never ends is not waited for, and no timer keeps the process alive. */
  end(): void {
    this.#ended = true;
    for (const { over } of this.#watched) over?.abort(WAKE);
    this.#watched.clear();
  }

  /** Waits for something that may wait for the store; undefined when the store is slow. */
  async unlessSlow<T>(work: Promise<T>): Promise<T | undefined> {
    let leave = (): void => undefined;
    const slow = new Promise<undefined>((resolve) => {
      leave = () => resolve(undefined);
    });
    this.#impatient.add(leave);
    // What does not wait for the slow call has this turn.
    if (this.#slow.size > 0) inNextTurn(leave);
    try {
      return await Promise.race([work, slow]);
    } finally {
      this.#impatient.delete(leave);
    }
  }

  #watchAll(): void {
    for (const call of this.#begun.splice(0)) {
      if (call.isOver || this.#ended) continue;
      call.over = new AbortController();
      this.#watched.add(call);
      void this.#watch(call.from, call.over.signal);
    }
  }

  async #watch(from: number, over: AbortSignal): Promise<void> {
    await this.#wait(from + STORE_SLOW_MS, over);
    if (over.aborted) return;
    // Only now: what is quick does not read the wall clock.
    const slow = { since: this.parts.now() - STORE_SLOW_MS };
    const isFirst = this.#slow.size === 0;
    this.#slow.add(slow);
    const trouble = this.#slowNow();
    if (isFirst && trouble !== undefined) this.parts.began(trouble);
    else this.parts.changed();
    for (const leave of this.#impatient) leave();
    // One of several reports for all.
    for (let reports = isFirst; !over.aborted; reports = this.#oldest === slow) {
      if (reports) this.parts.report(this.#slowError(this.parts.now() - slow.since));
      await this.#wait(this.parts.clock.monotonic() + REPORT_AGAIN_MS, over);
    }
    this.#slow.delete(slow);
    this.parts.changed();
  }

  /** Waits until a moment on the monotonic clock. A clock may wake its sleepers early. */
  async #wait(end: number, over: AbortSignal): Promise<void> {
    const { clock } = this.parts;
    for (let left = end - clock.monotonic(); left > 0 && !over.aborted; left = end - clock.monotonic())
      await clock.sleep(left, over);
  }

  get #oldest(): Slow | undefined {
    const [oldest] = this.#slow;
    return oldest;
  }

  #slowNow(): StoreTrouble | undefined {
    const oldest = this.#oldest;
    if (oldest === undefined) return undefined;
    const { size } = this.#slow;
    // One of the slow calls belongs to the commit under way, for which its inputs wait.
    const waiting = this.#inputs === 0 ? size : size - 1 + this.#inputs;
    return { kind: 'store_slow', where: this.parts.where, code: 'store_slow', since: oldest.since, waiting };
  }

  #slowError(ms: number): RepriseError {
    return new RepriseError('store_slow', 'the store has not answered for some time', {
      where: this.parts.where,
      actual: `${Math.round(ms / 1_000)} seconds`,
      hint: 'Check the disk: the world goes on by itself when the disk does.',
    });
  }
}
