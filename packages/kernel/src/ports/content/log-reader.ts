/** Reads logs from their heads: newest chunks need not be loaded to read the oldest, nor the reverse. */
import { isRef, isWhole, type Ref, RepriseError, type Value } from '@reprise/contracts';
import type { LogHead, LogLeaf } from '../../pure/engine/index.js';
import { LOG_CHUNK_ITEMS } from '../../pure/engine/leaf/bounds.js';
import type { ContentReader } from './port.js';
import { getValue } from './values.js';

/** Levels of the largest log whose items can be counted: 32¹⁰ chunks of 32 items are more than 2⁵³. */
const LOG_LEVELS_MAX = 10;

/** Selects items: all from an index on, and single ones before it. */
interface Selection {
  readonly from: number;
  readonly singles: readonly number[];
}

/**
 * Reads the value of a node of a log: a head, a chunk, or a node above chunks; at once, if it is kept. Nobody writes into what
 * it returns.
 */
type ReadLogNode = (ref: Ref) => Value | Promise<Value>;

/** A node of which some items are selected, counted from its first one. */
interface SelectedNode {
  readonly ref: Ref;
  /** 0 for a chunk of items. */
  readonly level: number;
  readonly selection: Selection;
}

/**
 * The items of a log, in order.
 *
 * @param head a log's head, as linked by a reducer's `ctx.logHead`
 * @param from the index from which on all items are read, 0 by default
 * @param singles indexes of single items before that, in any order; shared nodes are read once
 * @throws RepriseError `blob_missing`; `blob_damaged` also for a link that is not a log; `invalid_argument`
 */
