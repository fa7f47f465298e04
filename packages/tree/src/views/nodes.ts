/**
 * The rows of a tree, folded from its facts. Every view draws from these rows, in the process that runs the tree and in
 * any other, and at any frame: the same facts give the same rows.
 */
import { SESSION_REDUCER, type WaitsFor } from '@reprise/agent/contracts';
import type { Actor, Capability, JournalRecord, Ref } from '@reprise/contracts';
import { actorWords } from '@reprise/contracts';
import { meet } from '@reprise/kernel/authority';
import {
  type Answered,
  ENDED,
  type Given,
  type NodeStatus,
  type NodeType,
  type Phase,
  type ResultType,
  TREE,
  type TreeAct,
  type TreeBudget,
  type TreeFact,
  type TreeFactName,
  type TreeLimits,
  type TreeStatus,
  treeFacts,
  type Used,
} from '../pure/contracts/index.js';
import { nodeOfActor } from '../pure/reducer/actors.js';

/** A launch of a node: one run of its session. */
export interface LaunchView {
  readonly launch: number;
  readonly phase: Phase;
  readonly gen: number;
  readonly attempt: number;
  readonly session: string;
  readonly run: number;
  readonly prompt: Ref;
  /** The nodes whose results stand in the prompt. */
  readonly inputs: readonly number[];
  readonly frame: number;
  readonly at: number;
}

/** A question. */
export interface AskView {
  readonly ask: number;
  readonly asker: number;
  readonly target: 'human' | 'parent' | 'children' | number;
  /** The nodes that are to answer now; people when it is empty. */
  readonly route: readonly number[];
  readonly question: Ref;
  readonly options: readonly string[];
  readonly returns: 'text' | 'boolean' | 'approval';
  /** The default, among the options. */
  readonly default: string | null;
  /** Journal milliseconds. */
  readonly deadline: number | null;
  readonly outcome: Answered | null;
  readonly frame: number;
  readonly at: number;
}

/** What was done to a node or a tree, and by whom. */
export interface ActView {
  readonly act: TreeAct;
  /** The node; null for the whole tree. */
  readonly n: number | null;
  readonly by: Actor;
  readonly frame: number;
  readonly at: number;
}

/** A node: its row, what it needs, its children and its launches. */
export interface NodeView {
  readonly n: number;
  readonly type: NodeType;
  readonly parent: number | null;
  readonly goal: string;
  readonly prompt: Ref | null;
  readonly returns: ResultType;
  readonly agent: string;
  readonly status: NodeStatus;
  readonly paused: boolean;
  readonly phase: Phase;
  readonly gen: number;
  readonly attempt: number;
  readonly launch: number;
  readonly session: string | null;
  /** The state of its own run. */
  readonly run: TreeFact<'tree/NodeChanged@1'>['run'];
  /** What its session says that its run waits for; null while it works or has no run. */
  readonly waiting: WaitsFor | null;
  readonly result: Given | null;
  readonly code: string | null;
  /** Who stopped it. */
  readonly stopped_by?: Actor;
  readonly spent: Used;
  readonly budget: number | null;
  readonly needs: readonly number[];
  readonly children: readonly number[];
  readonly launches: readonly LaunchView[];
  /** When it was made and last changed: the frame, and journal milliseconds. */
  readonly made: { readonly frame: number; readonly at: number };
  readonly changed: { readonly frame: number; readonly at: number };
}

/** A tree: its head, its nodes and its questions. */
export interface TreeView {
  readonly name: string;
  readonly goal: string;
  readonly status: TreeStatus;
  readonly code: string | null;
  readonly limits: TreeLimits;
  readonly budget: TreeBudget;
  readonly labels: Readonly<Record<string, string>>;
  /** Who started it. */
  readonly by: Actor;
  readonly result: Given | null;
  readonly spent: Used;
  readonly reserved: number;
  /** What came back when it was expected no longer. */
  readonly late: number;
  readonly started: { readonly frame: number; readonly at: number };
  readonly ended: { readonly frame: number; readonly at: number } | null;
  /** The newest frame with a fact of the tree. */
  readonly newest: { readonly frame: number; readonly at: number };
  readonly nodes: ReadonlyMap<number, NodeView>;
  /** By the question's number. */
  readonly asks: ReadonlyMap<number, AskView>;
  /** What was done to its nodes and to itself, the oldest first. */
  readonly acts: readonly ActView[];
  /** What was said about the rights of a node, by its number. {@link rightsInView} says what it may do. */
  readonly rights: ReadonlyMap<number, Capability>;
}

