/**
 * Logs: append-only lists whose cost per item does not depend on their length.
 *
 * Shape: items wait in an inline tail; 32 of them are sealed into one chunk in the content store; 32 links to
 * chunks are sealed into one node a level higher, and so on. The shape is a function of the item sequence
 * alone, never of when a snapshot or a flush happened.
 */
import { Ref, type Value } from '@reprise/contracts';
import { encode, FRAME_DEPTH_MAX, type Hash } from '../../codec/index.js';
import { LOG_CHUNK_ITEMS } from './bounds.js';
import type { LogLeaf } from './leaves.js';

/** A blob that a fold computed and the driver must make durable with the frame. */
export interface StagedBlob {
  readonly ref: Ref;
  readonly bytes: Uint8Array;
}

/** An empty log. */
export function emptyLog(): LogLeaf {
  return { count: 0, levels: [], tail: [] };
}

/** Appends one item in place; returns the blobs that sealing made. */
export function appendToLog(log: LogLeaf, item: Value, hash: Hash): StagedBlob[] {
  log.count++;
  log.tail.push(item);
  if (log.tail.length < LOG_CHUNK_ITEMS) return [];
  const staged: StagedBlob[] = [];
  let sealed = seal(log.tail, hash, staged);
  log.tail = [];
  for (let level = 0; ; level++) {
    const links = log.levels[level] ?? [];
    links.push(sealed);
    log.levels[level] = links;
    if (links.length < LOG_CHUNK_ITEMS) return staged;
    sealed = seal(links, hash, staged);
    log.levels[level] = [];
  }
}

/** A log while a delivery writes to it. Its bytes are made once for each change. */
export class OpenLog {
  #bytes: Uint8Array | undefined;

  /** @param bytes what the log was read from; undefined for a new log */
  constructor(
    readonly leaf: LogLeaf,
    bytes: Uint8Array | undefined,
  ) {
    this.#bytes = bytes;
  }

  /** The bytes of its leaf. */
  get bytes(): Uint8Array {
    this.#bytes ??= encode(this.leaf, FRAME_DEPTH_MAX);
    return this.#bytes;
  }

  /** Appends an item; returns the blobs that sealing made. */
  append(item: Value, hash: Hash): StagedBlob[] {
    this.#bytes = undefined;
    return appendToLog(this.leaf, item, hash);
  }

  /** The log as a blob of its own: an effect links it so that its adapter reads exactly this log, for ever. */
  head(hash: Hash): StagedBlob {
    return { ref: Ref.fromDigest(hash(this.bytes), 'value'), bytes: this.bytes };
  }
}

function seal(list: readonly Value[], hash: Hash, staged: StagedBlob[]): Ref {
  const bytes = encode(list, FRAME_DEPTH_MAX);
  const ref = Ref.fromDigest(hash(bytes), 'value');
  staged.push({ ref, bytes });
  return ref;
}
