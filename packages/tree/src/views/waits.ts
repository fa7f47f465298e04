/** What keeps a tree from going on: for whom or for what each of its nodes waits. From rows alone, so that every view says the same. */
import { WITH_SLOT } from '../pure/contracts/index.js';
import type { AskView, NodeView, TreeView } from './nodes.js';
import { hasEnded } from './nodes.js';

/** A node that waits. The node is the one that goes on when the wait ends. */
export type TreeWait =
  /** An answer: of people when `of` is empty, else of these nodes. `until`: when it goes on without one, in journal milliseconds. */
  | {
      readonly kind: 'question';
      readonly node: number;
      readonly ask: number;
      readonly of: readonly number[];
      readonly until: number | null;
    }
  /**
   * Its session waits: for a person who decides about a call (`approval`) or whom a tool has asked (`person`), for more input,
   * for another limit, or for a cell of the app that answers a call.
   */
  | {
      readonly kind: 'approval' | 'person' | 'input' | 'limit' | 'app';
      readonly node: number;
      readonly session: string;
    }
  /** It was paused, and with it all below it. */
  | { readonly kind: 'pause'; readonly node: number }
  /** It is ready, and what is left of the tree's budget is set aside for runs that have not ended. */
  | { readonly kind: 'budget'; readonly node: number; readonly reserved: number }
  /** It is ready, and all slots are taken. */
  | { readonly kind: 'slot'; readonly node: number }
  /** Nodes that it needs have not ended. */
  | { readonly kind: 'dependency'; readonly node: number; readonly on: readonly number[] }
  /** Its children have not ended. */
  | { readonly kind: 'children'; readonly node: number; readonly on: readonly number[] };

/** The part of a tree that says what waits. */
type WaitingRows = Pick<TreeView, 'limits' | 'budget' | 'reserved'> & {
  readonly nodes: ReadonlyMap<number, WaitingNode>;
  readonly asks: ReadonlyMap<number, WaitingAsk>;
};

/** The part of a question that says what it waits for. */
export type WaitingAsk = Pick<AskView, 'ask' | 'asker' | 'route' | 'deadline' | 'outcome'>;

/** The part of a node that says what it waits for. */
export type WaitingNode = Pick<
  NodeView,
  'n' | 'type' | 'parent' | 'status' | 'paused' | 'run' | 'session' | 'waiting' | 'needs' | 'children'
>;

/** What each node waits for, by the number of the node; several waits of one node stand behind each other. */
export function waitsOf(rows: WaitingRows): readonly TreeWait[] {
  const asked = new Map<number, TreeWait[]>();
  for (const { ask, asker, route, deadline, outcome } of rows.asks.values()) {
    if (outcome !== null) continue;
    const wait: TreeWait = { kind: 'question', node: asker, ask, of: route, until: deadline };
    asked.set(asker, [...(asked.get(asker) ?? []), wait]);
  }
  const taken = [...rows.nodes.values()].filter(({ run }) => WITH_SLOT.includes(run)).length;
  return [...rows.nodes.values()]
    .filter((node) => node.type !== 'ask' && !hasEnded(node))
    .sort((a, b) => a.n - b.n)
    .flatMap((node) => [...waitsOfNode(rows, node, taken, asked.has(node.n)), ...(asked.get(node.n) ?? [])]);
}

/** What each node waits for, as {@link waitsOf} says it, by the number of the node. */
export function waitsByNode(rows: WaitingRows): ReadonlyMap<number, readonly TreeWait[]> {
  const found = new Map<number, TreeWait[]>();
  for (const wait of waitsOf(rows)) found.set(wait.node, [...(found.get(wait.node) ?? []), wait]);
  return found;
}

/** What a node waits for besides the answers to its questions. */
function waitsOfNode(rows: WaitingRows, node: WaitingNode, taken: number, asks: boolean): readonly TreeWait[] {
  const { n, status, paused, run } = node;
  const own = paused ? [{ kind: 'pause', node: n } as const] : [];
  const ofSession = run === 'waiting' ? waitOfSession(node, asks) : undefined;
  if (ofSession !== undefined) return [...own, ofSession];
  if (run !== 'none') return own;
  if (status === 'waiting_children') return [...own, { kind: 'children', node: n, on: openChildren(rows, node) }];
  const on = blockedBy(rows, node);
  if (on.length > 0) return [...own, { kind: 'dependency', node: n, on }];
  if (status !== 'pending' || paused || pausedAbove(rows, node) !== undefined) return own;
  if (taken >= rows.limits.parallel) return [{ kind: 'slot', node: n }];
  return rows.budget.tree === null || rows.reserved === 0 ? [] : [{ kind: 'budget', node: n, reserved: rows.reserved }];
}

/** What the session of a node waits for; undefined where the questions of the node say it. */
function waitOfSession({ n: node, session, waiting }: WaitingNode, asks: boolean): TreeWait | undefined {
  if (session === null || waiting === null || waiting === 'children') return undefined;
  if (waiting === 'owner') return asks ? undefined : { kind: 'app', node, session };
  return { kind: waiting === 'ask' ? 'person' : waiting, node, session };
}

/** Whether a wait ends only by what comes from outside: from a person, or from the app. */
export function endsFromOutside(wait: TreeWait): boolean {
  if (wait.kind === 'question') return wait.of.length === 0 && wait.until === null;
  return OUTSIDE.includes(wait.kind);
}

const OUTSIDE: readonly TreeWait['kind'][] = ['approval', 'person', 'input', 'limit', 'app', 'pause'];

/**
 * Whether nothing of a tree goes on by itself: something waits for people or the app, and no run of a node is under way. A run below
 * a pause counts as under way until its session has come to rest, which only the world that runs it knows.
 */
export function standsStill(rows: WaitingRows): boolean {
  return waitsOf(rows).some(endsFromOutside) && ![...rows.nodes.values()].some(({ run }) => UNDER_WAY.includes(run));
}

const UNDER_WAY: readonly WaitingNode['run'][] = ['composing', 'live', 'checking', 'draining'];

/** The nodes that keep a node from beginning: its needs that have not ended. */
export function blockedBy(
  rows: Pick<WaitingRows, 'nodes'>,
  node: Pick<WaitingNode, 'needs' | 'status'>,
): readonly number[] {
  return node.status === 'pending' ? open(rows, node.needs) : [];
}

/** The nearest paused node above a node. */
export function pausedAbove(
  rows: Pick<WaitingRows, 'nodes'>,
  node: Pick<WaitingNode, 'parent'>,
): WaitingNode | undefined {
  for (let above = parentOf(rows, node); above !== undefined; above = parentOf(rows, above))
    if (above.paused) return above;
  return undefined;
}

function parentOf({ nodes }: Pick<WaitingRows, 'nodes'>, { parent }: Pick<WaitingNode, 'parent'>) {
  return parent === null ? undefined : nodes.get(parent);
}

function openChildren(rows: WaitingRows, { children }: WaitingNode): readonly number[] {
  return open(rows, children).filter((n) => rows.nodes.get(n)?.type !== 'ask');
}

/** Those of some nodes that have not ended. */
function open({ nodes }: Pick<WaitingRows, 'nodes'>, some: readonly number[]): readonly number[] {
  return some.filter((n) => {
    const node = nodes.get(n);
    return node !== undefined && !hasEnded(node);
  });
}
