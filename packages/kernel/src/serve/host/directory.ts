/** The directory port: where a host remembers its worlds. Suite: `testDirectory` of the testkit. */

/** What a host knows of a world that it need not open for it. */
export interface WorldRow {
  /** The world's id in this host. */
  readonly world: string;
  /** When it has something to do again, in milliseconds since 1970; null for never. Stale while the world is open. */
  readonly nextWakeAt: number | null;
  /** It is open, or was when its host died: only opening it tells when it wants to be woken. */
  readonly open: boolean;
}

/** Which rows are asked for. */
export interface RowQuery {
  /** Only those that are open, or are not. */
  readonly open?: boolean;
  /** Only those that want to be woken at this time or before. */
  readonly dueBefore?: number;
  /** Only those after this id. */
  readonly after?: string;
  /** At most so many. */
  readonly limit: number;
}

/** An open directory, held by one host. After it was closed every method rejects with `world_closed`. */
export interface OpenDirectory {
  /** The row of a world; undefined when it has none. */
  get(world: string): Promise<WorldRow | undefined>;
  /**
   * Puts rows in the place of those with the same ids.
   *
   * Contract: all of them or none; durable when it resolves. A world is marked open by this before it is opened, so
   * that no crash can hide a timer that was set since.
   */
  set(rows: readonly WorldRow[]): Promise<void>;
  /** Takes the row of a world out, when it has one. Durable when it resolves. */
  remove(world: string): Promise<void>;
  /** Rows by id, in the order of their UTF-8 bytes. */
  list(query: RowQuery): Promise<readonly WorldRow[]>;
  /** Rows that are not open and due at `until` or before: the earliest first, then by id. At most `limit`. */
  due(until: number, limit: number): Promise<readonly WorldRow[]>;
  /** The earliest time after `after` at which a world that is not open wants to be woken; null for never. */
  nextDue(after: number): Promise<number | null>;
  /** Gives the directory up. Idempotent. */
  close(): Promise<void>;
}

/** A place where a host's directory is or will be kept. */
export interface HostDirectory {
  /** What people see of it: a path, or `memory`. */
  readonly label: string;
  /**
   * Opens it, creating it when absent.
   *
   * Contract: rejects with `world_locked` while another opener holds it; the lock ends with `close()` or the holder's
   * death.
   */
  open(): Promise<OpenDirectory>;
}
