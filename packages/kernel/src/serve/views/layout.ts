/** The layout of a view's entries: the first byte says what an entry is. */
import { encodeKey, type RowKey } from '../../pure/codec/index.js';

/** The parts of a view. The numbers are the order of its entries, and are stored in files. */
export const PART = {
  /** Of a projection: key → row. Of a text index: id → number and length. */
  row: 0,
  /** Of a projection: index name, place, key → key. */
  index: 1,
  /** Of every view that folds receipts: effect → what emitted it. */
  effect: 2,
  /** Of a text index: counts. */
  totals: 3,
  /** Of a text index: number of a document → its id. */
  id: 4,
  /** Of a text index: number of a document → its terms. */
  terms: 5,
  /** Of a text index: term, chunk → postings. */
  postings: 6,
  /** Of a text index: content, number of a document → its id. */
  content: 7,
} as const;

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The key of an entry. */
export function entryKey(part: number, key?: RowKey): Uint8Array {
  return key === undefined ? Uint8Array.of(part) : joined(Uint8Array.of(part), encodeKey(key));
}

const END_OF_PLACE = Uint8Array.of(0);

/** The key of an index entry: a row's place in an index, then the row's own key, so that ties have an order. */
export function indexEntryKey(index: string, place: Uint8Array, row: Uint8Array): Uint8Array {
  return joined(entryKey(PART.index, index), place, END_OF_PLACE, row);
}
