/**
 * `flow/Graph@1`: nodes that depend on one another.
 *
 * Invariants
 * G1  A node is handed out once for each time that it becomes ready, and only when its dependencies permit it.
 * G2  Ready nodes are handed out by priority, and equal ones in the order of their creation; not while dependents still
 *     have to be notified, because that may make nodes ready that come first.
 * G3  The end of a node is passed along its edges in bounded parts, each starting where the last one ended. An edge
 *     holds the last state that was passed, so passing it again changes nothing, and a change meanwhile is passed as
 *     well.
 * G4  A node counts its dependencies while it is pending; later changes of them do not affect it.
 * G5  The owner is notified once of each skipped node, in bounded parts, and before it is notified that nothing can
 *     continue.
 */
import { address, startOfText, timerFired, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  creates,
  defineReducer,
  type EventHandlers,
  type EventValue,
  from,
  fromAll,
  handledBy,
  type ReducerContext,
} from '@reprise/kernel/define';
import { circleIn, key, placeInLine } from '../kit/index.js';
import {
  DEPENDENTS_AT_ONCE,
  FLOW_VALUE_BYTES_MAX,
  GRAPH_NEEDS_AT_ONCE,
  GRAPH_NODES_AT_ONCE,
  NODE_NEEDS_MAX,
  NODES_HANDED_AT_ONCE,
  PRIORITY_MAX,
  SKIPS_NOTIFIED_AT_ONCE,
} from './bounds.js';
import { anyone, callerOf, isSame, openFor, party, requireParty, tell } from './parties.js';
import { sizeOf } from './sizes.js';

/** The wire name of the graph reducer. */
export const GRAPH = 'flow/Graph@1';

/** The name of a node: at most as long as the code of a rejection can contain. */
const nodeName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,47}$/);

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

