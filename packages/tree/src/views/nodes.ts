/**
 * The rows of a tree, folded from its facts. Every view draws from these rows, in the process that runs the tree and in
 * any other, and at any frame: the same facts give the same rows.
 */
import { type SESSION_FACTS, SESSION_REDUCER, type WaitsFor } from '@reprise/agent/contracts';
import { type Actor, actorWords, type Capability, type JournalRecord, type Ref } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { meet } from '@reprise/kernel/authority';
import {
  type Answered,
  ENDED,
  TREE,
  type TreeAct,
  type TreeFact,
  type TreeFactName,
  treeFacts,
  type Used,
} from '../pure/contracts/index.js';
import { nodeOfActor } from '../pure/reducer/delivery/actors.js';

/** A frame's place in the journal. */
export interface FramePlace {
  readonly frame: number;
  readonly at: number;
}

type Started = TreeFact<'tree/Started@1'>;
type Changed = TreeFact<'tree/NodeChanged@1'>;
type Launched = TreeFact<'tree/Launched@1'>;
type Asked = TreeFact<'tree/Asked@1'>;
type Ended = TreeFact<'tree/Ended@1'>;

type LaunchView = Readonly<Omit<Launched, 'n' | 'prompt_ref'>> & FramePlace & { readonly prompt: Ref };

/** A question of a node, with its outcome once there is one. Its deadline is in journal milliseconds, null without one. */
export type AskView = Readonly<Omit<Asked, 'question_ref' | 'default'>> &
  FramePlace & {
    readonly question: Ref;
    /** The default, among the options. */
    readonly default: string | null;
    readonly outcome: Answered | null;
  };

/** What was done to a node or, with null as its number, to the whole tree, and by whom. */
type ActView = Readonly<TreeFact<'tree/Acted@1'>> & FramePlace;

/** A node: its row, what it needs, its children and its launches. */
export interface NodeView extends Readonly<Omit<Changed, 'prompt_ref'>> {
  readonly prompt: Ref | null;
  /** What its session says that its run waits for; null while it works or has no run. */
  readonly waiting: WaitsFor | null;
  /** What its run has used that the tree has not been told yet: it is told when the run ends. */
  readonly using: Used;
  readonly needs: readonly number[];
  readonly children: readonly number[];
  readonly launches: readonly LaunchView[];
  /** When it was made and last changed: the frame, and journal milliseconds. */
  readonly made: FramePlace;
  readonly changed: FramePlace;
}

/** A tree: its head, its nodes and its questions. `by` is the actor that started it. */
export interface TreeView extends Readonly<Started>, Readonly<Ended> {
  readonly name: string;
  readonly reserved: number;
  /** What came back when it was expected no longer. */
  readonly late: number;
  readonly started: FramePlace;
  readonly ended: FramePlace | null;
  /** The newest frame with a fact of the tree. */
  readonly newest: FramePlace;
  readonly nodes: ReadonlyMap<number, NodeView>;
  /** Questions, open and answered, by their numbers. */
  readonly asks: ReadonlyMap<number, AskView>;
  /** What was done to its nodes and to itself, the oldest first. */
  readonly acts: readonly ActView[];
  /** What was said about the rights of a node, by its number. {@link rightsInView} says what it may do. */
  readonly rights: ReadonlyMap<number, Capability>;
}

/** A fact of a tree as a record of the journal holds it. */
export type FactOfTree = {
  [K in TreeFactName]: { readonly name: K; readonly value: TreeFact<K>; readonly tree: string };
}[TreeFactName];

type Rows = { -readonly [K in Exclude<keyof TreeView, 'nodes' | 'asks' | 'rights' | 'acts'>]: TreeView[K] } & {
  readonly acts: ActView[];
  readonly nodes: Map<number, NodeView>;
  readonly asks: Map<number, AskView>;
  readonly rights: Map<number, Capability>;
  /** The needs of nodes that no fact has stated yet: a tree states the edges of a new node before the node itself. */
  readonly early: Map<number, readonly number[]>;
};

/** The fact of a tree that a record holds; undefined for any other record. */
export function treeFactIn(record: JournalRecord): FactOfTree | undefined {
  if (record.kind !== 'fact' || record.from?.[0] !== TREE || !Object.hasOwn(treeFacts, record.name)) return undefined;
  return { name: record.name, value: record.value, tree: record.from[1] } as FactOfTree;
}

/** Folds facts into the rows of trees, in the order of the journal. */
export class TreeFold {
  readonly #trees = new Map<string, Rows>();
  /** The node that each session works for. */
  readonly #sessions = new Map<string, { readonly tree: string; readonly n: number }>();
  /** The sessions of the open effects of nodes, by effect. */
  readonly #effects = new Map<string, string>();

  /** The trees by name, in the order in which they were started. The rows change as facts are added. */
  get trees(): ReadonlyMap<string, TreeView> {
    return this.#trees;
  }

