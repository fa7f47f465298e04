/** Reads logs from their heads: newest chunks need not be loaded to read the oldest, nor the reverse. */
import { isRef, type Ref, RepriseError, type Value } from '@reprise/contracts';
import { LOG_CHUNK_ITEMS, type LogLeaf } from '../engine/index.js';
import type { ContentReader } from './port.js';
import { getValue } from './values.js';

/** Which items are read: all from an index on, and single ones before it. */
interface Selection {
  readonly from: number;
  readonly singles: readonly number[];
}

/**
 * The items of a log, in order.
 *
 * @param head a log's head as a reducer's `ctx.logHead` linked it
 * @param from the index from which on all items are read, 0 by default
 * @param singles indexes of single items before that, in any order; what they share on the way is read once
 * @throws RepriseError `blob_missing`; `blob_damaged` also for a link to something else than a log; `invalid_argument`
 */
export async function* readLog(
  content: ContentReader,
  head: Ref,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<Value> {
  const log = await getValue(content, head);
  if (!isLog(log)) throw notALog(head);
  yield* readLogLeaf(content, log, from, singles);
}

/** The items of a log of which the leaf is at hand. */
export async function* readLogLeaf(
  content: ContentReader,
  log: LogLeaf,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<Value> {
  for (const index of [from, ...singles]) requireIndex(index);
  let rest: Selection = { from, singles };
  for (let level = log.levels.length - 1; level >= 0; level--) {
    for (const ref of log.levels[level] ?? []) {
      if (reaches(rest, itemsUnder(level))) yield* readUnder(content, ref, level, rest);
      rest = behind(rest, itemsUnder(level));
    }
  }
  yield* selected(log.tail, rest);
}

function requireIndex(index: number): void {
  if (Number.isSafeInteger(index) && index >= 0) return;
  throw new RepriseError('invalid_argument', 'this is not the index of an item', {
    expected: 'a whole number from 0',
    actual: index,
  });
}

/** The blobs that a log is made of, its sealed chunks and the nodes above them; not what its items link. */
export async function* logBlobs(content: ContentReader, log: LogLeaf): AsyncGenerator<Ref> {
  for (const [level, refs] of log.levels.entries()) for (const ref of refs) yield* blobsUnder(content, ref, level);
}

async function* blobsUnder(content: ContentReader, ref: Ref, level: number): AsyncGenerator<Ref> {
  yield ref;
  if (level === 0) return;
  const list = await getValue(content, ref);
  if (!isList(list) || !list.every(isRef)) throw notALog(ref);
  for (const child of list) yield* blobsUnder(content, child, level - 1);
}

async function* readUnder(
  content: ContentReader,
  ref: Ref,
  level: number,
  selection: Selection,
): AsyncGenerator<Value> {
  const list = await getValue(content, ref);
  if (!isList(list)) throw notALog(ref);
  if (level === 0) {
    yield* selected(list, selection);
    return;
  }
  let rest = selection;
  for (const child of list) {
    if (!isRef(child)) throw notALog(ref);
    if (reaches(rest, itemsUnder(level - 1))) yield* readUnder(content, child, level - 1, rest);
    rest = behind(rest, itemsUnder(level - 1));
  }
}

/** Whether any of the next items is to be read. */
function reaches({ from, singles }: Selection, items: number): boolean {
  return from < items || singles.some((index) => index < items);
}

/** What is left to read behind the next items, counted from there. */
function behind({ from, singles }: Selection, items: number): Selection {
  return {
    from: Math.max(0, from - items),
    singles: singles.filter((index) => index >= items).map((index) => index - items),
  };
}

function selected(items: readonly Value[], { from, singles }: Selection): readonly Value[] {
  if (singles.length === 0) return items.slice(from);
  return items.filter((_, index) => index >= from || singles.includes(index));
}

function itemsUnder(level: number): number {
  let items = LOG_CHUNK_ITEMS;
  for (let i = 0; i < level; i++) items *= LOG_CHUNK_ITEMS;
  return items;
}

function isLog(value: Value): value is Value & LogLeaf {
  const { count, levels, tail } = (typeof value === 'object' && value !== null ? value : {}) as Partial<
    Record<string, Value>
  >;
  return (
    Number.isSafeInteger(count) &&
    isList(tail) &&
    isList(levels) &&
    levels.every((level) => isList(level) && level.every(isRef))
  );
}

/** `Array.isArray`, which by itself does not narrow a readonly list. */
function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function notALog(ref: Ref): RepriseError {
  return new RepriseError('blob_damaged', 'content that is read as a log is none', {
    where: ref.toString(),
    hint: 'Give the link that ctx.logHead made.',
  });
}
