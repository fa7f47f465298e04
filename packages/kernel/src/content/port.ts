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

  /** Every link that is stored, each once, in no particular order. For verification and tools. */
  list(): AsyncIterable<Ref>;
}