  /**
   * Takes a record of the journal: the facts of trees, what the sessions of their nodes wait for, and what they use.
   *
   * @returns the fact of a tree that the record is; undefined for any other record
   */
  take(record: JournalRecord, place: FramePlace): FactOfTree | undefined {
    const fact = treeFactIn(record);
    if (fact !== undefined) this.add(fact, place);
    else if (record.kind === 'fact') this.#takeWait(record);
    else this.#takeUse(record);
    return fact;
  }

  /** Whether {@link take} would learn from a record. */
  learnsFrom(record: JournalRecord): boolean {
    switch (record.kind) {
      case 'effect':
        return record.plan[0] === SESSION_REDUCER && this.#sessions.has(record.plan[1]);
      case 'receipt':
        return this.#effects.has(record.effect);
      case 'fact':
        return treeFactIn(record) !== undefined || this.#waitIn(record) !== undefined;
      default:
        return false;
    }
  }

  /** Adds a fact; one of a tree whose start was not added is ignored. */
  add(fact: FactOfTree, place: FramePlace): void {
    const { name, value, tree } = fact;
    if (name === 'tree/Started@1') this.#trees.set(tree, started(tree, value, place));
    const rows = this.#trees.get(tree);
    if (rows === undefined) return;
    if (name === 'tree/Launched@1') this.#sessions.set(value.session, { tree, n: value.n });
    rows.newest = place;
    change(rows, fact, place);
  }

  #takeWait(record: JournalRecord): void {
    const wait = this.#waitIn(record);
    if (wait === undefined) return;
    const { session, value } = wait;
    this.#change(session, (row) => ({ ...row, waiting: value.waiting?.for ?? null }));
  }

  #waitIn(record: JournalRecord): { readonly session: string; readonly value: LifecycleChanged } | undefined {
    if (record.kind !== 'fact' || record.from?.[0] !== SESSION_REDUCER) return undefined;
    const [, session] = record.from;
    if (record.name !== 'aos.agent/LifecycleChanged@1' || !this.#sessions.has(session)) return undefined;
    return { session, value: record.value as LifecycleChanged };
  }

  #takeUse(record: JournalRecord): void {
    if (record.kind === 'effect' && this.learnsFrom(record)) this.#effects.set(record.effect, record.plan[1]);
    if (record.kind !== 'receipt') return;
    const session = this.#effects.get(record.effect);
    this.#effects.delete(record.effect);
    const { usage } = record.receipt;
    if (session === undefined || usage === undefined) return;
    const { tokens_in = 0, tokens_out = 0, micro_money = 0 } = usage;
    const use = { tokens: tokens_in + tokens_out, micro_money };
    this.#change(session, (row) => (row.run === 'none' ? row : { ...row, using: sumOf(row.using, use) }));
  }

  /** Changes the node that a session works for now. */
  #change(session: string, change: (row: NodeView) => NodeView): void {
    const { tree, n } = this.#sessions.get(session) ?? { tree: '', n: 0 };
    const rows = this.#trees.get(tree);
    const row = rows?.nodes.get(n);
    if (rows !== undefined && row?.session === session) rows.nodes.set(n, change(row));
  }
}

type LifecycleChanged = z.infer<(typeof SESSION_FACTS)['aos.agent/LifecycleChanged@1']>;

const UNUSED: Used = { tokens: 0, micro_money: 0 };

function sumOf(a: Used, b: Used): Used {
  return { tokens: a.tokens + b.tokens, micro_money: a.micro_money + b.micro_money };
}

/** What a node has used so far: its ended runs, and the one that is under way. */
export function usedSoFar({ spent, using }: Pick<NodeView, 'spent' | 'using'>): Used {
  return sumOf(spent, using);
}

/** What a tree has used so far: what it was told, and what the runs under way have used. */
export function treeUsedSoFar({ spent, nodes }: Pick<TreeView, 'spent' | 'nodes'>): Used {
  let all: Used = spent;
  for (const { using } of nodes.values()) all = sumOf(all, using);
  return all;
}

function started(name: string, value: Started, place: FramePlace): Rows {
  return {
    ...{ name, ...value, status: 'running', code: null, result: null, spent: { tokens: 0, micro_money: 0 } },
    ...{ reserved: 0, late: 0, started: place, ended: null, newest: place },
    ...{ nodes: new Map(), asks: new Map(), acts: [], rights: new Map(), early: new Map() },
  };
}

