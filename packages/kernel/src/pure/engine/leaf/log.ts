/**
 * Logs: append-only lists whose cost per item does not depend on their length.
 *
 * Shape: items wait in an inline tail; 32 of them are sealed into one chunk in the content store; 32 links to
 * chunks are sealed into one node a level higher, and so on. The shape is a function of the items and of the heads
 * that were linked alone, never of when a snapshot or a flush happened.
 */
import { Ref, type Value } from '@reprise/contracts';
import { encodeKernel, type Hash } from '../../codec/index.js';
import { LOG_CHUNK_ITEMS } from './bounds.js';
import type { LogHead, LogLeaf } from './leaves.js';

/** A blob that a fold computed and the driver must make durable with the frame. */
export interface StagedBlob {
  readonly ref: Ref;
  readonly bytes: Uint8Array;
}

const EMPTY: LogLeaf = { count: 0, levels: [], tail: [] };

/** A log while a delivery writes to it. */
export class OpenLog {
  #leaf: LogLeaf;

  /** @param leaf the log as it is; undefined for a new log */
  constructor(leaf: LogLeaf = EMPTY) {
    this.#leaf = leaf;
  }

  /** The log with all that was appended. */
  get leaf(): LogLeaf {
    return this.#leaf;
  }

  /** Appends an item, which nothing writes into any more; returns the blobs that sealing made. */
  append(item: Value, hash: Hash): StagedBlob[] {
    const { count, levels, tail } = this.#leaf;
    const staged: StagedBlob[] = [];
    const items = [...tail, item];
    this.#leaf =
      items.length < LOG_CHUNK_ITEMS
        ? { ...this.#leaf, count: count + 1, tail: items }
        : { count: count + 1, levels: sealed(levels, items, hash, staged), tail: [] };
    return staged;
  }

  /** The log as a blob of its own: an effect links it so that its adapter reads exactly this log, for ever. */
  head(hash: Hash): { readonly ref: Ref; readonly staged: readonly StagedBlob[] } {
    const { head, tail } = this.#leaf;
    if (head?.items === tail.length) return { ref: head.ref, staged: [] };
    const bytes = encodeKernel(headOf(this.#leaf));
    const ref = Ref.fromDigest(hash(bytes), 'value');
    this.#leaf = { ...this.#leaf, head: { ref, items: tail.length } };
    return { ref, staged: [{ ref, bytes }] };
  }
}

/** A head costs what was appended since the one before it: a log that is read at every step is not written at every step. */
function headOf({ count, levels, tail, head }: LogLeaf): LogHead {
  return head === undefined ? { count, levels, tail } : { count, before: head.ref, tail: tail.slice(head.items) };
}

/** The levels with another full chunk; a full list of links is sealed into a node one level higher. */
function sealed(
  levels: LogLeaf['levels'],
  items: readonly Value[],
  hash: Hash,
  staged: StagedBlob[],
): readonly (readonly Ref[])[] {
  const after = [...levels];
  let link = seal(items, hash, staged);
  for (let level = 0; ; level++) {
    const links = [...(after[level] ?? []), link];
    if (links.length < LOG_CHUNK_ITEMS) {
      after[level] = links;
      return after;
    }
    link = seal(links, hash, staged);
    after[level] = [];
  }
}

function seal(list: readonly Value[], hash: Hash, staged: StagedBlob[]): Ref {
  const bytes = encodeKernel(list);
  const ref = Ref.fromDigest(hash(bytes), 'value');
  staged.push({ ref, bytes });
  return ref;
}
