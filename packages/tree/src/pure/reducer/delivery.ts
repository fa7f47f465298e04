/** One delivery to a tree: its state, its nodes, and how many nodes it has changed. */
import type { OwnerAnswers } from '@reprise/agent/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import { CHANGES_AT_ONCE } from '../contracts/names.js';
import type {
  AskRow,
  Edge,
  LaunchingNode,
  RecordedRights,
  StoredDraft,
  ToldWords,
  WorkItem,
} from '../contracts/node.js';
import type { RecordedWords, TreeAgent, TreeState } from '../contracts/tree.js';
import { Nodes } from './nodes.js';

/** What the functions of the reducer work on. */
export interface Delivery {
  readonly state: TreeState;
  readonly ctx: ReducerContext;
  readonly nodes: Nodes;
  /** The nodes that ended, began or were released so far: at {@link CHANGES_AT_ONCE} the rest waits. */
  changes: number;
  /** The answers to the calls that this delivery takes together; undefined while it takes none. */
  answers?: CollectedAnswers | undefined;
}

/** Answers that are sent together, and their bytes. */
interface CollectedAnswers extends OwnerAnswers {
  bytes: number;
}

/** Begins a delivery. */
export function deliveryOf(state: TreeState, ctx: ReducerContext): Delivery {
  return { state, ctx, nodes: new Nodes(ctx), changes: 0 };
}

/** Whether this delivery has changed as many nodes as one may. */
export function isFull({ changes }: Delivery): boolean {
  return changes >= CHANGES_AT_ONCE;
}

/** The tables of a tree besides its nodes. */
interface Tables {
  readonly children: Table<null>;
  readonly needs: Table<Edge>;
  readonly dependents: Table<null>;
  readonly ready: Table<number>;
  readonly held: Table<null>;
  readonly sessions: Table<number>;
  readonly agents: Table<TreeAgent>;
  readonly words: Table<RecordedWords>;
  readonly asks: Table<AskRow>;
  readonly routes: Table<null>;
  readonly told: Table<ToldWords>;
  readonly live: Table<null>;
  readonly work: Table<WorkItem>;
  readonly drafts: Table<StoredDraft>;
  readonly rights: Table<RecordedRights>;
  readonly granted: Table<RecordedRights>;
  readonly launching: Table<LaunchingNode>;
}

/** A table of the tree. */
export function tableOf<K extends keyof Tables>({ ctx }: Pick<Delivery, 'ctx'>, name: K): Tables[K] {
  return ctx.table(name) as unknown as Tables[K];
}
