/** A range of entries of a table, in the order of their keys. */
export interface TableRange {
  /** The first key, itself included. */
  readonly from?: string;
  /** The key after which it begins. */
  readonly after?: string;
  /** The key before which it ends. */
  readonly before?: string;
  /** The maximum number of entries, 1 to 256; 256 when absent. */
  readonly limit?: number;
}

/**
 * A table of a cell during a delivery: a sorted map that may be larger than any state. Keys are texts of 1 to 256
 * bytes, in the order of their bytes. Values are copied on the way in; returned values are the caller's own.
 *
 * @typeParam V the type of the table's values
 */
export interface Table<V> {
  /** The number of entries, which is stored: reading it loads none of them. */
  readonly size: number;
  /** The value under a key. */
  get(key: string): V | undefined;
  /** Stores a value of at most 16 KiB under a key, replacing the old one. */
  set(key: string, value: V): void;
  /** Removes a key. @returns whether it existed */
  delete(key: string): boolean;
  /** Entries in order. Continue after the last one with `after`. */
  range(range?: TableRange): [key: string, value: V][];
  /** The entry with the lowest key. */
  first(): [key: string, value: V] | undefined;
}
