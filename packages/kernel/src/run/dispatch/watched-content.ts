/** The content store that callers and adapters put into: a disk that does not answer is told to the operator. */
import type { Ref } from '@reprise/contracts';
import type { ContentStore, KeptStream } from '../../ports/content/port.js';

/** Watches how long something in the store takes. */
interface StoreTimer {
  /** Does something in the store for which a number of others wait. */
  during<T>(waiting: number, work: () => Promise<T>): Promise<T>;
}

/** Watches `put`. A stream may be slow because its source is, and a read has a caller that waits for it. */
export class WatchedContent implements ContentStore {
  constructor(
    private readonly content: ContentStore,
    private readonly timer: StoreTimer,
  ) {}

  get(ref: Ref): Promise<Uint8Array | undefined> {
    return this.content.get(ref);
  }

  has(ref: Ref): Promise<boolean> {
    return this.content.has(ref);
  }

  erasedBy(ref: Ref): Promise<number | undefined> {
    return this.content.erasedBy(ref);
  }

  erasedThrough(): Promise<number> {
    return this.content.erasedThrough();
  }

  put(bytes: Uint8Array): Promise<Ref> {
    return this.timer.during(1, () => this.content.put(bytes));
  }

  putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    return this.content.putStream(pieces);
  }

  list(): AsyncIterable<Ref> {
    return this.content.list();
  }
}