/** What each fact changes in the rows of its tree. */
const CHANGES: { readonly [K in TreeFactName]: (rows: Rows, value: TreeFact<K>, place: FramePlace) => void } = {
  'tree/Started@1': () => undefined,
  'tree/NodeChanged@1': changeNode,
  'tree/Needs@1'(rows, { n, needs }) {
    if (rows.nodes.has(n)) setNode(rows, n, { needs });
    else rows.early.set(n, needs);
  },
  'tree/Launched@1'(rows, { n, prompt_ref: prompt, ...launch }, place) {
    const launches = [...(rows.nodes.get(n)?.launches ?? []), { ...launch, prompt, ...place }];
    setNode(rows, n, { launches, session: launch.session, run: 'live', waiting: null, using: UNUSED, changed: place });
  },
  'tree/Asked@1'(rows, { question_ref: question, default: index, ...ask }, place) {
    const { frame, at, outcome } = rows.asks.get(ask.ask) ?? { ...place, outcome: null };
    const fallback = index === null ? null : (ask.options[index] ?? null);
    rows.asks.set(ask.ask, { ...ask, question, default: fallback, outcome, frame, at });
  },
  'tree/Answered@1'(rows, { ask, asker: _, ...outcome }) {
    const row = rows.asks.get(ask);
    if (row !== undefined) rows.asks.set(ask, { ...row, outcome });
  },
  'tree/Acted@1': ({ acts }, act, place) => void acts.push({ ...act, ...place }),
  'tree/Late@1'(rows) {
    rows.late += 1;
  },
  'tree/Budget@1': (rows, spending) => void Object.assign(rows, spending),
  'tree/Rights@1': (rows, { n, rights }) => void rows.rights.set(n, rights),
  'tree/Limited@1'(rows, { limits, budget }) {
    rows.limits = limits;
    rows.budget = { ...rows.budget, tree: budget };
  },
  'tree/Ended@1': (rows, end, place) => void Object.assign(rows, end, { ended: place }),
};

function change<K extends TreeFactName>(
  rows: Rows,
  { name, value }: { name: K; value: TreeFact<K> },
  place: FramePlace,
) {
  CHANGES[name](rows, value, place);
}

function changeNode(rows: Rows, { prompt_ref: prompt, ...row }: Changed, place: FramePlace): void {
  const { nodes, early } = rows;
  const before = nodes.get(row.n);
  const isSameRun = before?.session === row.session && row.run !== 'none';
  const isTold = before?.spent.tokens !== row.spent.tokens || before.spent.micro_money !== row.spent.micro_money;
  const kept = {
    needs: before?.needs ?? early.get(row.n) ?? [],
    children: before?.children ?? [],
    launches: before?.launches ?? [],
    waiting: isSameRun ? (before?.waiting ?? null) : null,
    using: isSameRun && !isTold ? (before?.using ?? UNUSED) : UNUSED,
  };
  nodes.set(row.n, { ...row, prompt, ...kept, made: before?.made ?? place, changed: place });
  // A copy of the list for each child would make the fold quadratic: the list belongs to this row alone.
  if (before === undefined && row.parent !== null)
    (nodes.get(row.parent)?.children as number[] | undefined)?.push(row.n);
  if (before === undefined) early.delete(row.n);
  // The tree runs again when its root was tried again, and is paused where its root is.
  if (row.parent === null && !ENDED.includes(row.status))
    Object.assign(rows, { status: row.paused ? 'paused' : 'running', code: null, result: null, ended: null });
}

function setNode({ nodes }: Rows, n: number, some: Partial<NodeView>): void {
  const row = nodes.get(n);
  if (row !== undefined) nodes.set(n, { ...row, ...some });
}

/** The open questions, the oldest first; `people` for those that people are to answer now. */
export function openAsks(rows: TreeView, whose?: 'people'): readonly AskView[] {
  return [...rows.asks.values()].filter(
    ({ outcome, route }) => outcome === null && (whose === undefined || route.length === 0),
  );
}

/** Who last did something to a node, such as stop or pause it; undefined when nobody did. */
export function lastAct({ acts }: TreeView, n: number, act: TreeAct): ActView | undefined {
  return acts.findLast((one) => one.n === n && one.act === act);
}

/** An actor in words: `#3` for a node of this tree, `ann`, `program nightly`. Text of others: escape it. */
export function wordsOfActor({ name }: Pick<TreeView, 'name'>, actor: Actor): string {
  if (actor.kind === 'several') return actor.of.map((one) => wordsOfActor({ name }, one)).join(', ');
  const n = nodeOfActor(name, actor);
  if (n !== undefined) return `#${n}`;
  const words = actorWords(actor);
  return words.startsWith('#') ? `person ${JSON.stringify(words)}` : words; // no name looks like a node's number
}

/** Whether a node has ended. */
export function hasEnded({ status }: Pick<NodeView, 'status'>): boolean {
  return ENDED.includes(status);
}

/** What a node may do; undefined when nothing was said about it and the nodes above it. */
export function rightsInView(rows: TreeView, node: NodeView): Capability | undefined {
  let all: Capability | undefined;
  for (let at: NodeView | undefined = node; at !== undefined; at = parentOf(rows, at)) {
    const said = rows.rights.get(at.n);
    if (said !== undefined) all = all === undefined ? said : meet(all, said);
  }
  return all;
}

function parentOf(rows: TreeView, { parent }: NodeView): NodeView | undefined {
  return parent === null ? undefined : rows.nodes.get(parent);
}

/** Nodes by their state, questions not counted. */
export function countNodes(rows: TreeView): { readonly all: number; readonly ended: number; readonly active: number } {
  let [all, ended, active] = [0, 0, 0];
  for (const node of rows.nodes.values()) {
    if (node.type === 'ask') continue;
    all += 1;
    if (hasEnded(node)) ended += 1;
    if (node.status === 'active' && node.run !== 'waiting') active += 1;
  }
  return { all, ended, active };
}
