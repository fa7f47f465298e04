/**
 * The one writer of a world: takes input in, folds it, commits it, and only then lets any result out.
 *
 * Invariants
 * W1  One loop. Nothing is folded while a commit is under way, so only one batch is ever speculative.
 * W2  No acknowledgement, refusal, read or effect leaves before the frames it was computed on are durable. The answer of
 *     a durable frame to a repeated request leaves at once, whether or not the batch commits.
 * W3  A failed commit takes the batch back. Requests get `commit_failed`, or, when it is unknown what became durable, the
 *     error that closes the world; own inputs go back to the head of the queue.
 * W4  Nothing comes between a frame and its `continue` frames: no other input, and no read.
 * W5  A long cascade becomes durable in pieces, in order, so that memory does not bound its length. Its outcome is
 *     reported with the last of them, or when no more of them is written.
 * W6  On a store that another process can take over, what memory alone answers, a read or a refusal, leaves only while
 *     this opening certainly owns the store. What is written is fenced by the store itself.
 */
import { type ErrorCode, type IngressRecord, isRepriseError, type RepriseError } from '@reprise/contracts';
import type { ContentStore } from '../../../ports/content/port.js';
import type { Head } from '../../../ports/journal/port.js';
import type { Tenure } from '../../../ports/store/tenure.js';
import type { Clock } from '../../../ports/time/clock.js';
import { after, type MaybePromise, rescued } from '../../../ports/time/maybe-promise.js';
import type { Stamper } from '../../../ports/time/stamper.js';
import { macrotask } from '../../../ports/time/turn.js';
import { Refusal } from '../../../pure/engine/index.js';
import { appendBatch, type Batch, newBatch } from './batch.js';
import { type EffectSlots, FrameFolder, type FrameFolderParts } from './frame-folder.js';
import { type CommittedFrame, type IngressOutcome, outcomeOf, type QueuedIngress, type Stamps } from './ingress.js';
import { continueInput } from './own-inputs.js';
import { Duplicate, Known } from './repetition.js';
import { ANOTHER_WRITER, failure, isLost, tenureOver } from './write-failures.js';

/** Frames in one commit; more would raise latency without any gain. */
const BATCH_FRAMES_MAX = 512;

/** The most bytes of frames in one commit of the store. */
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes of a batch after which the rest of a cascade is a batch of its own (W5). */
const CASCADE_BATCH_BYTES_MAX = 1024 * 1024;

/** How long own inputs wait before a commit is tried again, doubling from the first to the second. */
const RETRY_MS_FIRST = 50;
const RETRY_MS_MAX = 5_000;

/** Errors after which the world closes, even when only a request meets them: our own defect, or another writer. */
const CLOSING: readonly ErrorCode[] = ['internal_error', 'fenced'];

/** What the stepper needs from its world. */
export interface StepperHost extends EffectSlots {
  /** Frames became durable, in order. */
  committed(frames: readonly CommittedFrame[]): void;
  /** Writes a commit for which a number of inputs wait. */
  commits<T>(waiting: number, commit: () => Promise<T>): Promise<T>;
  /** The store is full, and own inputs wait until it has room. */
  storeFull(error: RepriseError, waiting: number): void;
  /** Called when the world can write no more. */
  closed(error: RepriseError): void;
}

/** The collaborators of a stepper. */
interface StepperParts extends FrameFolderParts {
  readonly content: ContentStore;
  readonly clock: Clock;
  readonly stamper: Stamper;
  readonly host: StepperHost;
  /** The ownership of a store that another process can take over; absent with a lock. */
  readonly tenure?: Tenure;
}

/** Folds inputs into frames, and commits them in order. */
export class Stepper {
  readonly #queue: QueuedIngress[] = [];
  readonly #tasks: (() => Promise<void>)[] = [];
  /** Called when a task is added while the loop waits for room. */
  #taskAdded = (): void => undefined;
  /** Aborted when the world no longer waits for room in a full store. */
  readonly #hurry = new AbortController();
  #running: Promise<void> | undefined;
  #closed: RepriseError | undefined;
  /** The error with which a full store closes the stepper; undefined while own inputs wait for room. */
  #whenFull: ((full: RepriseError) => RepriseError) | undefined = (full) => full;
  #retryMs = RETRY_MS_FIRST;
  /** The cascade of which only a part is durable (W5). */
  #unfinished: Unfinished | undefined;
  readonly #folder: FrameFolder;

