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

/** A row that this host has claimed: it says `open` until it is released. */
export interface ClaimedRow {
  /** The row as it was before the claim; undefined without one. `open` after a host that had it died. */
  readonly before: WorldRow | undefined;
  /**
   * Writes the row, closed again; undefined removes it. Durable when it resolves.
   *
   * Contract: changes nothing when the claim has ended meanwhile, since another host may have the world now. A row
   * whose release failed is adopted later, as that of a dead host.
   */
  release(row: WorldRow | undefined): Promise<void>;
}

/** What a host uses of a limit that all hosts of a directory share. */
export interface LimitUse {
  /** The name of the limit, the same at every host. */
  readonly limit: string;
  /** What all hosts together may use. */
  readonly max: number;
  /** What this host uses or may use now: it keeps so much reserved. */
  readonly held: number;
  /** How long what a host has used counts after its end, in milliseconds. */
  readonly countsFor: number;
}

/** The parts of limits that a host may use. */
export interface LimitParts {
  /** What it may use of each limit, in the order in which it asked. */
  readonly allowed: readonly number[];
  /** Whether the host certainly lives; otherwise its parts are those of others, and it uses nothing more. */
  holds(): boolean;
}

/**
 * What a directory does beside its rows when several hosts have it open at the same time. Each of them lives as long as
 * its lease, which the place of the directory measures by its own clock.
 */
export interface SharedRows {
  /** How often a host looks at what other hosts have written, in milliseconds: the most that pass between two looks. */
  readonly lookEvery: number;
  /**
   * Claims a world for this host and says that it is open, as one step.
   *
   * Contract: rejects with `world_locked` while a living host has it, and then changes nothing. Of claims at the same
   * time one succeeds. The claim ends with its release or with the lease of this host.
   */
  claim(world: string): Promise<ClaimedRow>;
  /**
   * Closes open rows that no living host has, due at `dueAt`: those of dead hosts, and those that this host could not
   * release. At most `limit`.
   *
   * @returns how many
   */
  adopt(dueAt: number, limit: number): Promise<number>;
  /**
   * Divides limits among the hosts that ask for them; each asks at least every `lookEvery`.
   *
   * Contract: what all hosts have reserved of a limit is never more than its `max`. A host keeps what it holds as far as it
   * has reserved it, and what a dead host had reserved counts until `countsFor` after the end of its lease. Hosts have fair
   * parts: the limit divided by their number, and the rest goes round.
   */
  share(uses: readonly LimitUse[]): Promise<LimitParts>;
  /**
   * Calls back after another host has written rows. It is a hint: a call may be missing, or come for nothing.
   *
   * @returns stops the calls
   */
  changed?(call: () => void): () => void;
}

/**
 * An open directory, held by one host, or by several when it has `shared`. After it was closed every method rejects with
 * `world_closed`.
 */
export interface OpenDirectory {
  /** Present when several hosts have the directory at a time. */
  readonly shared?: SharedRows;
  /** The row of a world; undefined without one. */
  get(world: string): Promise<WorldRow | undefined>;
  /**
   * Writes rows; each replaces the row with the same id.
   *
   * Contract: all of them or none; durable when it resolves. A host marks a world open before it opens it, so
   * that no crash can hide a timer that was set since. A shared directory leaves the row of a world as it is that a
   * living host has claimed.
   */
  set(rows: readonly WorldRow[]): Promise<void>;
  /** Deletes the row of a world, if it has one, and no living host has claimed it. Durable when it resolves. */
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
   * Contract: one that is not shared rejects with `world_locked` while another opener holds it; the lock ends with
   * `close()` or the holder's death.
   */
  open(): Promise<OpenDirectory>;
}