const newNode = z.strictObject({
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
const skipped = z.strictObject({ node: nodeName, for: z.nullable(nodeName) });

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
  'flow/NodeSkipped@1': skipped,
  /** The graph is sealed and nothing can continue; pending nodes wait for a retry. */
  'flow/GraphSettled@1': nodeCounts,
} as const;

/** The state of a graph; its nodes are in tables. */
const graphState = z.strictObject({
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
const knownNode = z.strictObject({
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
const needState = z.enum(['open', 'ok', 'bad']);

const graphTables = {
  nodes: knownNode,
  values: value(),
  /** The edges, by the needed node and its dependent. */
  needs: needState,
  /** The names of the ready nodes, by their position. */
  ready: nodeName,
  /** Ended nodes with dependents that do not know yet: the last dependent that does. */
  news: z.nullable(nodeName),
  /** The skipped nodes of which the owner has not been notified, by their position. */
  skips: skipped,
} as const;

const EVENTS = { ...graphCommands, 'sys/TimerFired@1': timerFired } as const;

type State = z.output<typeof graphState>;
type Known = z.output<typeof knownNode>;
type NewNode = z.output<typeof newNode>;
type NeedState = z.output<typeof needState>;
type Opening = EventValue<typeof EVENTS, 'flow/OpenGraph@1'>;

type GraphContext = ReducerContext<typeof graphTables>;

const HANDLERS: EventHandlers<State, typeof EVENTS, typeof graphTables> = {
  'flow/OpenGraph@1': (draft, { reply_to }, ctx) => openFor(draft, ctx, reply_to ?? callerOf(ctx)),
  'flow/AddNodes@1': (draft, { nodes }, ctx) => {
    requireParty(ctx, draft.owner);
    if (draft.sealed) ctx.reject('sealed');
    refuseWrong(nodes, ctx);
    const added = new Set(nodes.map(({ node }) => node));
    for (const node of nodes) addNode(draft, node, added, ctx);
    ctx.timer(WORK, ctx.now); // adding many nodes fills a delivery: the rest has its own frame
  },
  'flow/SealGraph@1': (draft, _, ctx) => {
    requireParty(ctx, draft.owner);
    draft.sealed = true;
    work(draft, ctx);
  },
  'flow/FinishNode@1': (draft, { node, ok }, ctx) => {
    requireParty(ctx, draft.owner);
    const known = knownOr(ctx, node);
    if (known.state !== 'running') ctx.reject('not_running');
    move(draft, ctx, node, known, ok ? 'done' : 'failed');
    work(draft, ctx);
  },
  'flow/RetryNode@1': (draft, { node }, ctx) => {
    requireParty(ctx, draft.owner);
    const known = knownOr(ctx, node);
    if (known.state !== 'failed') ctx.reject('not_failed');
    move(draft, ctx, node, known, 'ready');
    draft.settled = false;
    work(draft, ctx);
  },
  'flow/CancelNode@1': (draft, { node }, ctx) => {
    requireParty(ctx, draft.owner);
    const known = knownOr(ctx, node);
    if (stateForOthers(known) !== 'open') ctx.reject('has_ended');
    move(draft, ctx, node, known, 'cancelled');
    if (!isSame(callerOf(ctx), draft.owner)) tell(ctx, draft.owner, 'flow/NodeCancelled@1', { node });
    work(draft, ctx);
  },
  'flow/LimitGraph@1': (draft, { limit }, ctx) => {
    requireParty(ctx, draft.owner);
    draft.limit = limit;
    work(draft, ctx);
  },
  'flow/SkipNode@1': (draft, { node }, ctx) => {
    requireParty(ctx, draft.owner);
    const known = knownOr(ctx, node);
    if (known.state === 'running') ctx.reject('is_running');
    if (!SKIPPABLE.includes(known.state)) ctx.reject('has_ended');
    known.passed = true;
    skip(draft, ctx, node, known, null);
    draft.settled = false;
    work(draft, ctx);
  },
  'sys/TimerFired@1': (draft, _, ctx) => work(draft, ctx),
};

/** The states in which a command may skip a node. */
const SKIPPABLE: readonly Known['state'][] = ['pending', 'ready', 'failed'];

/** Nodes that depend on one another. */
export const graph = defineReducer({
  name: GRAPH,
  state: graphState,
  events: EVENTS,
  tables: graphTables,
  init: (_key, event): State => {
    const { limit } = event.value as Opening;
    const counts = { pending: 0, ready: 0, running: 0, done: 0, failed: 0, skipped: 0, cancelled: 0 };
    return { open: false, owner: null, limit, sealed: false, settled: false, next: 0, counts, skips: 0 };
  },
  reduce: handledBy(HANDLERS),
});

/** The timer of the work that continues in another frame. */
const WORK = 'work';

function knownOr(ctx: GraphContext, node: string): Known {
  return ctx.table('nodes').get(node) ?? ctx.reject('node_unknown');
}

/** Rejects invalid nodes; the code names a cycle, as far as it fits. */
function refuseWrong(nodes: readonly NewNode[], ctx: GraphContext): void {
  const known = ctx.table('nodes');
  const added = new Map(nodes.map(({ node, needs }) => [node, needs]));
  if (added.size !== nodes.length || nodes.some(({ node }) => known.get(node) !== undefined)) ctx.reject('node_known');
  let count = 0;
  for (const { needs, value } of nodes) {
    count += needs.length;
    if (new Set(needs).size !== needs.length) ctx.reject('need_repeated');
    if (needs.some((need) => !added.has(need) && known.get(need) === undefined)) ctx.reject('need_unknown');
    if (sizeOf(value) > FLOW_VALUE_BYTES_MAX) ctx.reject('value_too_large');
  }
  if (count > GRAPH_NEEDS_AT_ONCE) ctx.reject('too_many_needs');
  const circle = circleIn(added);
  if (circle !== undefined) ctx.reject(startOfText(`cycle/${circle.join('/')}`, REJECTION_MAX));
}

/** The number of characters of a cycle that fit in the code of a rejection. */
const REJECTION_MAX = 64;

/** The bounds of the keys of a node's edges. No name has this character, nor the one after it. */
const edgeKey = (need: string, by: string): string => `${need}\0${by}`;
const afterEdgesOf = (need: string): string => `${need}\u0001`;

function addNode(
  draft: State,
  { node, needs, priority, resolve, on_failure, value }: NewNode,
  added: ReadonlySet<string>,
  ctx: GraphContext,
): void {
  const nodes = ctx.table('nodes');
  const counts = { open: 0, ok: 0, bad: 0 };
  let bad: string | null = null;
  for (const need of needs) {
    const known = added.has(need) ? undefined : nodes.get(need);
    const state = known === undefined ? 'open' : stateForOthers(known);
    counts[state]++;
    if (state === 'bad') bad ??= need;
    ctx.table('needs').set(edgeKey(need, node), state);
  }
  const known: Known = { state: 'pending', at: placeInLine(priority, draft.next++), resolve, on_failure, ...counts };
  draft.counts.pending++;
  nodes.set(node, known);
  ctx.table('values').set(node, value);
  judge(draft, ctx, node, known, bad);
}

function stateForOthers({ state, passed }: Known): NeedState {
  if (state === 'done' || (state === 'skipped' && passed === true)) return 'ok';
  return state === 'failed' || state === 'skipped' || state === 'cancelled' ? 'bad' : 'open';
}

/**
 * Updates a pending node when its dependencies permit or forbid it to run (G4).
 *
 * @param because the dependency that has changed; of a new node the first that ended badly
 */
function judge(draft: State, ctx: GraphContext, node: string, known: Known, because: string | null): void {
  const { resolve, on_failure, open, ok, bad } = known;
  const ended = open === 0;
  const lost = resolve === 'all' ? bad > 0 : ended && ok === 0 && bad > 0;
  if (lost && on_failure === 'cascade') return skip(draft, ctx, node, known, because);
  const enough = resolve === 'all' ? ended : ok > 0 || ended;
  if (enough && (!lost || on_failure === 'ignore')) move(draft, ctx, node, known, 'ready');
}

/** Skips a node, and notes that the owner has to be notified (G5). */
function skip(draft: State, ctx: GraphContext, node: string, known: Known, because: string | null): void {
  move(draft, ctx, node, known, 'skipped');
  ctx.table('skips').set(key(draft.skips++), { node, for: because });
}

/** Changes the state of a node, and notes that its dependents have to be notified when they are affected. */
function move(draft: State, ctx: GraphContext, node: string, known: Known, state: Known['state']): void {
  const nodes = ctx.table('nodes');
  const ready = ctx.table('ready');
  const news = ctx.table('news');
  const before = stateForOthers(known);
  if (known.state === 'ready') ready.delete(known.at);
  draft.counts[known.state]--;
  draft.counts[state]++;
  known.state = state;
  nodes.set(node, known);
  if (state === 'ready') ready.set(known.at, node);
  if (stateForOthers(known) !== before) news.set(node, null);
}

/** Notifies dependents, hands out ready nodes, and notifies the owner when nothing can continue. */
function work(draft: State, ctx: GraphContext): void {
  const ready = ctx.table('ready');
  const news = ctx.table('news');
  tellNews(draft, ctx);
  const more = tellSkips(draft, ctx);
  if (news.size === 0) handOut(draft, ctx);
  if (more || news.size > 0 || (ready.size > 0 && hasRoom(draft))) return ctx.timer(WORK, ctx.now);
  if (!draft.sealed || draft.settled || draft.counts.ready > 0 || draft.counts.running > 0) return;
  draft.settled = true;
  tell(ctx, draft.owner, 'flow/GraphSettled@1', { ...draft.counts });
}

/** Passes the state of ended nodes to their dependents (G3). */
function tellNews(draft: State, ctx: GraphContext): void {
  const needs = ctx.table('needs');
  const news = ctx.table('news');
  for (let left = DEPENDENTS_AT_ONCE; left > 0; ) {
    const first = news.first();
    if (first === undefined) return;
    const [node, last] = first;
    const state = stateForOthers(knownOr(ctx, node));
    const after = edgeKey(node, last ?? '');
    const edges = needs.range({ after, before: afterEdgesOf(node), limit: left });
    for (const [edge, told] of edges) tellNeed(draft, ctx, edge, told, state);
    const end = edges[left - 1]?.[0];
    if (end === undefined) news.delete(node);
    else news.set(node, nameIn(end));
    left -= edges.length + 1;
  }
}

/** Notifies the owner of skipped nodes. @returns whether there are more */
function tellSkips(draft: State, ctx: GraphContext): boolean {
  const skips = ctx.table('skips');
  for (const [at, one] of skips.range({ limit: SKIPS_NOTIFIED_AT_ONCE })) {
    skips.delete(at);
    tell(ctx, draft.owner, 'flow/NodeSkipped@1', one);
  }
  return skips.size > 0;
}

function nameIn(edge: string): string {
  return edge.slice(edge.indexOf('\0') + 1);
}

function tellNeed(draft: State, ctx: GraphContext, edge: string, told: NeedState, state: NeedState): void {
  if (told === state) return;
  const nodes = ctx.table('nodes');
  const needs = ctx.table('needs');
  needs.set(edge, state);
  const node = nameIn(edge);
  const known = nodes.get(node);
  if (known?.state !== 'pending') return;
  known[told]--;
  known[state]++;
  nodes.set(node, known);
  judge(draft, ctx, node, known, edge.slice(0, edge.indexOf('\0')));
}

function hasRoom({ limit, counts }: State): boolean {
  return limit === null || counts.running < limit;
}

/** Hands out the first ready nodes, as many as may run (G2). */
function handOut(draft: State, ctx: GraphContext): void {
  const values = ctx.table('values');
  const ready = ctx.table('ready');
  for (let handed = 0; handed < NODES_HANDED_AT_ONCE && hasRoom(draft); handed++) {
    const first = ready.first();
    if (first === undefined) return;
    const [, node] = first;
    move(draft, ctx, node, knownOr(ctx, node), 'running');
    draft.settled = false; // a cancelled node may have released this one after the end
    tell(ctx, draft.owner, 'flow/NodeReady@1', { node, value: values.get(node) ?? null });
  }
}
