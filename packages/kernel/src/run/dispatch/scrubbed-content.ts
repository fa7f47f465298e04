/** The content store that adapters get: stored content holds no secret. */
import type { Ref } from '@reprise/contracts';
import { ContentLayer } from '../../ports/content/content-layer.js';
import type { ContentStore, KeptStream } from '../../ports/content/port.js';
import type { Scrubber } from '../../ports/scrub/index.js';
import { decode, encode } from '../../pure/codec/index.js';

/** Scrubs content on `put`. Content without a secret is stored byte for byte. */
export class ScrubbedContent extends ContentLayer {
  /** Made at the first secret: each effect has such a store, and most put nothing. */
  #scrubbed: Set<string> | undefined;

  constructor(
    content: ContentStore,
    private readonly scrubber: Scrubber,
  ) {
    super(content);
  }

  override async put(bytes: Uint8Array): Promise<Ref> {
    if (!this.scrubber.isIn(bytes)) return this.below.put(bytes);
    const ref = await this.below.put(this.#without(bytes));
    this.#noteScrubbed(ref);
    return ref;
  }

  override async putStream(pieces: AsyncIterable<Uint8Array>): Promise<KeptStream> {
    let isScrubbed = false;
    const without = this.scrubber.pieces(pieces, () => {
      isScrubbed = true;
    });
    const kept = await this.below.putStream(without);
    if (isScrubbed) this.#noteScrubbed(kept.ref);
    return kept;
  }

  /** Whether the content stored under a link differs from the input because a secret was removed. */
  wasScrubbed(ref: Ref): boolean {
    return this.#scrubbed?.has(ref.hex) ?? false;
  }

  #noteScrubbed({ hex }: Ref): void {
    this.#scrubbed ??= new Set();
    this.#scrubbed.add(hex);
  }

  /** A canonical value states the length of its texts, so it is decoded, scrubbed and encoded again. */
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
