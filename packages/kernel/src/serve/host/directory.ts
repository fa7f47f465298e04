/** The directory port: where a host remembers its worlds. Suite: `testDirectory` of the testkit. */

/** A row of the directory: what a host knows of a world without opening it. */
export interface WorldRow {
  /** The world's id in this host. */
  readonly world: string;
  /** When it has something to do again, in milliseconds since 1970; null for never. Outdated while the world is open. */
  readonly nextWakeAt: number | null;
  /** True while it is open, and after its host died: only opening it shows when it wants to wake. */
  readonly open: boolean;
}

/** Which rows a query returns, and how many at most. */
export interface RowQuery {
  /** Only open worlds (true), or only closed ones (false). */
  readonly open?: boolean;
  /** Only worlds that want to wake at this time or before. */
  readonly dueBefore?: number;
  /** Only those after this id. */
  readonly after?: string;
  /** The maximum number of rows. */
  readonly limit: number;
}

/** An open directory, held by one host. After it was closed every method rejects with `world_closed`. */
export interface OpenDirectory {
  /** The row of a world; undefined without one. */
  get(world: string): Promise<WorldRow | undefined>;
  /**
   * Writes rows; each replaces the row with the same id.
   *
   * Contract: all of them or none; durable when it resolves. A host marks a world open before it opens it, so
   * that no crash can hide a timer that was set since.
   */
  set(rows: readonly WorldRow[]): Promise<void>;
  /** Deletes the row of a world, if it has one. Durable when it resolves. */
  remove(world: string): Promise<void>;
  /** Rows by id, in the order of their UTF-8 bytes. */
  list(query: RowQuery): Promise<readonly WorldRow[]>;
  /** Rows that are not open and due at `until` or before: the earliest first, then by id. At most `limit`. */
  due(until: number, limit: number): Promise<readonly WorldRow[]>;
  /** The earliest time after `after` at which a closed world wants to wake; null for never. */
  nextDue(after: number): Promise<number | null>;
  /** Closes the directory and frees its lock. Idempotent. */
  close(): Promise<void>;
}

/** The place of a host's directory. */
export interface HostDirectory {
  /** The place as shown to people: a path, or `memory`. */
  readonly label: string;
  /**
   * Opens it, creating it when absent.
   *
   * Contract: rejects with `world_locked` while another opener holds it; the lock ends with `close()` or the holder's
   * death.
   */
  open(): Promise<OpenDirectory>;
}
