/** Which entries of a table, in the order of their keys. */
export interface TableRange {
  /** The first key, itself included. */
  readonly from?: string;
  /** The key after which it begins. */
  readonly after?: string;
  /** The key before which it ends. */
  readonly before?: string;
  /** How many at most, 1 to 256; 256 when absent. */
  readonly limit?: number;
}

/**
 * A table of a cell during a delivery: a sorted map that may be larger than any state. Keys are texts of 1 to 256
 * bytes, in the order of their bytes. What is given is copied when it is given, what is returned is the caller's own.
 *
 * @typeParam V what the table's schema takes
 */
export interface Table<V> {
  /** How many entries there are. */
  readonly size: number;
  /** The value under a key. */
  get(key: string): V | undefined;
  /** Puts a value of at most 16 KiB under a key; what was there is replaced. */
  set(key: string, value: V): void;
  /** Removes a key. @returns whether it was there */
  delete(key: string): boolean;
  /** Entries in order. What comes after the last one is asked for with `after`. */
  range(range?: TableRange): [key: string, value: V][];
  /** The entry with the lowest key. */
  first(): [key: string, value: V] | undefined;
}
