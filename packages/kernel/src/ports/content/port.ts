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
   * The frame of the newest erasure that named a blob; undefined without one.
   *
   * Contract: an index over the `erase` frames, which tells erased content from lost content; it stays when
   * the same bytes are put again.
   */
  erasedBy(ref: Ref): Promise<number | undefined>;

  /** The frame of the newest finished erasure, −1 without one. */
  erasedThrough(): Promise<number>;
}

/** The result of storing a stream. */
export interface KeptStream {
  readonly ref: Ref;
  /** The length of the content in bytes. */
  readonly bytes: number;
}

/** Where a world's content lives. */
export interface ContentStore extends ContentReader {
  /**
   * Stores bytes under their digest.
   *
   * Contract: the same bytes give the same link; may be called twice; copies the bytes; the blob is durable
   * at the latest when the next `Journal.append` of the same store resolves, and may be gone after a crash or
   * a close before that; a refused append leaves it for the next one. Rejects with `store_full` or `store_failed`
   * where it writes at once.
   */
  put(bytes: Uint8Array): Promise<Ref>;

  /**
   * Stores a stream of bytes as one blob. For content that may be too large for memory.
   *
   * Contract: like `put` of all pieces together, with the same link; requests the next piece only after copying the one
   * before, so a buffer may be reused; a store on disk holds a bounded part in memory.
   * When the stream fails it rejects with that error, and stores nothing.
   */
  putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream>;

  /** Every link that is stored, each once, in no particular order. For verification and tools. */
  list(): AsyncIterable<Ref>;

  /**
   * Every link of a share, for a store that can leave out the others at less cost. Absent on a store that cannot.
   *
   * Contract: each link of {@link list} is in exactly one share, always the same.
   */
  listShare?(share: BlobShare): AsyncIterable<Ref>;
}

/** One of several shares of all blobs, so that several readers can read them at once. */
export interface BlobShare {
  /** The number of this share, from 0. */
  readonly part: number;
  /** The number of shares, 1 or more. */
  readonly of: number;
}

/** The content of a world for its owner: only the world erases, and only content that a durable frame names. */
export interface ErasableContentStore extends ContentStore {
  /**
   * Erases blobs for good and keeps their tombstones.
   *
   * Contract:
   * - when it resolves, no file of the store holds the bytes any more, as far as the file system lets a program see;
   *   the tombstones, and that the erasure of frame `by` is finished, are durable;
   * - content that waits for an append is erased as well; missing content gets its tombstone all the same;
   * - may be called again with the same arguments, and must be after it rejected or the process died in it:
   *   then any part of it may have happened, and `erasedThrough` is still lower than `by`.
   *
   * @param by the `erase` frame that names them
   */
  erase(refs: readonly Ref[], by: number): Promise<void>;
}
