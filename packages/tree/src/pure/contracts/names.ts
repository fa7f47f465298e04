/** Names of the tree, its tables, and its bounds. */

/** The wire name of the tree's reducer. The key of a cell is the tree's name. */
export const TREE = 'tree/Tree@1';

/** The name of a tree: from it the keys of its sessions are made. */
export const TREE_NAME = /^[a-z0-9._-]{1,100}$/;

/** The kinds of nodes. A question is a node too. */
export const NODE_TYPES = ['goal', 'spawn', 'fork', 'serial', 'ask'] as const;

/** The states of a node. The two waiting states are forms of being active. */
export const NODE_STATUSES = [
  'pending',
  'active',
  'waiting_children',
  'waiting_input',
  'complete',
  'failed',
  'cancelled',
] as const;

/** The state of a node. */
export type NodeStatus = (typeof NODE_STATUSES)[number];

/** The final states of a node. */
export const ENDED: readonly NodeStatus[] = ['complete', 'failed', 'cancelled'];

/** The states of a tree. */
export const TREE_STATUSES = ['running', 'paused', 'complete', 'failed', 'cancelled'] as const;

/** The state of a tree. */
export type TreeStatus = (typeof TREE_STATUSES)[number];

/** What people, programs and nodes do to a node or to a tree. An answer is a fact of its own. */
export const TREE_ACTS = ['stop', 'pause', 'resume', 'retry', 'add', 'modify', 'restrict', 'tell', 'limit'] as const;

/** An act on a node or a tree. */
export type TreeAct = (typeof TREE_ACTS)[number];

/** The types of results that a node may have. `approval` is only the type of an answer. */
export const RESULT_TYPES = ['text', 'boolean', 'list', 'structured', 'file'] as const;

/** The type of a node's result. */
export type ResultType = (typeof RESULT_TYPES)[number];

/** The types of answers to a question. */
export const ANSWER_TYPES = ['text', 'boolean', 'approval'] as const;

/** The answers that a question has by its type; a text has those that its asker lists. */
export const FIXED_OPTIONS: Readonly<
  Record<(typeof ANSWER_TYPES)[number], readonly [yes: string, no: string] | undefined>
> = {
  text: undefined,
  boolean: ['yes', 'no'],
  approval: ['approved', 'rejected'],
};

/** How a result of another node is shown to the node that needs it. */
export const VIEWS = ['full', 'summary', 'none'] as const;

/** What happens to a node when one that it needs has ended without a result. */
export const ON_FAILURE = ['block', 'continue'] as const;

/** The purpose of a run of a node. */
export const PHASES = ['work', 'synthesis', 'answer', 'repair'] as const;

/** The purpose of a run. */
export type Phase = (typeof PHASES)[number];

/** The variants of an agent: one for each type of result, and with or without the tools that make children. */
export const VARIANTS = RESULT_TYPES.flatMap((type) => [`${type}.make`, `${type}.leaf`] as const);

/** The variant of an agent for a node. */
export function variantOf(returns: ResultType, maysMake: boolean): string {
  return `${returns}.${maysMake ? 'make' : 'leaf'}`;
}

/** The number of nodes that one delivery changes; more follow before any other input. */
export const CHANGES_AT_ONCE = 64;

/** How often a node is told that its result is wrong, before its attempt has failed. */
export const WRONG_RESULTS_MAX = 3;

/** How long a run may continue after it gave a valid result, in milliseconds. */
export const AFTER_RESULT_MS = 60_000;

/** The bytes of a goal. */
export const GOAL_BYTES_MAX = 500;

/** The nodes that one node needs. */
export const NEEDS_MAX = 32;

/** The steps of one serial. */
export const STEPS_MAX = 32;

/** The options of a question. */
export const OPTIONS_MAX = 12;

/** The characters of one option. */
export const OPTION_LENGTH_MAX = 200;
