/**
 * Who may do what, and how much of it: the data of capabilities and of accounts. What they mean is arithmetic, and
 * stands in `kernel/src/pure/authority`.
 *
 * The schemas are part of the journaled language, which cannot bound how many keys a record has. `capabilityFits` and
 * `amountsFit` of the kernel hold those two bounds.
 */
import * as z from 'zod';

/** The longest pattern, in characters: as long as a cell's key. */
export const PATTERN_LENGTH_MAX = 256;

/** Patterns of one dimension, as somebody writes them. A right that names more than this wants a prefix. */
export const PATTERNS_MAX = 256;

/** Dimensions that one capability narrows. The kernel has four, a layer adds a few. */
export const DIMENSIONS_MAX = 32;

/** Units that one account or one ask names. */
export const UNITS_MAX = 32;

/** Accounts from one to its root, both counted: every ask is checked at each. */
export const ACCOUNT_DEPTH_MAX = 16;

/** The shape of a pattern: visible ASCII, and a star nowhere but at the end. */
export const PATTERN = /^[!-)+-~]*[!-~]$/;

/** The shape of a dimension's name: `effect`, `send`, `tool`. */
export const DIMENSION = /^[a-z][a-z0-9_.]{0,31}$/;

/** The shape of a unit's name: `tokens`, `micro_money`, `calls`, `parallel`. */
export const UNIT = /^[a-z][a-z0-9_]{0,31}$/;

/** A pattern: exact text (`llm.generate@1`), a beginning (`llm.*`), or everything (`*`). */
export const pattern = z.string().regex(PATTERN).max(PATTERN_LENGTH_MAX);

/** A list of patterns. */
export const patterns = z.array(pattern).max(PATTERNS_MAX);

/** A list of patterns: what one of them matches, the list matches. The empty list matches nothing. */
export type Patterns = readonly string[];

/**
 * What somebody may do. Each dimension that is named narrows to its patterns; one that is absent is not narrowed, so
 * `{ may: {} }` is everything. An empty list leaves nothing of its dimension.
 */
export interface Capability {
  readonly may: Readonly<Record<string, Patterns>>;
  /** The time in milliseconds from which on it permits nothing. Absent: never. */
  readonly expires_at?: number;
  /** How many effects its holder may have open at once. Absent: any number. */
  readonly max_parallel?: number;
}

/** What somebody may do. */
export const capability = z.strictObject({
  may: z.record(z.string().regex(DIMENSION), patterns),
  expires_at: z.exactOptional(z.int().min(0)),
  max_parallel: z.exactOptional(z.int().min(1)),
}) satisfies z.ZodType<Capability>;

/**
 * The two sides of a holder's authority: what it may do itself, and what it may hand on. A coordinator without tools
 * can grant tools that it cannot call.
 */
export interface Rights {
  readonly exercise: Capability;
  /** Absent: what it may do itself. */
  readonly grant?: Capability;
}

/** The two sides of a holder's authority. */
export const rights = z.strictObject({
  exercise: capability,
  grant: z.exactOptional(capability),
}) satisfies z.ZodType<Rights>;

/** Whole amounts by unit. An absent unit is none of it; in limits, no limit. */
export type Amounts = Readonly<Record<string, number>>;

/** Whole amounts by unit. */
export const amounts = z.record(z.string().regex(UNIT), z.int().min(0)) satisfies z.ZodType<Amounts>;

/** A ledger of what a subtree may use: its limits, what is used up, and what is set aside for effects that are open. */
export interface Account {
  /** The account that is charged as well; null at the root. */
  readonly parent: string | null;
  readonly limits: Amounts;
  readonly spent: Amounts;
  readonly reserved: Amounts;
}

/** A ledger of what a subtree may use. */
export const account = z.strictObject({
  parent: z.nullable(z.string().min(1).max(128)),
  limits: amounts,
  spent: amounts,
  reserved: amounts,
}) satisfies z.ZodType<Account>;
