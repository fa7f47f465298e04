/** The limits and the budget of a tree. */
import * as z from '@reprise/contracts/schema';
import { optional } from '@reprise/org/contracts';

export { type Used, used } from '@reprise/org/contracts';

const count = z.int().min(0);
const upTo = (max: number) => z.int().min(1).max(max);

/** The limits of a tree. */
export const treeLimits = z.strictObject({
  /**
   * All nodes, questions included. One stop ends all of them before other input is taken, within what one input may write
   * (`CASCADE_VALUE_BYTES_MAX` of the kernel): an ended node writes at most some 6 kB, most of them 2 kB.
   */
  nodes: upTo(20_000),
  /** The levels of nodes; the root is at depth 1. */
  depth: upTo(64),
  /** The children of one node, without its questions. */
  children: upTo(64),
  /** The nodes whose runs are under way at once. */
  parallel: upTo(128),
  /** How often one node may make children: in its first run, in its first synthesis … */
  generations: upTo(16),
  /** How often a node is tried in one phase. */
  attempts: upTo(16),
  /** The questions of one node. */
  asks: upTo(32),
});

/** The limits of a tree. */
export type TreeLimits = z.infer<typeof treeLimits>;

/** The limits that apply when none are stated. */
export const TREE_LIMITS: TreeLimits = {
  nodes: 1_000,
  depth: 12,
  children: 64,
  parallel: 4,
  generations: 3,
  attempts: 2,
  asks: 32,
};

/** Those limits of a tree that change. */
export const limitsChange = z.strictObject(optional(treeLimits.shape));

/** What a tree counts in: tokens, or money in millionths of a dollar. */
export const BUDGET_UNITS = ['tokens', 'micro_money'] as const;

/**
 * The budget of a tree: what each node may use when nothing else is stated for it, and what all together may use; null
 * without a bound. `stated` says whether the budget of a node was stated: then use that was not reported counts as the
 * whole of it.
 */
export const treeBudget = z.strictObject({
  unit: z.enum(BUDGET_UNITS),
  node: z.nullable(count),
  tree: z.nullable(count),
  stated: z.boolean(),
});

/** The budget of a tree. */
export type TreeBudget = z.infer<typeof treeBudget>;

/** The tokens that each node may use when neither a budget nor a limit of its agent is stated. */
export const NODE_TOKENS = 500_000;