/** A frame's place in the journal. */
export interface FramePlace {
  readonly frame: number;
  readonly at: number;
}

/** A fact of a tree as a record of the journal holds it. */
export type FactOfTree = {
  [K in TreeFactName]: { readonly name: K; readonly value: TreeFact<K>; readonly tree: string };
}[TreeFactName];

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The rows of one tree while they are folded. */
type Rows = Omit<Writable<TreeView>, 'nodes' | 'asks' | 'rights' | 'acts'> & {
  readonly acts: ActView[];
  readonly nodes: Map<number, NodeView>;
  readonly asks: Map<number, AskView>;
  readonly rights: Map<number, Capability>;
};

/** The fact of a tree that a record holds; undefined for any other record. */
export function treeFactIn(record: JournalRecord): FactOfTree | undefined {
  if (record.kind !== 'fact' || record.from?.[0] !== TREE || !Object.hasOwn(treeFacts, record.name)) return undefined;
  return { name: record.name, value: record.value, tree: record.from[1] } as FactOfTree;
}

/** The needs of nodes that no fact has stated yet: a tree states the edges of a new node before the node itself. */
type Early = Map<number, readonly number[]>;

/** Folds facts into the rows of trees, in the order of the journal. */
export class TreeFold {
  readonly #trees = new Map<string, Rows>();
  readonly #early = new Map<string, Early>();
  /** The node that each session works for. */
  readonly #sessions = new Map<string, { readonly tree: string; readonly n: number }>();

  /** The trees by name, in the order in which they were started. The rows change as facts are added. */
  get trees(): ReadonlyMap<string, TreeView> {
    return this.#trees;
  }

  /**
   * Takes a record of the journal: the facts of trees, and what the sessions of their nodes wait for.
   *
   * @returns the fact of a tree that the record is; undefined for any other record
   */
  take(record: JournalRecord, place: FramePlace): FactOfTree | undefined {
    const fact = treeFactIn(record);
    if (fact === undefined) this.#takeWait(record);
    else this.add(fact, place);
    return fact;
  }

  /** Adds a fact. */
  add(fact: FactOfTree, place: FramePlace): void {
    if (fact.name === 'tree/Started@1') {
      this.#trees.set(fact.tree, started(fact.tree, fact.value, place));
      this.#early.set(fact.tree, new Map());
    }
    const [rows, early] = [this.#trees.get(fact.tree), this.#early.get(fact.tree)];
    if (rows === undefined || early === undefined) return;
    if (fact.name === 'tree/Launched@1') this.#sessions.set(fact.value.session, { tree: fact.tree, n: fact.value.n });
    rows.newest = place;
    change(rows, early, fact, place);
  }

  #takeWait(record: JournalRecord): void {
    const wait = sessionWaitIn(record);
    const node = wait === undefined ? undefined : this.#sessions.get(wait.session);
    const rows = node === undefined ? undefined : this.#trees.get(node.tree);
    const row = node === undefined ? undefined : rows?.nodes.get(node.n);
    if (rows === undefined || row === undefined || wait === undefined || row.session !== wait.session) return;
    rows.nodes.set(row.n, { ...row, waiting: wait.waiting });
  }
}

/** What a session says that it waits for; undefined for any other record. */
function sessionWaitIn(
  record: JournalRecord,
): { readonly session: string; readonly waiting: WaitsFor | null } | undefined {
  if (record.kind !== 'fact' || record.from?.[0] !== SESSION_REDUCER) return undefined;
  if (record.name !== 'aos.agent/LifecycleChanged@1') return undefined;
  const { waiting } = record.value as { readonly waiting?: { readonly for: WaitsFor } };
  return { session: record.from[1], waiting: waiting?.for ?? null };
}

