/**
 * Keeps views up to date: reads frames once for all of them, folds, commits, and wakes waiting readers.
 *
 * Owns the order. {@link StoredView} owns one view, a fold the meaning of a frame.
 *
 * Invariants
 * K1  Only durable frames are folded: a view never shows a frame that may still be taken back.
 * K2  A commit and a page of a reader exclude each other.
 * K3  Another process may keep the same views. A process that finds a mark moved reads it again and continues from
 *     there; both fold the same frames to the same bytes.
 * K4  Rebuilding a view, perhaps from a million frames, yields to other work: a store that answers at once
 *     would otherwise block every timer and request until the end.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { macrotask } from '../../ports/time/turn.js';
import type { OpenViewStore } from '../../ports/views/port.js';
import type { WorldFrame } from '../../run/world/read/reading.js';
import { Gate } from './gate.js';
import type { FrameSource } from './source.js';
import type { StoredView } from './stored-view.js';

/** Frames folded between two yields. */
const FRAMES_PER_TURN = 32;

interface Waiting {
  readonly views: readonly StoredView[];
  readonly seq: number;
  readonly done: (error?: RepriseError) => void;
}

const OVER = new RepriseError('world_closed', 'these views are closed', { hint: 'Open them again.' });

/** Keeps views up to date with a source. */
export class Keeper {
  readonly gate = new Gate();
  readonly #leave = new AbortController();
  readonly #waiting = new Set<Waiting>();
  #running: Promise<void> | undefined;
  /** Why following ended; undefined while it goes on. */
  #ended: RepriseError | undefined;

  constructor(
    private readonly source: FrameSource,
    private readonly store: OpenViewStore,
    private readonly views: readonly StoredView[],
    private readonly onFailed: (error: RepriseError) => void = () => undefined,
  ) {}

  /** Reads where each view stands. Awaited before {@link start}. */
  async begin(): Promise<void> {
    for (const view of this.views) await view.begin(this.source);
  }

  /** Follows the source until it ends or `stop` is called. */
  start(): void {
    this.#running = this.#follow().then(
      () => this.#end(OVER),
      (thrown: unknown) => {
        const error = asError(thrown);
        this.#end(error);
        this.onFailed(error);
      },
    );
  }

  /** Follows a source that ends. @throws RepriseError the error that stopped it */
  async finish(): Promise<void> {
    await this.#follow();
    this.#end(OVER);
  }

  /** Resolves when these views show frame `seq`. Rejects when one of them has stopped before it. */
  caughtUp(views: readonly StoredView[], seq: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: RepriseError): void => (error === undefined ? resolve() : reject(error));
      this.#waiting.add({ views, seq, done });
      this.#tell();
    });
  }

  /** Stops following and writes what was folded. Idempotent. */
  async stop(): Promise<void> {
    this.#leave.abort();
    await this.#running;
  }

  async #follow(): Promise<void> {
    for (let again = true; again; ) again = !(await this.#followOnce());
  }

  /** Follows from where the views stand. @returns false when the marks have moved and must be read again (K3) */
  async #followOnce(): Promise<boolean> {
    const { source, views } = this;
    try {
      const first = Math.min(...views.filter((view) => view.failure === undefined).map((view) => view.seq)) + 1;
      if (Number.isFinite(first)) {
        for await (const frame of source.frames(first, this.#leave.signal)) {
          await this.#take(frame);
          const isNewest = frame.seq >= (await source.head()).seq;
          if (isNewest || views.some((view) => view.isFull)) await this.#commit(false);
          if (frame.seq % FRAMES_PER_TURN === 0) await macrotask(); // K4
          if (this.#leave.signal.aborted) break;
        }
      }
      await this.#commit(true);
      return true;
    } catch (error) {
      if (!isRepriseError(error, 'stale_head')) throw error;
      await this.gate.alone(() => this.begin());
      this.#tell();
      return false;
    }
  }

  async #take(frame: WorldFrame): Promise<void> {
    for (const view of this.views) {
      const stopped = view.failure;
      await view.take(frame);
      if (stopped === undefined && view.failure !== undefined) this.onFailed(view.failure);
    }
  }

  async #commit(last: boolean): Promise<void> {
    await this.gate.alone(async () => {
      const pending = this.views.flatMap((view) => {
        const commit = view.pending({ last });
        return commit === undefined ? [] : [{ view, commit }];
      });
      if (pending.length === 0) return;
      await this.store.commit(pending.map(({ commit }) => commit));
      for (const { view, commit } of pending) view.committed(commit);
    });
    this.#tell();
  }

  #tell(): void {
    for (const waiting of [...this.#waiting]) {
      const { views, seq, done } = waiting;
      const behind = views.filter((view) => view.seq < seq);
      const stopped = behind.map((view) => view.failure).find((error) => error !== undefined) ?? this.#ended;
      if (behind.length > 0 && stopped === undefined) continue;
      this.#waiting.delete(waiting);
      done(behind.length === 0 ? undefined : stopped);
    }
  }

  #end(why: RepriseError): void {
    this.#ended = why;
    this.#tell();
  }
}

function asError(error: unknown): RepriseError {
  if (isRepriseError(error)) return error;
  return new RepriseError('store_failed', 'the views could not be updated', { cause: error });
}
