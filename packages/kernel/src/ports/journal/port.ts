/** The journal port: what a store must do to hold a world's frames. Suite: `testJournal` of the testkit. */

export { assertConsecutive, assertHead } from './append-checks.js';

/** The identity of a prefix of the journal. Genesis has `seq` −1 and the digest of 32 zero bytes' hex. */
export interface Head {
  /** The number of the last frame, −1 in an empty journal. */
  readonly seq: number;
  /** The chain digest after that frame, as 64 hex digits. */
  readonly digest: string;
}

/** The head of an empty journal. */
export const EMPTY_HEAD: Head = Object.freeze({ seq: -1, digest: '0'.repeat(64) });

/** A frame as a store holds it. `at`, `kind` and `head` are columns for people and indexes; the bytes are the truth. */
export interface StoredFrame {
  readonly seq: number;
  /** The ingress record's time, in milliseconds. */
  readonly at: number;
  /** The kind of the frame's ingress record: what caused it. */
  readonly kind: string;
  /** The chain digest after this frame, as 64 hex digits. */
  readonly head: string;
  /** The canonical bytes of the frame. */
  readonly bytes: Uint8Array;
  /**
   * The idempotency key of a frame whose ingress is a request, as 64 hex digits. A column for looking it up, passed
   * to `append` only: a reader computes it from the frame.
   */
  readonly key?: string;
}

/** The journal of a world. After its store was closed every method rejects with `world_closed`. */
export interface Journal {
  /**
   * The durable head.
   *
   * Contract: reads the store, not a cache: after a failed append it shows what became durable. When another opening has
   * taken the world over, it rejects with `fenced`: the new owner may have written the very bytes of the failed append,
   * so the head alone does not tell whose they are.
   */
  head(): Promise<Head>;

  /**
   * Appends frames as one atomic, durable unit.
   *
   * Contract:
   * - resolves only when the frames, and every blob put before the call, are durable;
   * - rejects with `stale_head` and writes nothing when `expected` is not the durable head;
   * - any other rejection (`store_full`, `store_failed`, `journal_damaged`) leaves all of the frames or none, and
   *   the caller re-reads `head()` to learn which;
   * - frames are consecutive and start at `expected.seq + 1`, else `invalid_argument`; one call at a time;
   * - an empty list writes no frame: it checks the head and makes the blobs put so far durable;
   * - keeps no reference to its arguments.
   */
  append(frames: readonly StoredFrame[], expected: Head): Promise<Head>;

  /**
   * Frames in order from `from` to `to`, both included, as far as the journal reaches when they are read.
   *
   * Contract:
   * - streams in bounded memory; an append between two frames is tolerated and may be seen;
   * - never repairs, skips or reorders: a hole or unreadable storage is `journal_damaged` naming the frame;
   * - the bytes are the caller's own: changing them does not change stored bytes.
   */
  read(from: number, to?: number): AsyncIterable<StoredFrame>;

  /**
   * The number of the durable frame that was appended under a key; undefined without one.
   *
   * Contract: an index over the journal, in one transaction with it; it may be rebuilt from the frames at any time.
   */
  findKey(key: string): Promise<number | undefined>;

  /** The newest frame of a kind at or before `seq`, by the `kind` column; undefined without one. */
  findLast(kind: string, seq: number): Promise<StoredFrame | undefined>;
}

/** A journal without the right to append. */
export type ReadableJournal = Omit<Journal, 'append'>;