export async function* readLog(
  content: ContentReader,
  head: Ref,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<Value> {
  for await (const items of readLogParts((ref) => getValue(content, ref), head, from, singles)) yield* items;
}

/**
 * The items of a log, in order, as many at a time as one node holds.
 *
 * @param read reads a node; a reader that keeps nodes spares reading them again for the next head of the same log
 * @throws as `readLog`
 */
export function readLogParts(
  read: ReadLogNode,
  head: Ref,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<readonly Value[]> {
  return partsOfLog(read, () => logAt(read, head), { from, singles });
}

/**
 * The log that a head names: the heads before it, back to the first since a chunk was sealed, hold its newest items. A
 * head adds an item at least, so there are no more of them than a chunk has items.
 */
async function logAt(read: ReadLogNode, head: Ref): Promise<LogLeaf> {
  const tails: (readonly Value[])[] = [];
  let count: number | undefined;
  for (let ref = head; tails.length < LOG_CHUNK_ITEMS; ) {
    const given = read(ref);
    const found = (given instanceof Promise ? await given : given) as Partial<LogHead> | null;
    if (typeof found !== 'object' || found === null || !isList(found.tail)) throw notALog(ref.toString());
    count ??= found.count as number;
    tails.unshift(found.tail);
    if ('levels' in found)
      return requireLog({ count, levels: found.levels, tail: tails.flat() } as never, head.toString());
    if (!('before' in found) || !isRef(found.before)) throw notALog(ref.toString());
    ref = found.before;
  }
  throw notALog(head.toString());
}

/** The items of a log whose leaf is loaded. */
export async function* readLogLeaf(
  content: ContentReader,
  log: LogLeaf,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<Value> {
  const read = (ref: Ref): Promise<Value> => getValue(content, ref);
  for await (const items of partsOfLog(read, () => log, { from, singles })) yield* items;
}

/** One generator for all levels: the items of one in another would pass through a promise a level. */
async function* partsOfLog(
  read: ReadLogNode,
  open: () => LogLeaf | Promise<LogLeaf>,
  selection: Selection,
): AsyncGenerator<readonly Value[]> {
  for (const index of [selection.from, ...selection.singles]) requireIndex(index);
  const log = await open();
  requireLog(log as unknown as Value, 'the leaf of a log');
  const levels = log.levels.map((refs, level) => ({ refs, level })).reverse();
  let rest = selection;
  const waiting: SelectedNode[] = []; // the next one last
  for (const { refs, level } of levels) {
    waiting.unshift(...selectedOf(refs, level, rest).reverse());
    rest = behind(rest, refs.length * itemsUnder(level));
  }
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const given = read(node.ref);
    const list = given instanceof Promise ? await given : given;
    if (node.level === 0) yield selected(chunkOf(list, node.ref), node.selection);
    else waiting.push(...selectedOf(nodeOf(list, node.ref), node.level - 1, node.selection).reverse());
  }
  yield selected(log.tail, rest);
}

/** Those of some nodes that hold selected items, in order. */
function selectedOf(refs: readonly Ref[], level: number, selection: Selection): SelectedNode[] {
  let rest = selection;
  return refs.flatMap((ref) => {
    const node = reaches(rest, itemsUnder(level)) ? [{ ref, level, selection: rest }] : [];
    rest = behind(rest, itemsUnder(level));
    return node;
  });
}

function requireIndex(index: number): void {
  if (isWhole(index)) return;
  throw new RepriseError('invalid_argument', 'invalid item index', {
    expected: 'a whole number from 0',
    actual: index,
  });
}

/**
 * The blobs of a log: its full chunks and the nodes above them, and the heads on which its next head will stand, without
 * the content that its items link.
 */
export async function* logBlobs(content: ContentReader, log: LogLeaf): AsyncGenerator<Ref> {
  const seen = new Set<string>();
  requireLog(log as unknown as Value, 'the leaf of a log');
  let ref = log.head?.ref;
  for (let heads = 0; ref !== undefined && heads < LOG_CHUNK_ITEMS; heads++) {
    yield ref;
    const head = (await getValue(content, ref)) as { readonly before?: Value };
    ref = isRef(head.before) ? head.before : undefined;
  }
  for (const [level, refs] of log.levels.entries())
    for (const ref of refs) yield* blobsUnder(content, ref, level, seen);
}

async function* blobsUnder(content: ContentReader, ref: Ref, level: number, seen: Set<string>): AsyncGenerator<Ref> {
  // Equal items make equal chunks: a node may occur in a log many times, and is one blob.
  const name = `${level} ${ref.hex}`;
  if (seen.has(name)) return;
  seen.add(name);
  yield ref;
  if (level === 0) return;
  for (const child of nodeOf(await getValue(content, ref), ref)) yield* blobsUnder(content, child, level - 1, seen);
}

/** An inner chunk is full. One with fewer items would let few bytes claim a log that never reaches its next item. */
function chunkOf(list: Value, ref: Ref): readonly Value[] {
  if (isList(list) && list.length === LOG_CHUNK_ITEMS) return list;
  throw notALog(ref.toString());
}

/** A node above chunks is full as well. */
function nodeOf(list: Value, ref: Ref): readonly Ref[] {
  if (isList(list) && list.length === LOG_CHUNK_ITEMS && list.every(isRef)) return list;
  throw notALog(ref.toString());
}

/** Whether any of the next items is selected. */
function reaches({ from, singles }: Selection, items: number): boolean {
  return from < items || singles.some((index) => index < items);
}

/** The selection that is left after the next items, counted from there. */
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

function requireLog(value: Value, where: string): LogLeaf {
  if (isLog(value)) return value;
  throw notALog(where);
}

function isLog(value: Value): value is Value & LogLeaf {
  const { count, levels, tail } = (typeof value === 'object' && value !== null ? value : {}) as Partial<
    Record<string, Value>
  >;
  return (
    isList(tail) &&
    isList(levels) &&
    levels.length <= LOG_LEVELS_MAX &&
    levels.every((level) => isList(level) && level.length < LOG_CHUNK_ITEMS && level.every(isRef)) &&
    count === levels.reduce((sum: number, level, at) => sum + (level as Value[]).length * itemsUnder(at), tail.length)
  );
}

/** `Array.isArray`, which by itself does not narrow a readonly list. */
function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function notALog(where: string): RepriseError {
  return new RepriseError('blob_damaged', 'the content is not a log', {
    where,
    hint: 'Pass the link made by ctx.logHead.',
  });
}