  constructor(
    private readonly parts: StepperParts,
    private durable: Head,
  ) {
    this.#folder = new FrameFolder(parts);
  }

  get head(): Head {
    return this.durable;
  }

  /** True when nothing is queued, speculative or being committed. */
  get idle(): boolean {
    return this.#running === undefined;
  }

  /** Why nothing more is written; undefined while the stepper works. */
  get closedBy(): RepriseError | undefined {
    return this.#closed;
  }

  /** Adds an ingress to the end of the queue. */
  submit(item: QueuedIngress): void {
    if (this.#closed !== undefined) return item.settle({ status: 'refused', error: this.#closed });
    this.#queue.push(item);
    this.#wake();
  }

  /** Runs a task between commits, when memory and journal agree. */
  exclusively<T>(task: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed);
      const held = async (): Promise<T> => {
        const found = await task();
        this.#requireTenure(); // W6: the end of its tenure may have come while the task read
        return found;
      };
      this.#tasks.push(() => Promise.resolve().then(held).then(resolve, reject));
      this.#taskAdded();
      this.#wake();
    });
  }

  /** Resolves when there is nothing left to do now. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** From now on own inputs wait for room when the store is full; before, a full store closes the stepper. */
  waitForRoom(): void {
    this.#whenFull = undefined;
  }

  /** Processes the queue and closes. It does not wait for room in a full store. */
  async finish(error: RepriseError): Promise<void> {
    this.#whenFull = () => error;
    this.#hurry.abort();
    await this.settled();
    this.close(error);
  }

  /** Takes no more input; queued items are refused with `error`. */
  close(error: RepriseError): void {
    if (this.#closed === undefined) {
      this.#closed = error;
      this.#hurry.abort();
      this.parts.host.closed(error);
    }
    for (const item of this.#queue.splice(0)) item.settle({ status: 'refused', error: this.#closed });
    this.#finished(); // the next opening goes on with it
  }

  /**
   * Folds one frame and commits it at once; only while the loop rests (genesis, snapshots).
   *
   * @throws RepriseError `store_full`, `store_failed`, `fenced`: the store's error
   */
  async commitAlone(make: (stamps: Stamps) => IngressRecord): Promise<CommittedFrame> {
    const batch = newBatch(this.durable);
    const told: IngressOutcome[] = [];
    await this.#fold(batch, { own: false, make, settle: (outcome) => void told.push(outcome) });
    await this.#commit(batch);
    while (this.#unfinished !== undefined && this.#closed === undefined) {
      if (!(await this.#goOn(this.#unfinished))) await this.#pause();
    }
    const [outcome] = told;
    if (outcome?.status === 'committed') return outcome.frame;
    if (outcome?.status !== 'refused') throw new TypeError('a frame of its own is committed or refused');
    const { cause } = outcome.error.details;
    throw outcome.error.code === 'commit_failed' && isRepriseError(cause) ? cause : outcome.error;
  }

  #wake(): void {
    this.#running ??= this.#loop().finally(() => {
      this.#running = undefined;
      if (this.#hasWork()) this.#wake();
    });
  }

  #hasWork(): boolean {
    const isOpen = this.#closed === undefined;
    return this.#tasks.length > 0 || (isOpen && (this.#queue.length > 0 || this.#unfinished !== undefined));
  }

  async #loop(): Promise<void> {
    await Promise.resolve(); // W1: a task that submits must find the loop running
    while (this.#hasWork()) {
      if (this.#unfinished !== undefined && this.#closed === undefined) {
        if (!(await this.#goOn(this.#unfinished))) await this.#pause();
        continue;
      }
      const task = this.#tasks.shift();
      if (task !== undefined) {
        await task();
        continue;
      }
      const batch = newBatch(this.durable);
      await this.#fill(batch);
      await macrotask(); // callers about to submit join this commit
      if (this.#queue.length > 0) await this.#fill(batch);
      if (!(await this.#commit(batch))) await this.#pause();
    }
  }

  async #fill(batch: Batch): Promise<void> {
    while (
      !continues(batch) &&
      this.#queue.length > 0 &&
      batch.frames.length < BATCH_FRAMES_MAX &&
      batch.bytes < BATCH_BYTES_MAX
    ) {
      const folded = this.#fold(batch, this.#queue.shift() as QueuedIngress);
      if (folded !== undefined) await folded;
    }
  }

  /** Writes the next piece of a cascade. @returns false when it was taken back */
  async #goOn({ at }: Unfinished): Promise<boolean> {
    await macrotask(); // the process does other things between two pieces
    const batch = newBatch(this.durable);
    await this.#fold(batch, CONTINUE, at);
    return this.#commit(batch);
  }

  /** Folds an ingress and the rest of its cascade, or the next piece of it, into the batch. */
  #fold(batch: Batch, item: QueuedIngress, at = this.parts.stamper.stamp()): MaybePromise<void> {
    const before = batch.frames.length;
    const folded = () =>
      after(this.#folder.fold(batch, item, at), (frame) => {
        batch.outcomes.push({ item, outcome: { status: 'committed', frame } });
        return continues(batch) ? this.#foldCascade(batch, at) : undefined;
      });
    return rescued(folded, (thrown) => this.#refused(batch, item, thrown, batch.frames.length > before));
  }

  async #foldCascade(batch: Batch, at: number): Promise<void> {
    while (continues(batch) && batch.bytes < CASCADE_BATCH_BYTES_MAX) await this.#folder.fold(batch, CONTINUE, at);
  }

  /** @param isBegun frames of its cascade are in the batch */
  #refused(batch: Batch, item: QueuedIngress, thrown: unknown, isBegun: boolean): void {
    if (thrown instanceof Known) return item.settle(outcomeOf(thrown.answer)); // W2
    const outcome = outcomeOf(thrown);
    const answered = thrown instanceof Refusal || thrown instanceof Duplicate;
    batch.outcomes.push({ item, outcome });
    // Half a cascade must not become durable: nothing may come between a frame and its continuation (W4).
    if (outcome.status === 'refused' && isBegun) batch.broken = outcome.error;
    // An own input whose fold fails for a missing leaf, or by our own defect, is not lost: it recurs at the next open.
    if (outcome.status === 'refused' && (item.own || CLOSING.includes(outcome.error.code)) && !answered)
      this.close(outcome.error);
  }

  /** @returns false when the batch was taken back */
  async #commit(batch: Batch): Promise<boolean> {
    if (batch.broken !== undefined) return this.#fail(batch, batch.broken);
    if (!(await this.parts.host.commits(batch.outcomes.length, () => this.#write(batch)))) return false;
    this.#retryMs = RETRY_MS_FIRST;
    this.#publish(batch);
    return true;
  }

  /** @returns whether the batch is durable */
  async #write(batch: Batch): Promise<boolean> {
    try {
      if (batch.frames.length > 0) await appendBatch(batch, this.durable, this.parts);
      else this.#requireTenure(); // W6
      this.durable = batch.head;
    } catch (error) {
      return await this.#recover(batch, error);
    }
    return true;
  }

  // W6
  #requireTenure(): void {
    if (this.parts.tenure?.holds() === false) throw tenureOver();
  }

  /** Every frame of the batch is durable: now its outcomes may be reported. */
  #publish(batch: Batch): void {
    this.parts.host.committed(batch.frames.map(({ frame }) => frame));
    const last = continues(batch) ? batch.outcomes.pop() : undefined; // W5
    for (const { item, outcome } of batch.outcomes) item.settle(outcome);
    if (last === undefined) this.#finished();
    else this.#unfinished ??= { ...last, at: last.outcome.status === 'committed' ? last.outcome.frame.at : 0 };
  }

  /** The cascade under way is whole, or goes on when the world is opened again: its outcome is reported. */
  #finished(): void {
    const { item, outcome } = this.#unfinished ?? {};
    this.#unfinished = undefined;
    if (outcome !== undefined) item?.settle(outcome);
  }

  /** A commit failed. @returns true when it became durable after all */
  async #recover(batch: Batch, error: unknown): Promise<boolean> {
    // Another process with the same input writes the same bytes: a matching head does not prove who wrote it.
    if (isRepriseError(error, 'stale_head')) return this.#fail(batch, failure('fenced', ANOTHER_WRITER, error));
    if (isRepriseError(error) && isLost(error)) return this.#fail(batch, error);
    let durable: Head;
    try {
      durable = await this.parts.journal.head();
    } catch (unreadable) {
      if (isRepriseError(unreadable) && isLost(unreadable)) return this.#fail(batch, unreadable);
      return this.#fail(batch, failure('store_failed', 'the store failed and cannot be read back', unreadable));
    }
    if (durable.digest === batch.head.digest) {
      this.durable = batch.head;
      return true;
    }
    if (durable.digest !== this.durable.digest) {
      return this.#fail(batch, failure('fenced', ANOTHER_WRITER, error));
    }
    if (!isRepriseError(error, 'store_full')) {
      // After a failed write or fsync, reading back does not tell what the disk holds: close.
      return this.#fail(batch, failure('store_failed', 'the store failed while committing', error));
    }
    this.#takeBack(batch, failure('commit_failed', 'the commit failed and nothing became durable', error));
    const closing = this.#whenFull?.(error);
    if (closing !== undefined) this.close(closing);
    else this.#waitForRoom(error);
    return false;
  }

  /** Says what waits; nothing does when the batch had only requests. */
  #waitForRoom(full: RepriseError): void {
    const waiting = this.#queue.filter(({ own }) => own).length + (this.#unfinished === undefined ? 0 : 1);
    if (waiting > 0) this.parts.host.storeFull(full, waiting);
  }

  #fail(batch: Batch, error: RepriseError): false {
    this.#takeBack(batch, error);
    this.close(error);
    return false;
  }

  #takeBack(batch: Batch, refusal: RepriseError): void {
    this.parts.table.undo(batch.undo);
    for (const { riding } of batch.frames) this.parts.host.release(riding);
    const own: QueuedIngress[] = [];
    if (this.#unfinished !== undefined) {
      batch.outcomes.splice(0); // the next piece is made anew from what is durable
      this.#refuseRequests(refusal);
    }
    for (const { item } of batch.outcomes) {
      // An own input's outcome was computed on frames that never became durable: the next fold may decide otherwise.
      if (item.own) own.push(item);
      else item.settle({ status: 'refused', error: refusal });
    }
    this.#queue.unshift(...own);
    if (this.#closed !== undefined) this.close(this.#closed); // they will not be folded: they recur at the next open
  }

  /** Requests do not wait for room behind the rest of a cascade. */
  #refuseRequests(error: RepriseError): void {
    const waiting = this.#queue.splice(0);
    for (const item of waiting) {
      if (item.own) this.#queue.push(item);
      else item.settle({ status: 'refused', error });
    }
  }

  /** Waits before a commit is tried again. Tasks do not wait for room: memory and journal agree, but for W4. */
  async #pause(): Promise<void> {
    if (this.#queue.length === 0 && this.#unfinished === undefined) return;
    let over = false;
    const slept = this.parts.clock.sleep(this.#retryMs, this.#hurry.signal).then(() => {
      over = true;
    });
    while (!over) {
      const task = this.#unfinished === undefined ? this.#tasks.shift() : undefined;
      if (task === undefined) await Promise.race(this.#unfinished === undefined ? [slept, this.#nextTask()] : [slept]);
      else await task();
    }
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS_MAX);
  }

  #nextTask(): Promise<void> {
    return new Promise((resolve) => {
      this.#taskAdded = resolve;
    });
  }
}

/** A cascade of which only a part is durable: the input that began it. */
interface Unfinished {
  readonly item: QueuedIngress;
  readonly outcome: IngressOutcome;
  readonly at: number;
}

/** Whether the cascade of the last frame goes on. */
function continues({ frames }: Batch): boolean {
  return frames.at(-1)?.sealed.continues === true;
}

const CONTINUE: QueuedIngress = { own: true, settle: () => undefined, ...continueInput };
