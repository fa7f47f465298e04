/** The ownership of a store that another opening can take over while this one lives: a fence instead of a lock. */

/**
 * How long an opening owns its store, for a store whose lock does not last until the process dies, such as one in a
 * database. What the store itself is asked for is fenced by the store; a tenure answers for what it is not asked for:
 * whether an effect may start, and whether a state in memory is still the newest.
 *
 * Contract: once it was over it never begins again; `holds` tells the truth on the monotonic clock of this machine, also
 * when the store cannot be reached; no other opening gets the store while `holds` is true.
 */
export interface Tenure {
  /** The number of this opening: each opening of the store has a higher one. Services take it as a fencing token. */
  readonly epoch: number;
  /** Whether this opening certainly owns the store now. */
  holds(): boolean;
  /** Resolves when it has ended, by a take-over or because it could not be extended; never after a clean close. */
  readonly lost: Promise<void>;
}
