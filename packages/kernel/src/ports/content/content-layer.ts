/** A content store over another one. */
import type { Ref } from '@reprise/contracts';
import type { ContentStore, KeptStream } from './port.js';

/** Passes every call on. A subclass changes the calls that it is about. */
export class ContentLayer implements ContentStore {
  constructor(protected readonly below: ContentStore) {}

  /** See {@link ContentStore}. */
  get(ref: Ref): Promise<Uint8Array | undefined> {
    return this.below.get(ref);
  }

  /** See {@link ContentStore}. */
  has(ref: Ref): Promise<boolean> {
    return this.below.has(ref);
  }

  /** See {@link ContentStore}. */
  erasedBy(ref: Ref): Promise<number | undefined> {
    return this.below.erasedBy(ref);
  }

  /** See {@link ContentStore}. */
  erasedThrough(): Promise<number> {
    return this.below.erasedThrough();
  }

  /** See {@link ContentStore}. */
  put(bytes: Uint8Array): Promise<Ref> {
    return this.below.put(bytes);
  }

  /** See {@link ContentStore}. */
  putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    return this.below.putStream(pieces);
  }

  /** See {@link ContentStore}. */
  list(): AsyncIterable<Ref> {
    return this.below.list();
  }
}
