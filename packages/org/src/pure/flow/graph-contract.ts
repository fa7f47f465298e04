/** The schemas of dependency graphs: commands, events and state (`flow/Graph@1`). */
import { address, timerFired, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, from, fromAll } from '@reprise/kernel/define';
import { GRAPH_NODES_AT_ONCE, NODE_NEEDS_MAX, PRIORITY_MAX } from './bounds.js';
import { anyone, party } from './parties.js';

/** The wire name of the graph reducer. */
export const GRAPH = 'flow/Graph@1';

/** The name of a node: at most as long as the code of a rejection can contain. */
const nodeName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,47}$/);

/** The states of a node. */
const NODE_STATES = ['pending', 'ready', 'running', 'done', 'failed', 'skipped', 'cancelled'] as const;

const count = z.int().min(0);
const limit = z.nullable(count);

/** Whether a node needs all of its dependencies to succeed, or any of them. */
const resolve = z.enum(['all', 'any']);

/**
 * The reaction of a node to a dependency that has failed, was skipped or cancelled: it waits for a retry, is skipped as
 * well, or continues as if the dependency had succeeded.
 */
const onFailure = z.enum(['wait', 'cascade', 'ignore']);

/** A node to be added. */
export const newNode = z.strictObject({
  node: nodeName,
  needs: z.array(nodeName).max(NODE_NEEDS_MAX).default([]),
  priority: z.int().min(-PRIORITY_MAX).max(PRIORITY_MAX).default(0),
  resolve: resolve.default('all'),
  on_failure: onFailure.default('cascade'),
  value: value(),
});

/** The commands of a graph. */
export const graphCommands = {
  /**
   * Creates the graph. `limit` nodes run at once, any number when it is null; the owner is `reply_to`, or else the
   * sender.
   */
  'flow/OpenGraph@1': creates(
    from(z.strictObject({ limit: limit.default(null), reply_to: z.exactOptional(address) }), anyone),
  ),
  ...fromAll(
    {
      /** Adds nodes; they may depend on each other and on existing nodes, without a cycle. */
      'flow/AddNodes@1': z.strictObject({ nodes: z.array(newNode).min(1).max(GRAPH_NODES_AT_ONCE) }),
      /** Ends the adding of nodes: the owner is notified when nothing can continue. */
      'flow/SealGraph@1': z.strictObject({}),
      /** Ends a running node, as a success or a failure. */
      'flow/FinishNode@1': z.strictObject({ node: nodeName, ok: z.boolean() }),
      /** Makes a failed node ready again. Nodes that were skipped because of it stay skipped. */
      'flow/RetryNode@1': z.strictObject({ node: nodeName }),
      /**
       * Skips a node that is pending or ready, or has failed: for the nodes that need it, it counts as done. Nodes that were
       * skipped because of it stay skipped.
       */
      'flow/SkipNode@1': z.strictObject({ node: nodeName }),
      /** Cancels a node that has not ended. */
      'flow/CancelNode@1': z.strictObject({ node: nodeName }),
      /** Changes the number of nodes that may run at once. */
      'flow/LimitGraph@1': z.strictObject({ limit }),
    },
    anyone,
  ),
} as const;

/** The numbers of nodes of a graph, by state. */
const nodeCounts = z.strictObject({
  pending: count,
  ready: count,
  running: count,
  done: count,
  failed: count,
  skipped: count,
  cancelled: count,
});

/** A skipped node and the dependency because of which it was skipped; null for a command. */
const skip = z.strictObject({ node: nodeName, for: z.nullable(nodeName) });

/** The events that the owner of a graph gets: list them among the events of its reducer. */
export const graphEvents = {
  /** The dependencies of the node are complete and it is its turn: it runs until `FinishNode`. */
  'flow/NodeReady@1': z.strictObject({ node: nodeName, value: value() }),
  /** Another party cancelled the node. */
  'flow/NodeCancelled@1': z.strictObject({ node: nodeName }),
  /**
   * The node was skipped: `for` is the dependency that ended badly, null when a command skipped the node. It comes once
   * for each skipped node, before the event that the graph has settled.
   */
  'flow/NodeSkipped@1': skip,
  /** The graph is sealed and nothing can continue; pending nodes wait for a retry. */
  'flow/GraphSettled@1': nodeCounts,
} as const;

/** The state of a graph; its nodes are in tables. */
export const graphState = z.strictObject({
  open: z.boolean(),
  owner: party,
  limit,
  sealed: z.boolean(),
  /** Whether the owner has been notified that nothing can continue. */
  settled: z.boolean(),
  /** The number of the next node. */
  next: count,
  counts: nodeCounts,
  /** The number of nodes that were skipped so far: the position of the next one. */
  skips: count,
});

/** A node, by its name. */
export const knownNode = z.strictObject({
  state: z.enum(NODE_STATES),
  /** Its position among the ready nodes. */
  at: z.string(),
  resolve,
  on_failure: onFailure,
  /** The numbers of its dependencies: open, succeeded, otherwise ended. */
  open: count,
  ok: count,
  bad: count,
  /** A command skipped the node: it counts as done for the nodes that need it. */
  passed: z.exactOptional(z.literal(true)),
});

/** The state of a dependency as its dependent has last seen it. */
export const needState = z.enum(['open', 'ok', 'bad']);

/** The tables of a graph. */
export const graphTables = {
  nodes: knownNode,
  values: value(),
  /** The edges, by the needed node and its dependent. */
  needs: needState,
  /** The names of the ready nodes, by their position. */
  ready: nodeName,
  /** Ended nodes with dependents that do not know yet: the last dependent that does. */
  news: z.nullable(nodeName),
  /** The skipped nodes of which the owner has not been notified, by their position. */
  skips: skip,
} as const;

/** The kernel events that a graph handles. */
export const graphNotices = { 'sys/TimerFired@1': timerFired } as const;
