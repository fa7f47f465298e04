/** The view store port. A view store can be lost at any time without damage; suite: `testViewStore` of the testkit. */

/** How far a view has come, and with which definition. */
export interface ViewMark {
  /** The last frame folded into it, −1 before the first. */
  readonly seq: number;
  /** The chain digest after that frame: with another digest there, the view came from another journal. */
  readonly head: string;
  /** The digest of the definition that made it. */
  readonly digest: string;
}

/** A change of one entry: its key, and its value or null to delete it. */
export type ViewChange = readonly [key: Uint8Array, value: Uint8Array | null];

/** An entry of a view. */
export type ViewEntry = readonly [key: Uint8Array, value: Uint8Array];

/** The changes of one view. */
export interface ViewCommit {
  readonly view: string;
  /** The mark that the changes were computed on; null without a mark. */
  readonly expected: ViewMark | null;
  /** Whether to delete all entries of the view before the changes. */
  readonly clear: boolean;
  readonly changes: readonly ViewChange[];
  readonly mark: ViewMark;
}

/** A range of entries: from `from`, included, to `to`, excluded or null for the end, in the order of their bytes. */
export interface ViewRange {
  readonly from: Uint8Array;
  readonly to: Uint8Array | null;
  readonly limit: number;
  /** True: from the last key of the range to the first. */
  readonly reverse?: boolean;
}

/** An open view store: entries in the order of their bytes, and a mark, for each view by its name. */
export interface OpenViewStore {
  /** The mark of a view; null when nothing was written for it. */
  mark(view: string): Promise<ViewMark | null>;

  /** The value of an entry; undefined without one. The bytes are the caller's own. */
  get(view: string, key: Uint8Array): Promise<Uint8Array | undefined>;

  /** Entries of a range in order, at most `limit` of them. */
  scan(view: string, range: ViewRange): Promise<readonly ViewEntry[]>;

  /**
   * Writes changes and marks as one atomic step.
   *
   * Contract: all of it or nothing, after a crash as well; never the mark without its entries, nor the reverse.
   * It need not be durable when it resolves. Rejects with `stale_head` and writes nothing when a mark is not the
   * expected one: another process has updated the view.
   */
  commit(commits: readonly ViewCommit[]): Promise<void>;

  /** Closes the store; a second call does nothing. */
  close(): Promise<void>;
}

/** The place of a view store. */
export interface ViewStore {
  /** The place as shown to people: a path, or `memory`. */
  readonly label: string;
  /** Opens it, creating it when absent. */
  open(): Promise<OpenViewStore>;
}
