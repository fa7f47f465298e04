/** Queries to a projection: ranges of its keys or of an index, page by page. */
import { isWhole, RepriseError } from '@reprise/contracts';
import type { OpenViewStore, ViewRange } from '../../ports/views/port.js';
import {
  afterPrefix,
  compareBytes,
  decode,
  decodeKey,
  encodeKey,
  fromHex,
  type RowKey,
  textPrefix,
  toHex,
} from '../../pure/codec/index.js';
import type { ProjectionDefinition } from '../../pure/define/index.js';
import { PAGE_ROWS_DEFAULT, PAGE_ROWS_MAX } from './bounds.js';
import { entryKey, joined, PART } from './layout.js';

/** Selects rows and their order. All given conditions must hold; without any: every row, by key. */
export interface ViewQuery {
  /** The index whose order and places apply; the rows' own keys when absent. */
  readonly index?: string;
  /** The first parts of the place: `under: ['open']` takes `['open', 3]` and not `['opened', 3]`. */
  readonly under?: RowKey;
  /** A prefix of the next part, which is text. */
  readonly prefix?: string;
  /** The key of the first place, included; the first of all when absent. */
  readonly from?: RowKey;
  /** The place where it ends, excluded. */
  readonly to?: RowKey;
  /** The order of keys; ascending when absent. */
  readonly order?: 'asc' | 'desc';
  /** How many rows; 100 when absent, 1,000 at most. */
  readonly limit?: number;
  /** Continues after a page: its `cursor`. */
  readonly after?: string;
}

/** A row and its key. */
export interface ViewRow<Row> {
  readonly key: RowKey;
  readonly row: Row;
}

/** Some rows, as the view was after frame `seq`. */
export interface ViewPage<Row> {
  readonly rows: readonly ViewRow<Row>[];
  readonly seq: number;
  /**
   * Where the next page begins; absent on the last page. It names a place and not a count: rows that are added
   * or removed meanwhile make no other row appear twice or be missed.
   */
  readonly cursor?: string;
}

/**
 * The range of entries that a query means.
 *
 * @throws RepriseError `invalid_argument`
 */
function rangeOf(definition: ProjectionDefinition, query: ViewQuery): ViewRange {
  const base = baseOf(definition, query.index);
  const prefix = query.prefix === undefined ? new Uint8Array() : textPrefix(query.prefix);
  const inside = joined(base, query.under === undefined ? new Uint8Array() : encodeKey(query.under), prefix);
  const reverse = orderOf(query) === 'desc';
  const from = [inside, ...(query.from === undefined ? [] : [joined(base, encodeKey(query.from))])];
  const to = [afterPrefix(inside), ...(query.to === undefined ? [] : [joined(base, encodeKey(query.to))])];
  if (query.after !== undefined) {
    const cursor = cursorBytes(query.after, base);
    if (reverse) to.push(cursor);
    else from.push(joined(cursor, Uint8Array.of(0)));
  }
  const ends = to.filter((end) => end !== undefined).sort(compareBytes);
  return { from: from.sort(compareBytes).at(-1) ?? inside, to: ends[0] ?? null, limit: limitOf(query.limit), reverse };
}

/** One page of rows. Read between commits, so that the rows of a page are consistent. */
export async function readPage(
  store: OpenViewStore,
  definition: ProjectionDefinition,
  query: ViewQuery,
): Promise<Omit<ViewPage<unknown>, 'seq'>> {
  const range = rangeOf(definition, query);
  const entries = await store.scan(definition.name, { ...range, limit: range.limit + 1 });
  const rows: ViewRow<unknown>[] = [];
  for (const [key, value] of entries.slice(0, range.limit)) {
    const place = query.index === undefined ? key.subarray(1) : value;
    const row = query.index === undefined ? value : await store.get(definition.name, joined(entryKey(PART.row), value));
    if (row !== undefined) rows.push({ key: decodeKey(place), row: decode(row) });
  }
  const last = entries[range.limit - 1];
  return entries.length > range.limit && last !== undefined ? { rows, cursor: toHex(last[0]) } : { rows };
}

/** How many rows a page holds. */
export function limitOf(limit: number | undefined): number {
  if (limit === undefined) return PAGE_ROWS_DEFAULT;
  if (isWhole(limit, 1) && limit <= PAGE_ROWS_MAX) return limit;
  throw refusal('invalid limit', `1 to ${PAGE_ROWS_MAX}`, limit);
}

function baseOf(definition: ProjectionDefinition, index: string | undefined): Uint8Array {
  if (index === undefined) return entryKey(PART.row);
  if (definition.indexes.has(index)) return entryKey(PART.index, index);
  const known = [...definition.indexes.keys()].join(', ');
  throw refusal(`the view ${definition.name} has no such index`, known === '' ? 'no index' : known, index);
}

function orderOf({ order = 'asc' }: ViewQuery): 'asc' | 'desc' {
  if (order === 'asc' || order === 'desc') return order;
  throw refusal('invalid order', 'asc or desc', order);
}

function cursorBytes(after: string, base: Uint8Array): Uint8Array {
  try {
    const bytes = fromHex(after);
    if (compareBytes(bytes.subarray(0, base.length), base) === 0) return bytes;
  } catch {
    // refused below
  }
  throw refusal('invalid cursor', 'the `cursor` of an earlier page, with the same index', after);
}

function refusal(what: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', what, { expected, actual });
}
