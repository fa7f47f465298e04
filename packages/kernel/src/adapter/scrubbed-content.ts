/** The content store as adapters are given it: what they put holds no secret. */
import type { Ref } from '@reprise/contracts';
import { decode, encode } from '../codec/index.js';
import type { ContentStore, KeptStream } from '../content/port.js';
import type { Scrubber } from '../scrub/index.js';

/** Scrubs what is put. What holds no secret is kept byte for byte. */
export class ScrubbedContent implements ContentStore {
  constructor(
    private readonly content: ContentStore,
    private readonly scrubber: Scrubber,
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
    return this.content.put(this.scrubber.isIn(bytes) ? this.#without(bytes) : bytes);
  }

  putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    return this.content.putStream(this.scrubber.pieces(pieces));
  }

  list(): AsyncIterable<Ref> {
    return this.content.list();
  }

  /** A canonical value says how long its texts are: it is taken apart and made again. */
  #without(bytes: Uint8Array): Uint8Array {
    const value = this.#valueWithout(bytes);
    // Text may look like a value by chance.
    return value === undefined || this.scrubber.isIn(value) ? this.scrubber.bytes(bytes) : value;
  }

  #valueWithout(bytes: Uint8Array): Uint8Array | undefined {
    try {
      return encode(this.scrubber.value(decode(bytes)));
    } catch {
      return undefined;
    }
  }
}
