/** The tree as a cell: its state, its tables, and the facts from which every view is drawn. */

import { adopted } from '@reprise/agent/contracts';
import { actor, address, capability, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { callPlace, makingTables, memoryTables, SCOPE } from '@reprise/org/contracts';
import { treeBudget, treeLimits, used } from './limits.js';
import { TREE_ACTS, TREE_STATUSES } from './names.js';
import {
  answered,
  askRow,
  edge,
  launchingNode,
  nodeNumber,
  nodeRow,
  storedDraft,
  toldWords,
  treePurpose,
  workItem,
} from './node.js';

const count = z.int().min(0);

/** The texts of the tree itself, as recorded content: parts of every prompt. */
export const promptWords = z.strictObject({
  /** How a node works in a tree, and its tools. */
  rules_ref: ref(),
  /** For a node that may not make children. */
  leaf_ref: ref(),
  synthesis_ref: ref(),
  answer_ref: ref(),
  repair_ref: ref(),
  /** For each type of result: how it is given. */
  returns: z.strictObject({ text: ref(), boolean: ref(), list: ref(), structured: ref(), file: ref() }),
  /** For a node that has used 80 and 95 percent of its budget. */
  budget_80_ref: ref(),
  budget_95_ref: ref(),
});

/** The texts of the tree itself. */
export type RecordedWords = z.infer<typeof promptWords>;

/** The part of an agent's definition that differs from variant to variant. */
export const variant = z.strictObject({ def_ref: ref(), tools_ref: ref(), tools_bytes: z.exactOptional(count) });

/** An agent that nodes may have: its definition, and what its variants change in it. */
export const treeAgent = z.strictObject({
  name: z.string().min(1).max(64),
  adopted,
  /** By the name that `variantOf` gives, such as `text.make`. */
  variants: z.record(z.string().max(32), variant),
  /** The agents that its sessions may spawn as children of their own; empty when absent. */
  agents: z.exactOptional(z.array(adopted).min(1).max(32)),
  /** The names of its own tools that a cell of the app answers; empty when absent. */
  calls: z.exactOptional(z.array(z.string().min(1).max(64)).min(1).max(64)),
});

/** An agent that nodes may have. */
export type TreeAgent = z.infer<typeof treeAgent>;

/** What a tree does with a question to people: it asks them, takes the default, or fails the asking node's call. */
export const PEOPLE = ['human', 'default', 'fail'] as const;

/** The store that a tree was given: its nodes search it, and with `write` store what they find. */
export const treeMemory = z.strictObject({ scope: z.string().regex(SCOPE), write: z.boolean() });

/** What nodes may do with the store of their tree; empty for a tree without one. */
export function useOfMemory(memory: TreeState['memory']): { readonly memory?: 'read' | 'write' } {
  return memory === undefined ? {} : { memory: memory.write ? 'write' : 'read' };
}

/** The state of a tree. */
export const treeState = z.strictObject({
  status: z.enum(TREE_STATUSES),
  /** The number of the next node. */
  next: nodeNumber,
  /** The nodes whose run takes a slot. */
  running: count,
  limits: treeLimits,
  budget: treeBudget,
  spent: used,
  reserved: count,
  /** The number of open questions. */
  asks: count,
  people: z.enum(PEOPLE),
  agent: z.string().max(64),
  labels: z.record(z.string().max(64), z.string().max(256)),
  /** The cell of the app that answers its agents' own owner tools; null without one. */
  calls: z.nullable(address),
  /** Absent for a tree without a store. */
  memory: z.exactOptional(treeMemory),
  /** The cell that started the tree; null when the app did. */
  starter: z.nullable(address),
  started: count,
  ended: z.nullable(count),
  /** When the timer of runs that continue after their result fires; null while it is not set. */
  overdue: z.nullable(count),
  /** The digest of what started it: the same start again changes nothing. */
  start: z.nullable(z.string().max(64)),
});

/** The state of a tree. */
export type TreeState = z.infer<typeof treeState>;

/** The key of the one entry of the table `words`. */
export const WORDS_KEY = 'words';

/** The tables of a tree. A node stands under its number, a pair under two of them. */
export const treeTables = {
  nodes: nodeRow,
  children: z.null(),
  needs: edge,
  dependents: z.null(),
  ready: nodeNumber,
  /** Ready nodes that may not begin, because they or a node above are paused. */
  held: z.null(),
  sessions: nodeNumber,
  agents: treeAgent,
  /** One entry, once the part of the world has supplied it: a state that held these links would pay for them at each event. */
  words: promptWords,
  asks: askRow,
  /** Open questions by the node that is to answer. */
  routes: z.null(),
  /** Words for the next prompt of a node. */
  told: toldWords,
  /** Calls that a cell of the app is to answer, by their session and id. */
  passed: callPlace,
  /** Nodes with a run of their own. */
  live: z.null(),
  /** What the plans under way are for. */
  plans: treePurpose,
  work: workItem,
  /** Results of runs that have not ended, and of nodes that wait for their children. */
  drafts: storedDraft,
  /** What was said about the rights of a node. */
  rights: capability,
  /** The rights that stand for a session. */
  granted: capability,
  launching: launchingNode,
  ...makingTables,
  ...memoryTables,
};

const { n, type, parent, prompt_ref, returns, agent, status, paused, phase, gen, attempt } = nodeRow.shape;
const { launch, session, run, result, code, stopped_by, spent, budget } = nodeRow.shape;
const { asker, target, route, question_ref, options, deadline } = askRow.shape;

/** The facts of a tree. */
export const treeFacts = {
  'tree/Started@1': z.strictObject({
    goal: z.string().max(500),
    limits: treeLimits,
    budget: treeBudget,
    labels: z.record(z.string().max(64), z.string().max(256)),
    by: actor,
  }),
  /** An act on a node, or on the whole tree, and by whom. An answer is a fact of its own. */
  'tree/Acted@1': z.strictObject({ act: z.enum(TREE_ACTS), n: z.nullable(nodeNumber), by: actor }),
  /** A node as its row says, without what only the tree counts with. */
  'tree/NodeChanged@1': z.strictObject({
    ...{ n, type, parent, goal: z.string().max(500), prompt_ref, returns, agent, status, paused, phase, gen, attempt },
    ...{ launch, session, run, result, code, stopped_by, spent, budget },
  }),
  /** Edges of a node: the nodes that it needs. */
  'tree/Needs@1': z.strictObject({ n: nodeNumber, needs: z.array(nodeNumber).max(64) }),
  /** What was said about the rights of a node: it and all below it may do no more. */
  'tree/Rights@1': z.strictObject({ n: nodeNumber, rights: capability }),
  'tree/Launched@1': z.strictObject({
    ...{ n, launch, phase, gen, attempt, session: z.string().max(256) },
    /** The run of the session. */
    run: count,
    prompt_ref: ref(),
    /** The nodes whose results stand in the prompt. */
    inputs: z.array(nodeNumber).max(256),
  }),
  'tree/Asked@1': z.strictObject({
    ...{ ask: nodeNumber, asker, target, route, question_ref, options, returns: askRow.shape.returns },
    ...{ default: askRow.shape.default, deadline },
  }),
  'tree/Answered@1': z.strictObject({ ask: nodeNumber, asker: nodeNumber, ...answered.shape }),
  /** Something came back that was expected no longer. */
  'tree/Late@1': z.strictObject({ n: nodeNumber, what: z.string().max(64), launch: count }),
  'tree/Budget@1': z.strictObject({ spent: used, reserved: count }),
  /** The limits, or the budget of all nodes together, were changed. */
  'tree/Limited@1': z.strictObject({ limits: treeLimits, budget: z.nullable(count) }),
  'tree/Ended@1': z.strictObject({
    status: z.enum(TREE_STATUSES),
    ...{ code, result, spent },
  }),
};

/** The name of a fact of a tree. */
export type TreeFactName = keyof typeof treeFacts;

/** The content of a fact of a tree. */
export type TreeFact<K extends TreeFactName> = z.infer<(typeof treeFacts)[K]>;
