/**
 * The data of capabilities and accounts: who may do what, and how much of it. `kernel/src/pure/authority` computes with
 * them.
 *
 * The schemas are part of the journaled language, which cannot bound how many keys a record has. `capabilityFits` and
 * `amountsFit` of the kernel check those two bounds.
 */
import * as z from '../schema/index.js';

/** The longest pattern, in characters: as long as a cell's key. */
export const PATTERN_LENGTH_MAX = 256;

/** How many patterns one dimension may have. A right with more names should use a prefix. */
export const PATTERNS_MAX = 256;

/** How many dimensions one capability may narrow. The kernel has four, a layer adds a few. */
export const DIMENSIONS_MAX = 32;

/** How many units one account or one request for budget may name. */
export const UNITS_MAX = 32;

/** The longest path from an account to its root, both included: every request is checked at each account. */
export const ACCOUNT_DEPTH_MAX = 16;

/** The shape of a pattern: visible ASCII, and a star nowhere but at the end. */
export const PATTERN = /^[!-)+-~]*[!-~]$/;

/** The shape of a dimension's name: `effect`, `send`, `tool`. */
export const DIMENSION = /^[a-z][a-z0-9_.]{0,31}$/;

/** The shape of a unit's name: `tokens`, `micro_money`, `calls`, `parallel`. */
export const UNIT = /^[a-z][a-z0-9_]{0,31}$/;

/** A pattern: exact text (`llm.generate@1`), a beginning (`llm.*`), or everything (`*`). */
export const pattern = z.string().regex(PATTERN).max(PATTERN_LENGTH_MAX);

/** At most {@link PATTERNS_MAX} patterns, which match what any of them matches. */
export const patterns = z.array(pattern).max(PATTERNS_MAX);

/** A list of patterns: it matches what any of them matches. The empty list matches nothing. */
export type Patterns = readonly string[];

/**
 * The rights of a principal. A named dimension is narrowed to its patterns; an absent one is not narrowed, so `{ may:
 * {} }` permits everything. An empty list permits nothing in its dimension.
 */
export interface Capability {
  readonly may: Readonly<Record<string, Patterns>>;
  /** The time in milliseconds at which the right expires. Absent: never. */
  readonly expires_at?: number;
  /** How many effects its holder may have open at once. Absent: any number. */
  readonly max_parallel?: number;
}

/** The rights of a principal. */
export const capability = z.strictObject({
  may: z.record(z.string().regex(DIMENSION), patterns),
  expires_at: z.exactOptional(z.int().min(0)),
  max_parallel: z.exactOptional(z.int().min(1)),
}) satisfies z.AnySchema<Capability>;

/**
 * The two sides of a holder's authority: its own rights, and the rights that it may grant. A coordinator without tools
 * can grant tools that it cannot call.
 */
export interface Rights {
  readonly exercise: Capability;
  /** Absent: the holder's own rights. */
  readonly grant?: Capability;
}

/** The two sides of a holder's authority. */
export const rights = z.strictObject({
  exercise: capability,
  grant: z.exactOptional(capability),
}) satisfies z.AnySchema<Rights>;

/** Whole amounts by unit. An absent unit counts as zero; in limits, an absent unit has no limit. */
export type Amounts = Readonly<Record<string, number>>;

/** Whole amounts, 0 or more, by the name of their unit. */
export const amounts = z.record(z.string().regex(UNIT), z.int().min(0)) satisfies z.AnySchema<Amounts>;

/** The account of a subtree: its limits, its spent amounts, and the amounts reserved for open effects. */
export interface Account {
  /** The parent account, which is charged as well; null at the root. */
  readonly parent: string | null;
  readonly limits: Amounts;
  readonly spent: Amounts;
  readonly reserved: Amounts;
}

/** The account of a subtree. */
export const account = z.strictObject({
  parent: z.nullable(z.string().min(1).max(128)),
  limits: amounts,
  spent: amounts,
  reserved: amounts,
}) satisfies z.AnySchema<Account>;
