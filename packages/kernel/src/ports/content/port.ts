/** The content store port: blobs named by the sha-256 of their bytes. Suite: `testContentStore` of the testkit. */
import type { Ref } from '@reprise/contracts';

/** Reads content by its link. */
export interface ContentReader {
  /**
   * The bytes behind a link.
   *
   * Contract: resolves undefined when there is no such blob; rejects with `blob_damaged` when the stored bytes
   * do not have this digest; a blob that was put is readable at once, durable or not; the bytes are the
   * caller's own.
   */
  get(ref: Ref): Promise<Uint8Array | undefined>;

  /** Whether a blob is there, without reading it. */
  has(ref: Ref): Promise<boolean>;

  /**
   * The frame of the newest erasure that named a blob; undefined when none did.
   *
   * Contract: an index over the `erase` frames, so that what was erased is told from what was lost; it stays when
   * the same bytes are put again.
   */
  erasedBy(ref: Ref): Promise<number | undefined>;

  /** The frame of the newest erasure that was carried out to its end, −1 when there is none. */
  erasedThrough(): Promise<number>;
}

/** What was kept of bytes that came one after another. */
export interface KeptStream {
  readonly ref: Ref;
  /** How many they were. */
  readonly bytes: number;
}

/** Where a world's content lives. */
export interface ContentStore extends ContentReader {
  /**
   * Keeps bytes and names them.
   *
   * Contract: the same bytes give the same link; may be called twice; copies what it keeps; the blob is durable
   * at the latest when the next `Journal.append` of the same store resolves, and may be gone after a crash or
   * a close before that; a refused append keeps it for the next one. Rejects with `store_full` or `store_failed`
   * where it writes at once.
   */
  put(bytes: Uint8Array): Promise<Ref>;

  /**
   * Keeps bytes that come one after another, as one blob. For what may be too large to hold at once.
   *
   * Contract: as `put` of all of them together, with the same link; asks for the next piece only when it has taken in
   * the one before, so the same buffer may be filled again; a store on disk holds a bounded part of them in memory.
   * When the pieces end in an error it rejects with that error, and keeps nothing.
   */
  putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream>;

  /** Every link that is stored, each once, in no particular order. For verification and tools. */
  list(): AsyncIterable<Ref>;
}

/** A world's content as its owner holds it: only the world erases, and only what a durable frame names. */
export interface ErasableContentStore extends ContentStore {
  /**
   * Erases blobs for good and keeps their tombstones.
   *
   * Contract:
   * - when it resolves, no file of the store holds the bytes any more, as far as the file system lets a program see;
   *   the tombstones, and that the erasure of frame `by` is finished, are durable;
   * - what waits for an append is erased as well; what is not there gets its tombstone all the same;
   * - may be called again with the same arguments, and has to be after it rejected or the process died in it:
   *   then any part of it may have happened, and `erasedThrough` is still lower than `by`.
   *
   * @param by the `erase` frame that names them
   */
  erase(refs: readonly Ref[], by: number): Promise<void>;
}
