import { Ref } from '@reprise/contracts';
import type { ContentReader, ContentStore } from '../ports/content/port.js';
import { type Hash, toHex } from '../pure/codec/index.js';
import type { NodeStore } from './map/index.js';

/** The map's nodes in a content store. */
export function storedNodes(content: ContentStore): NodeStore {
  return {
    get: (ref) => content.get(ref),
    putValue: async (bytes) => (await content.put(bytes)).asValue(),
  };
}

/**
 * The map's nodes for a reader that writes nothing: stored nodes are read, computed ones stay in memory until
 * `forget`. A verifier computes each snapshot's map this way and compares roots.
 */
export class ComputedNodes implements NodeStore {
  readonly #computed = new Map<string, Uint8Array>();

  constructor(
    private readonly content: Pick<ContentReader, 'get'>,
    private readonly hash: Hash,
  ) {}

  async get(ref: Ref): Promise<Uint8Array | undefined> {
    return this.#computed.get(ref.hex) ?? this.content.get(ref);
  }

  async putValue(bytes: Uint8Array): Promise<Ref> {
    const hex = toHex(this.hash(bytes));
    this.#computed.set(hex, bytes);
    return Ref.fromHex(hex, 'value');
  }

  /** Drops the computed nodes: they turned out to equal the stored ones. */
  forget(): void {
    this.#computed.clear();
  }
}
