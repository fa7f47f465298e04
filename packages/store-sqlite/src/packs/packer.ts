/**
 * When older frames and blobs are packed: in the transaction of an append, as soon as a whole pack waits, and at closing.
 * So each is packed once, a crash leaves it packed or not, and no append packs more than one pack per pack of new bytes.
 */

import { type FrameRow, PACK_BYTES_LEAST, PACK_BYTES_MAX } from '@reprise/packs';
import type { Riders } from '../database/schema.js';
import { isFull } from '../database/sqlite-errors.js';
import type { HeldFile } from '../file/held-file.js';
import { BlobPacker, type BlobPacks } from './blob-packs.js';
import { FramePacks } from './frame-packs.js';
import { WaitingFrames } from './waiting-frames.js';

/** Free pages from which closing gives them back to the file system. */
const FREE_PAGES_MIN = 8;

/** Blobs that wait for an append. */
export interface StagedBlobs extends Riders {
  /** The bytes that they take in a pack, those of blobs that are stored already included. */
  bytes(): number;
}

/** Bytes that wait for packing; an upper bound for blobs, since some were stored before. */
interface Waiting {
  readonly frames: WaitingFrames;
  blobs: number;
}

/** The transactions that store frames and blobs, and pack older ones. */
export class Packer {
  readonly #held: HeldFile;
  readonly #frames: FramePacks;
  readonly #blobs: BlobPacker;
  /** Undefined at first, and after a failure. */
  #waiting: Waiting | undefined;
  /** Packing failed, for another reason than a full disk: everything stays as it is until the next opening. */
  #failed = false;

  constructor(held: HeldFile, packs: BlobPacks) {
    this.#held = held;
    this.#frames = new FramePacks(held.db, held.path);
    this.#blobs = new BlobPacker(held.db, packs);
  }

  get blobs(): BlobPacker {
    return this.#blobs;
  }

  /**
   * {@link HeldFile.commit} of a body and the blobs that wait for it, with what is due for packing. Packing is left out
   * when it fails: an append does not need it.
   *
   * @param rows the rows of frames that the body stores
   */
  commit<T>(body: () => T, staged: StagedBlobs, rows: readonly FrameRow[]): T {
    const packing = { now: false };
    try {
      return this.#commit(body, staged, rows, this.#failed ? undefined : packing);
    } catch (error) {
      this.#waiting = undefined;
      if (!packing.now) throw error;
      this.#failed = !isFull(error);
      return this.#commit(body, staged, rows, undefined);
    }
  }

  /**
   * {@link HeldFile.commitRow} of a row of frames; not while blobs wait for an append, or a pack for its transaction.
   *
   * @param row what it writes
   * @returns whether it wrote the row
   */
  commitRow(write: () => number, staged: StagedBlobs, row: FrameRow): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined || staged.bytes() > 0) return false;
    if (waiting.blobs > PACK_BYTES_MAX || !waiting.frames.fits([row])) return false;
    this.#waiting = undefined; // counted again should the write fail
    const isWritten = this.#held.commitRow(write);
    if (isWritten) waiting.frames.takeRow(row);
    this.#waiting = waiting;
    return isWritten;
  }

  /** @param packing undefined to pack nothing */
  #commit<T>(body: () => T, staged: StagedBlobs, rows: readonly FrameRow[], packing: { now: boolean } | undefined): T {
    const waiting = this.#waiting ?? this.#count();
    this.#waiting = undefined; // counted again should the transaction fail
    waiting.blobs += staged.bytes();
    const pack = (work: () => void): void => {
      if (packing === undefined) return;
      packing.now = true;
      work();
      packing.now = false;
    };
    const write = (): void => {
      // Before the new blobs: packs are then as full as they can be.
      if (waiting.blobs > PACK_BYTES_MAX) pack(() => this.#packBlobs(waiting, staged.bytes()));
      staged.write();
      if (!waiting.frames.fits(rows)) pack(() => waiting.frames.pack(rows));
    };
    const done = this.#held.commit(body, { write, written: () => staged.written() });
    waiting.frames.take(rows);
    this.#waiting = waiting;
    return done;
  }

  /** What waits for an erasure is counted again: it takes blobs out of packs. */
  recount(): void {
    this.#waiting = undefined;
  }

  /** Packs what is left and gives free pages back; for closing. What fails waits for the next opening. */
  finish(): void {
    try {
      const frames = this.#frames.waiting() >= PACK_BYTES_LEAST;
      const blobs = this.#blobs.waiting() >= PACK_BYTES_LEAST;
      if (!frames && !blobs && this.#freePages() < FREE_PAGES_MIN) return;
      this.#held.commit(() => {
        if (frames) this.#frames.pack(PACK_BYTES_LEAST);
        if (blobs) this.#blobs.pack();
        this.#held.db.exec('PRAGMA incremental_vacuum');
      });
    } catch {
      // The world is whole without it; closing itself reports what is wrong with the file.
    }
  }

  #packBlobs(waiting: Waiting, more: number): void {
    const stored = this.#blobs.waiting();
    if (stored + more > PACK_BYTES_MAX) this.#blobs.pack();
    waiting.blobs = stored + more > PACK_BYTES_MAX ? more : stored + more;
  }

  #count(): Waiting {
    return { frames: new WaitingFrames(this.#frames), blobs: this.#blobs.waiting() };
  }

  #freePages(): number {
    const count = this.#held.db.prepare('PRAGMA freelist_count').get()?.[0];
    return typeof count === 'number' ? count : 0;
  }
}
