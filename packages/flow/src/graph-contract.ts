/** The contract of dependency graphs: what they take, what they tell, what they keep (`flow/Graph@1`). */
import { address, timerFired, value } from '@reprise/contracts';
import { creates } from '@reprise/kernel/define';
import * as z from 'zod';
import { GRAPH_NODES_AT_ONCE, NODE_NEEDS_MAX, PRIORITY_MAX } from './bounds.js';
import { party } from './parties.js';

/** The wire name of the graph reducer. */
export const GRAPH = 'flow/Graph@1';

/** The name of a node: what the code of a rejection has room for. */
const nodeName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,47}$/);

/** The states of a node. */
const NODE_STATES = ['pending', 'ready', 'running', 'done', 'failed', 'skipped', 'cancelled'] as const;

const count = z.int().min(0);
const limit = z.nullable(count);

/** Whether a node wants all of what it needs, or any of it. */
const resolve = z.enum(['all', 'any']);

/**
 * What becomes of a node when what it needs has failed, was skipped or cancelled: it waits for a retry, is skipped as
 * well, or goes on as if nothing had happened.
 */
const onFailure = z.enum(['wait', 'cascade', 'ignore']);

/** A node as it is added. */
export const newNode = z.strictObject({
  node: nodeName,
  needs: z.array(nodeName).max(NODE_NEEDS_MAX).default([]),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).default(0),
  resolve: resolve.default('all'),
  on_failure: onFailure.default('cascade'),
  value: value(),
});

/** What a graph takes. */
export const graphCommands = {
  /** Makes the graph. `limit` nodes run at once, any number when it is null; `reply_to` is told, else the sender. */
  'flow/OpenGraph@1': creates(z.strictObject({ limit: limit.default(null), reply_to: z.exactOptional(address) })),
  /** Adds nodes; they may need each other and what is there already, in no circle. */
  'flow/AddNodes@1': z.strictObject({ nodes: z.array(newNode).min(1).max(GRAPH_NODES_AT_ONCE) }),
  /** No more nodes come: the owner is told when nothing can go on. */
  'flow/SealGraph@1': z.strictObject({}),
  /** A running node has ended, well or not. */
  'flow/FinishNode@1': z.strictObject({ node: nodeName, ok: z.boolean() }),
  /** Makes a failed node ready again. What was skipped for it stays skipped. */
  'flow/RetryNode@1': z.strictObject({ node: nodeName }),
  /** Takes a node back that has not ended. */
  'flow/CancelNode@1': z.strictObject({ node: nodeName }),
  /** Changes how many nodes run at once. */
  'flow/LimitGraph@1': z.strictObject({ limit }),
} as const;

/** How many nodes of a graph are in each state. */
const nodeCounts = z.strictObject({
  pending: count,
  ready: count,
  running: count,
  done: count,
  failed: count,
  skipped: count,
  cancelled: count,
});

/** What the owner of a graph is told: list them among the events of its reducer. */
export const graphEvents = {
  /** All that the node needs is there, and it is its turn: it runs until `FinishNode`. */
  'flow/NodeReady@1': z.strictObject({ node: nodeName, value: value() }),
  /** Somebody else took the node back. */
  'flow/NodeCancelled@1': z.strictObject({ node: nodeName }),
  /** The graph is sealed and nothing can go on; what is pending waits for a retry. */
  'flow/GraphSettled@1': nodeCounts,
} as const;

/** The state of a graph; its nodes are in tables. */
export const graphState = z.strictObject({
  open: z.boolean(),
  owner: party,
  limit,
  sealed: z.boolean(),
  /** The owner has been told that nothing can go on. */
  settled: z.boolean(),
  /** The number of the next node. */
  next: count,
  counts: nodeCounts,
});

/** A node, by its name. */
export const knownNode = z.strictObject({
  state: z.enum(NODE_STATES),
  /** Its place among the ready. */
  at: z.string(),
  resolve,
  on_failure: onFailure,
  /** What it needs: how many are open, ended well, ended otherwise. */
  open: count,
  ok: count,
  bad: count,
});

/** What a node knows of one that it needs. */
export const needState = z.enum(['open', 'ok', 'bad']);

/** The tables of a graph. */
export const graphTables = {
  nodes: knownNode,
  values: value(),
  /** By the node that is needed and the one that needs it. */
  needs: needState,
  /** The ready nodes, by their place: names. */
  ready: nodeName,
  /** Nodes of which not all dependents know what has become of them: the last one that does. */
  news: z.nullable(nodeName),
} as const;

/** What of the kernel's a graph takes. */
export const graphNotices = { 'sys/TimerFired@1': timerFired } as const;
