/** Reads logs from their heads: newest chunks need not be loaded to read the oldest, nor the reverse. */
import type { Ref, Value } from '@reprise/contracts';
import { LOG_CHUNK_ITEMS, type LogLeaf } from '../engine/index.js';
import type { ContentReader } from './port.js';
import { getValue } from './values.js';

/**
 * The items of a log, in order.
 *
 * @param head a log's head as a reducer's `ctx.logHead` linked it
 * @param from the first item's index, 0 by default
 * @throws RepriseError `blob_missing`, `blob_damaged`
 */
export async function* readLog(content: ContentReader, head: Ref, from = 0): AsyncGenerator<Value> {
  yield* readLogLeaf(content, (await getValue(content, head)) as unknown as LogLeaf, from);
}

/** The items of a log of which the leaf is at hand. */
export async function* readLogLeaf(content: ContentReader, log: LogLeaf, from = 0): AsyncGenerator<Value> {
  let skip = from;
  for (let level = log.levels.length - 1; level >= 0; level--) {
    const itemsUnderEach = itemsUnder(level);
    for (const ref of log.levels[level] ?? []) {
      if (skip >= itemsUnderEach) skip -= itemsUnderEach;
      else {
        yield* readUnder(content, ref, level, skip);
        skip = 0;
      }
    }
  }
  yield* log.tail.slice(skip);
}

async function* readUnder(content: ContentReader, ref: Ref, level: number, from: number): AsyncGenerator<Value> {
  const list = (await getValue(content, ref)) as readonly Value[];
  if (level === 0) {
    yield* list.slice(from);
    return;
  }
  const itemsUnderEach = itemsUnder(level - 1);
  let skip = from;
  for (const child of list as readonly Ref[]) {
    if (skip >= itemsUnderEach) skip -= itemsUnderEach;
    else {
      yield* readUnder(content, child, level - 1, skip);
      skip = 0;
    }
  }
}

function itemsUnder(level: number): number {
  let items = LOG_CHUNK_ITEMS;
  for (let i = 0; i < level; i++) items *= LOG_CHUNK_ITEMS;
  return items;
}
