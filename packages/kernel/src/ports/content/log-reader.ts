/** Reads logs from their heads: newest chunks need not be loaded to read the oldest, nor the reverse. */
import { isRef, isWhole, type Ref, RepriseError, type Value } from '@reprise/contracts';
import type { LogHead, LogLeaf } from '../../pure/engine/index.js';
import { LOG_CHUNK_ITEMS } from '../../pure/engine/leaf/bounds.js';
import { after, type MaybePromise } from '../time/maybe-promise.js';
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
type ReadLogNode = (ref: Ref) => MaybePromise<Value>;

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
  yield* itemsOf(readLogParts((ref) => getValue(content, ref), head, from, singles));
}

/** Reads a log part by part: at once where its reader has kept the nodes, since a prompt reads the whole log anew. */
interface LogParts {
  /** The next items, as many as one node holds; undefined behind the last. */
  next(): MaybePromise<readonly Value[] | undefined>;
}

/**
 * The items of a log, in order, as many at a time as one node holds.
 *
 * @param read reads a node; a reader that keeps nodes spares reading them again for the next head of the same log
 * @throws as `readLog`, when they are asked for
 */
export function readLogParts(read: ReadLogNode, head: Ref, from = 0, singles: readonly number[] = []): LogParts {
  return new PartsOfLog(read, () => logAt(read, head, []), { from, singles });
}

async function* itemsOf(parts: LogParts): AsyncGenerator<Value> {
  for (let items = await parts.next(); items !== undefined; items = await parts.next()) yield* items;
}

/**
 * The log that a head names: the heads before it, back to the first since a chunk was sealed, hold its newest items. A
 * head adds an item at least, so there are no more of them than a chunk has items.
 */
function logAt(read: ReadLogNode, head: Ref, newer: readonly Head[]): MaybePromise<LogLeaf> {
  const ref = newer[0]?.before ?? head;
  return after(read(ref), (given) => {
    const found = given as Partial<LogHead> | null;
    if (typeof found !== 'object' || found === null || !isList(found.tail)) throw notALog(ref.toString());
    const heads = [found as Head, ...newer];
    if ('levels' in found) return logOf(found.levels, heads, head);
    if (!('before' in found) || !isRef(found.before)) throw notALog(ref.toString());
    if (heads.length >= LOG_CHUNK_ITEMS) throw notALog(head.toString());
    return logAt(read, head, heads);
  });
}

/** What is known of a head that was read. */
interface Head {
  readonly tail: readonly Value[];
  readonly count?: number;
  readonly before?: Ref;
}

/** The log of some heads, the oldest first: it alone links what is sealed. */
function logOf(levels: unknown, heads: readonly Head[], head: Ref): LogLeaf {
  const tail = heads.flatMap((one) => one.tail);
  return requireLog({ count: heads.at(-1)?.count, levels, tail } as never, head.toString());
}

/** The items of a log whose leaf is loaded. */
export async function* readLogLeaf(
  content: ContentReader,
  log: LogLeaf,
  from = 0,
  singles: readonly number[] = [],
): AsyncGenerator<Value> {
  const read = (ref: Ref): Promise<Value> => getValue(content, ref);
  yield* itemsOf(new PartsOfLog(read, () => log, { from, singles }));
}

class PartsOfLog implements LogParts {
  /** Those that are still to be read, the next one last; undefined before the first. */
  #waiting: SelectedNode[] | undefined;
  /** What is selected of the tail. */
  #rest: Selection;
  /** The newest items, until they were given. */
  #tail: readonly Value[] | undefined;

  constructor(
    private readonly read: ReadLogNode,
    private readonly open: () => MaybePromise<LogLeaf>,
    selection: Selection,
  ) {
    this.#rest = selection;
  }

  next(): MaybePromise<readonly Value[] | undefined> {
    if (this.#waiting !== undefined) return this.#next(this.#waiting);
    for (const index of [this.#rest.from, ...this.#rest.singles]) requireIndex(index);
    return after(this.open(), (log) => this.#next(this.#begin(log)));
  }

  #begin(log: LogLeaf): SelectedNode[] {
    requireLog(log as unknown as Value, 'the leaf of a log');
    const waiting: SelectedNode[] = [];
    for (let level = log.levels.length - 1; level >= 0; level--) {
      const refs = log.levels[level] as readonly Ref[];
      waiting.unshift(...selectedOf(refs, level, this.#rest).reverse());
      this.#rest = behind(this.#rest, refs.length * itemsUnder(level));
    }
    this.#tail = log.tail;
    this.#waiting = waiting;
    return waiting;
  }

  #next(waiting: SelectedNode[]): MaybePromise<readonly Value[] | undefined> {
    const node = waiting.pop();
    if (node === undefined) return this.#last();
    return after(this.read(node.ref), (list) => {
      if (node.level === 0) return selected(chunkOf(list, node.ref), node.selection);
      waiting.push(...selectedOf(nodeOf(list, node.ref), node.level - 1, node.selection).reverse());
      return this.#next(waiting);
    });
  }

  #last(): readonly Value[] | undefined {
    const tail = this.#tail;
    this.#tail = undefined;
    return tail === undefined ? undefined : selected(tail, this.#rest);
  }
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
