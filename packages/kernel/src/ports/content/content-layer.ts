/** A content store over another one. */
import type { Ref } from '@reprise/contracts';
import type { ContentStore, KeptStream } from './port.js';

/** Passes every call on. A subclass changes the calls that it is about. */
export class ContentLayer implements ContentStore {
  constructor(protected readonly below: ContentStore) {}

  get(ref: Ref): Promise<Uint8Array | undefined> {
    return this.below.get(ref);
  }

  has(ref: Ref): Promise<boolean> {
    return this.below.has(ref);
  }

  erasedBy(ref: Ref): Promise<number | undefined> {
    return this.below.erasedBy(ref);
  }

  erasedThrough(): Promise<number> {
    return this.below.erasedThrough();
  }

  put(bytes: Uint8Array): Promise<Ref> {
    return this.below.put(bytes);
  }

  putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    return this.below.putStream(pieces);
  }

  list(): AsyncIterable<Ref> {
    return this.below.list();
  }
}
