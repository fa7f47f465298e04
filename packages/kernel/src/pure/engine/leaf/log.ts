/**
 * Logs: append-only lists whose cost per item does not depend on their length.
 *
 * Shape: items wait in an inline tail; 32 of them are sealed into one chunk in the content store; 32 links to
 * chunks are sealed into one node a level higher, and so on. The shape is a function of the item sequence
 * alone, never of when a snapshot or a flush happened.
 */
import { Ref, type Value } from '@reprise/contracts';
import { encode, FRAME_DEPTH_MAX, type Hash, toHex } from '../../codec/index.js';
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

/** The log as a blob of its own: an effect links it so that its adapter reads exactly this log, for ever. */
export function logHeadBlob(log: LogLeaf, hash: Hash): StagedBlob {
  const bytes = encode({ count: log.count, levels: log.levels, tail: log.tail }, FRAME_DEPTH_MAX);
  return { ref: Ref.fromHex(toHex(hash(bytes)), 'value'), bytes };
}

function seal(list: readonly Value[], hash: Hash, staged: StagedBlob[]): Ref {
  const bytes = encode(list, FRAME_DEPTH_MAX);
  const ref = Ref.fromHex(toHex(hash(bytes)), 'value');
  staged.push({ ref, bytes });
  return ref;
}
