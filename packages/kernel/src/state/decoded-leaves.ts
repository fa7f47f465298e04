/** The leaves of a world as their bytes say them, for folds that check the ordinary one. */
import type { Address } from '@reprise/contracts';
import { decode, encode, FRAME_DEPTH_MAX } from '../pure/codec/index.js';
import type { KeyedLeaf, LeafKey, LeafOf, LeafReader, ListedKind } from '../pure/engine/index.js';

/** Of so many frames one is folded from bytes: the leaves decoded, the plans rebuilt. */
export const FROM_BYTES_EVERY = 256;

/**
 * Reads every leaf through its bytes: a fold over these leaves sees what a world that was just opened sees. It gives
 * another frame when a kept leaf was written into, or differs from its bytes in any way that code can notice.
 */
export class DecodedLeaves implements LeafReader {
  /** Those that were read: a fold asks for the open effects again and again. */
  readonly #decoded = new Map<string, unknown>();

  constructor(private readonly kept: LeafReader) {}

  get<L>(key: LeafKey<L>): L | undefined {
    const leaf = this.kept.get(key);
    return leaf === undefined ? undefined : this.#throughBytes(key, leaf);
  }

  *list<K extends ListedKind>(kind: K): Generator<KeyedLeaf<LeafOf[K]>> {
    for (const { key, leaf } of this.kept.list(kind)) yield { key, leaf: this.#throughBytes(key, leaf) };
  }

  *naming<K extends ListedKind>(kind: K, cell: Address): Generator<KeyedLeaf<LeafOf[K]>> {
    for (const { key, leaf } of this.kept.naming(kind, cell)) yield { key, leaf: this.#throughBytes(key, leaf) };
  }

  #throughBytes<L>({ id }: LeafKey, leaf: L): L {
    const known = this.#decoded.get(id) as L | undefined;
    if (known !== undefined) return known;
    const decoded = decode(encode(leaf, FRAME_DEPTH_MAX)) as L;
    this.#decoded.set(id, decoded);
    return decoded;
  }
}