function started(name: string, value: TreeFact<'tree/Started@1'>, place: FramePlace): Rows {
  return {
    name,
    ...value,
    status: 'running',
    code: null,
    result: null,
    spent: { tokens: 0, micro_money: 0 },
    reserved: 0,
    late: 0,
    started: place,
    ended: null,
    newest: place,
    nodes: new Map(),
    asks: new Map(),
    acts: [],
    rights: new Map(),
  };
}

function change(rows: Rows, early: Early, fact: FactOfTree, place: FramePlace): void {
  switch (fact.name) {
    case 'tree/Started@1':
      return;
    case 'tree/NodeChanged@1':
      return changeNode(rows, early, fact.value, place);
    case 'tree/Needs@1':
      return setNeeds(rows, early, fact.value);
    case 'tree/Launched@1': {
      const { n, prompt_ref: prompt, ...launch } = fact.value;
      const launches = [
        ...(rows.nodes.get(n)?.launches ?? []),
        { ...launch, prompt, frame: place.frame, at: place.at },
      ];
      return setNode(rows, n, { launches, session: launch.session, run: 'live', waiting: null, changed: place });
    }
    case 'tree/Asked@1':
      return setAsk(rows, fact.value, place);
    case 'tree/Answered@1': {
      const { ask, asker: _, ...outcome } = fact.value;
      const row = rows.asks.get(ask);
      if (row !== undefined) rows.asks.set(ask, { ...row, outcome });
      return;
    }
    case 'tree/Acted@1':
      rows.acts.push({ ...fact.value, frame: place.frame, at: place.at });
      return;
    case 'tree/Late@1':
      rows.late += 1;
      return;
    case 'tree/Budget@1':
      rows.spent = fact.value.spent;
      rows.reserved = fact.value.reserved;
      return;
    case 'tree/Rights@1':
      rows.rights.set(fact.value.n, fact.value.rights);
      return;
    case 'tree/Limited@1':
      rows.limits = fact.value.limits;
      rows.budget = { ...rows.budget, tree: fact.value.budget };
      return;
    case 'tree/Ended@1': {
      const { status, code, result, spent } = fact.value;
      Object.assign(rows, { status, code, result, spent, ended: place });
    }
  }
}

function changeNode(rows: Rows, early: Early, value: TreeFact<'tree/NodeChanged@1'>, place: FramePlace): void {
  const { prompt_ref: prompt, ...row } = value;
  const before = rows.nodes.get(row.n);
  const kept = {
    needs: before?.needs ?? early.get(row.n) ?? [],
    children: before?.children ?? [],
    launches: before?.launches ?? [],
    waiting: before?.session === row.session && row.run !== 'none' ? (before?.waiting ?? null) : null,
  };
  if (before === undefined) early.delete(row.n);
  rows.nodes.set(row.n, { ...row, prompt, ...kept, made: before?.made ?? place, changed: place });
  if (before === undefined && row.parent !== null) adopt(rows, row.parent, row.n);
  // The tree runs again when its root was tried again, and is paused where its root is.
  if (row.parent === null && !ENDED.includes(row.status))
    Object.assign(rows, { status: row.paused ? 'paused' : 'running', code: null, result: null, ended: null });
}

function adopt(rows: Rows, parent: number, n: number): void {
  const children = rows.nodes.get(parent)?.children;
  if (children === undefined) return;
  // A copy for each child would make the fold quadratic: the list belongs to this row alone.
  (children as number[]).push(n);
}

function setNeeds(rows: Rows, early: Early, { n, needs }: TreeFact<'tree/Needs@1'>): void {
  if (rows.nodes.has(n)) setNode(rows, n, { needs });
  else early.set(n, needs);
}

function setNode(rows: Rows, n: number, some: Partial<NodeView>): void {
  const row = rows.nodes.get(n);
  if (row !== undefined) rows.nodes.set(n, { ...row, ...some });
}

function setAsk(rows: Rows, value: TreeFact<'tree/Asked@1'>, place: FramePlace): void {
  const { question_ref: question, ask, asker, target, route, options, returns, deadline } = value;
  const before = rows.asks.get(ask);
  const fallback = value.default === null ? null : (options[value.default] ?? null);
  const { frame, at } = before ?? place;
  rows.asks.set(ask, {
    ...{ ask, asker, target, route, question, options, returns, deadline, frame, at },
    default: fallback,
    outcome: before?.outcome ?? null,
  });
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
