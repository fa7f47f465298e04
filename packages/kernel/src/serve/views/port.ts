/** The view store port: where views are kept. All of it can be lost at any time; suite: `testViewStore` of the testkit. */

/** How far a view has come, and by which definition. */
export interface ViewMark {
  /** The last frame that is in it, −1 before the first. */
  readonly seq: number;
  /** The chain digest after that frame: a journal that has another there made another view. */
  readonly head: string;
  /** The digest of the definition that made it. */
  readonly digest: string;
}

/** A change of one entry: its key, and its value or null when it goes. */
export type ViewChange = readonly [key: Uint8Array, value: Uint8Array | null];

/** An entry of a view. */
export type ViewEntry = readonly [key: Uint8Array, value: Uint8Array];

/** What is written of one view. */
export interface ViewCommit {
  readonly view: string;
  /** The mark that the changes were computed on; null where there is none. */
  readonly expected: ViewMark | null;
  /** Takes everything away first. */
  readonly clear: boolean;
  readonly changes: readonly ViewChange[];
  readonly mark: ViewMark;
}

/** Which entries are read: from `from`, included, to `to`, excluded or null for the end, as their bytes compare. */
export interface ViewRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array | null;
  readonly limit: number;
  /** From the last to the first. */
  readonly reverse?: boolean;
}

/** An open view store: entries in the order of their bytes, and a mark, for each view by its name. */
export interface OpenViewStore {
  /** The mark of a view; null when nothing was written of it. */
  mark(view: string): Promise<ViewMark | null>;

  /** The value of an entry; undefined when there is none. The bytes are the caller's own. */
  get(view: string, key: Uint8Array): Promise<Uint8Array | undefined>;

  /** Entries of a range in order, at most `limit` of them. */
  scan(view: string, range: ViewRange): Promise<readonly ViewEntry[]>;

  /**
   * Writes changes and marks as one step.
   *
   * Contract: all of it or nothing, after a crash as well; never the mark without its entries, nor the reverse.
   * It need not be durable when it resolves. Rejects with `stale_head` and writes nothing when a mark is not the
   * expected one: somebody else has taken the view further.
   */
  commit(commits: readonly ViewCommit[]): Promise<void>;

  /** Gives the store up. Idempotent. */
  close(): Promise<void>;
}

/** A place where views are or will be kept. */
export interface ViewStore {
  /** What people see of it: a path, or `memory`. */
  readonly label: string;
  /** Opens it, creating it when it is absent. */
  open(): Promise<OpenViewStore>;
}
