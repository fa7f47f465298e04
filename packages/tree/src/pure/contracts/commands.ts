/** The events that a tree takes: from outside, from its plans, and from itself. */
import { actor, address, capability, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { callPlace } from '@reprise/org/contracts';
import { goalText, nodeAgentName, nodeCalls } from './calls.js';
import { limitsChange, treeBudget, used } from './limits.js';
import { RESULT_TYPES, TREE_STATUSES } from './names.js';
import { answered, carried, given, nodeNumber } from './node.js';
import { PEOPLE, promptWords, treeAgent, treeMemory } from './tree.js';

const count = z.int().min(0);

/** A node that is to be made. */
export const nodeSpec = z.strictObject({
  ...nodeCalls.spawn.call.shape,
  /** What it and all below it may do, within what every node above it may; all of that when absent. */
  rights: z.exactOptional(capability),
});

/** A node that is to be made. */
export type RecordedNodeSpec = z.infer<typeof nodeSpec>;

/** What the part of a world supplies to a tree: its agents, the first of which is the usual one, and its texts. */
export const treeSupplies = z.strictObject({ agents: z.array(treeAgent).min(1).max(32), words: promptWords });

/** What the part of a world supplies to a tree. */
export type TreeSupplies = z.infer<typeof treeSupplies>;

/**
 * `tree/Start@1`: makes the tree. A cell that starts one cannot send agents and texts: without them the tree
 * obtains both from the part of its world.
 */
export const treeStart = z.strictObject({
  goal: goalText,
  prompt_ref: ref(),
  /** The agent of the root; the first one when absent. */
  agent: z.exactOptional(nodeAgentName),
  agents: z.exactOptional(treeSupplies.shape.agents),
  words: z.exactOptional(promptWords),
  /** The type of the root's result; `text` when absent. */
  returns: z.exactOptional(z.enum(RESULT_TYPES)),
  schema_ref: z.exactOptional(z.nullable(ref())),
  limits: z.exactOptional(limitsChange),
  /** Without it each node may use {@link NODE_TOKENS}. */
  budget: z.exactOptional(treeBudget),
  /** What becomes of questions to people; `human` when absent. */
  people: z.exactOptional(z.enum(PEOPLE)),
  labels: z.exactOptional(z.record(z.string().max(64), z.string().max(256))),
  /** The cell of the app that answers its agents' own owner tools. */
  calls: z.exactOptional(address),
  /** The store that its nodes search. */
  memory: z.exactOptional(treeMemory),
  /** What the root and all below it may do, within what the tree's cell may; all of that when absent. */
  rights: z.exactOptional(capability),
});

/** The start of a tree. */
export type TreeStart = z.infer<typeof treeStart>;

/** The commands of people, of the app, and of the cell that started the tree. */
export const treeCommands = {
  'tree/Stop@1': z.strictObject({ node: nodeNumber }),
  'tree/Pause@1': z.strictObject({ node: nodeNumber }),
  'tree/Resume@1': z.strictObject({ node: nodeNumber }),
  /** Tries an ended node again: by another agent, in a new session, or with another budget. */
  'tree/Retry@1': z.strictObject({
    node: nodeNumber,
    agent: z.exactOptional(nodeAgentName),
    fresh: z.exactOptional(z.literal(true)),
    budget: z.exactOptional(z.int().min(1)),
  }),
  'tree/Add@1': z.strictObject({
    parent: nodeNumber,
    type: z.enum(['spawn', 'fork']),
    nodes: z.array(nodeSpec).min(1).max(64),
  }),
  /** Changes a node that has not begun, or is paused. */
  'tree/Modify@1': z.strictObject({
    node: nodeNumber,
    goal: z.exactOptional(goalText),
    prompt_ref: z.exactOptional(ref()),
    priority: z.exactOptional(z.int().min(-1000).max(1000)),
    agent: z.exactOptional(nodeAgentName),
    budget: z.exactOptional(z.int().min(1)),
  }),
  /** Narrows what a node and all below it may do. What is under way and is permitted no longer ends. */
  'tree/Restrict@1': z.strictObject({ node: nodeNumber, rights: capability }),
  'tree/Tell@1': z.strictObject({ node: nodeNumber, text_ref: ref() }),
  'tree/Answer@1': z.strictObject({ ask: nodeNumber, text_ref: ref(), picked: answered.shape.picked }),
  'tree/Limit@1': z.strictObject({
    limits: z.exactOptional(limitsChange),
    /** What all nodes together may use; null without a bound. */
    budget: z.exactOptional(z.nullable(count)),
  }),
};

/** The name of a command. */
export type TreeCommandName = keyof typeof treeCommands;

/** The events of the tree's own plans. */
export const treeNews = {
  /** The part of the world supplied agents and texts, or could not. */
  'tree/Supplied@1': z.strictObject({
    supplies: z.nullable(treeSupplies),
    code: z.nullable(z.string().max(96)),
  }),
  /** The prompt of a launch was composed, or could not be. */
  'tree/Composed@1': z.strictObject({
    n: nodeNumber,
    launch: count,
    text_ref: z.nullable(ref()),
    code: z.nullable(z.string().max(96)),
    carries: carried,
  }),
  /** The question of a node was composed for one that is to answer. */
  'tree/Questioned@1': z.strictObject({ ask: nodeNumber, to: nodeNumber, text_ref: z.nullable(ref()) }),
  /** A result was checked: it is of the node's type, or has problems, or could not be checked. */
  'tree/Checked@1': z.strictObject({
    n: nodeNumber,
    launch: count,
    /** The call of `complete` that waits; null for a last answer, an unchecked draft, and the list of a serial. */
    call: z.nullable(callPlace),
    given: z.nullable(given),
    problems_ref: z.nullable(ref()),
    code: z.nullable(z.string().max(96)),
  }),
  /** People answered a question, or did not in time: then `by` is null. */
  'tree/PeopleAnswered@1': z.strictObject({
    ask: nodeNumber,
    text_ref: z.nullable(ref()),
    by: z.nullable(actor),
    late: z.boolean(),
  }),
};

/** The event by which a tree notifies the cell that started it. */
export const TREE_ENDED = 'tree/Ended@1';

/** `tree/Ended@1` as an event: a cell that starts trees takes it. */
export const treeEnded = z.strictObject({
  status: z.enum(TREE_STATUSES),
  /** Why the root ended without a result. */
  code: z.exactOptional(z.string().max(96)),
  result_ref: z.exactOptional(ref()),
  spent: used,
});

/** The codes with which a command or call is refused. */
export const TREE_REFUSALS = [
  'not_started',
  'invalid_name',
  'already_started',
  'not_yours',
  'unknown_node',
  'unknown_agent',
  'unknown_tool',
  'invalid_arguments',
  'not_your_subtree',
  'not_your_child',
  'node_ended',
  'stale_launch',
  'not_ended',
  'ancestor_ended',
  'already_ended',
  'is_active',
  'illegal_transition',
  'would_deadlock',
  'limit_depth',
  'limit_nodes',
  'limit_children',
  'limit_generations',
  'limit_asks',
  'over_budget',
  'not_permitted',
  'too_many_rights',
  'wrong_unit',
  'no_children',
  'no_people',
  'not_asked',
  'not_an_option',
  'already_answered',
  'too_many_open',
] as const;

/** Why a command or call was refused. */
export type TreeRefusal = (typeof TREE_REFUSALS)[number];
