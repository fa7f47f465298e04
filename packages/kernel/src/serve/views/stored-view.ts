/**
 * One view between the journal and the view store: its position, its fold, and the error that stopped it, if any.
 *
 * Invariants
 * V1  The store holds the view after exactly the frame that its mark names: entries and mark are one commit.
 * V2  A view is continued only where the journal still has the marked frame's head and the definition its digest;
 *     otherwise it is rebuilt from frame 0.
 * V3  A fold that fails stops its own view, before the frame it failed at. The world and other views go on.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { EMPTY_HEAD, type Head } from '../../ports/journal/port.js';
import type { OpenViewStore, ViewCommit, ViewMark } from '../../ports/views/port.js';
import type { WorldFrame } from '../../run/world/read/reading.js';
import { VIEW_BATCH_BYTES, VIEW_BATCH_FRAMES } from './bounds.js';
import { type Fold, foldFrame } from './fold-frame.js';
import { Overlay } from './overlay.js';
import { type FrameSource, headAfter } from './source.js';

/** A view that is kept up to date. */
export class StoredView {
  #overlay: Overlay;
  /** The mark in the store. */
  #mark: ViewMark | null = null;
  /** After the last frame that was folded. */
  #head: Head = EMPTY_HEAD;
  /** The last frame that readers see. */
  #seen = -1;
  #clear = false;
  #failure: RepriseError | undefined;

  constructor(
    readonly fold: Fold,
    private readonly store: OpenViewStore,
  ) {
    this.#overlay = new Overlay(store, fold.name);
  }

  /** Finds out where the view can be continued. */
  async begin(source: FrameSource): Promise<void> {
    this.#overlay = new Overlay(this.store, this.fold.name);
    this.#mark = await this.store.mark(this.fold.name);
    this.#clear = this.#mark !== null && !(await this.#standsIn(source, this.#mark)); // V2
    this.#head = this.#mark === null || this.#clear ? EMPTY_HEAD : { seq: this.#mark.seq, digest: this.#mark.head };
    this.#seen = this.#head.seq;
    if (this.#clear) await this.#commitAlone(); // emptied at once: rows of another journal must not be read
  }

  /** The last frame that readers see. */
  get seq(): number {
    return this.#seen;
  }

  /** Why it stopped; undefined while it runs. */
  get failure(): RepriseError | undefined {
    return this.#failure;
  }

  /** Folds a frame, unless it was folded before or the view has stopped. */
  async take(frame: WorldFrame): Promise<void> {
    if (this.#failure !== undefined || frame.seq <= this.#head.seq) return;
    try {
      await foldFrame(this.fold, this.#overlay, frame);
      this.#head = { seq: frame.seq, digest: frame.head };
      if (this.#overlay.changed === 0) this.#seen = frame.seq;
    } catch (error) {
      this.#failure = asFailure(this.fold.name, frame.seq, error); // V3
    }
  }

  /** Whether enough has gathered to be written. */
  get isFull(): boolean {
    return this.#overlay.bytes >= VIEW_BATCH_BYTES || this.#behind >= VIEW_BATCH_FRAMES;
  }

  /**
   * The changes to write; undefined for none. A mark alone waits: without changes the view
   * after a later frame is the same view.
   */
  pending(options: { readonly last: boolean }): ViewCommit | undefined {
    const changed = this.#overlay.changed > 0;
    if (!changed && (this.#behind === 0 || (!options.last && this.#behind < VIEW_BATCH_FRAMES))) return undefined;
    return this.#commitOf();
  }

  /** Called when a commit of {@link pending} is in the store. */
  committed({ mark }: ViewCommit): void {
    this.#overlay.committed();
    this.#mark = mark;
    this.#seen = mark.seq;
    this.#clear = false;
  }

  get #behind(): number {
    return this.#head.seq - (this.#mark?.seq ?? -1);
  }

  #commitOf(): ViewCommit {
    const mark = { seq: this.#head.seq, head: this.#head.digest, digest: this.fold.digest };
    const changes = this.#overlay.changes();
    return { view: this.fold.name, expected: this.#mark, clear: this.#clear, changes, mark };
  }

  async #commitAlone(): Promise<void> {
    const commit = this.#commitOf();
    await this.store.commit([commit]);
    this.committed(commit);
  }

  async #standsIn(source: FrameSource, mark: ViewMark): Promise<boolean> {
    if (mark.digest !== this.fold.digest) return false;
    if (mark.seq < 0) return true;
    return (await headAfter(source, mark.seq))?.digest === mark.head;
  }
}

function asFailure(view: string, seq: number, error: unknown): RepriseError {
  if (isRepriseError(error)) return error;
  return new RepriseError('view_failed', `the view ${view} could not be updated`, {
    where: `frame ${seq}`,
    view,
    seq,
    hint: 'Open the views again; if the error persists, delete their store: it is rebuilt from the journal.',
    cause: error,
  });
}
