/** One delivery to a tree: its state, its nodes, and how many nodes it has changed. */
import type { OwnerAnswers } from '@reprise/agent/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { CHANGES_AT_ONCE, type TreeState, type treeTables } from '../../contracts/index.js';
import { Nodes } from './nodes.js';

/** The context of a delivery, with the tables of a tree. */
export type TreeContext = ReducerContext<typeof treeTables>;

/** What the functions of the reducer work on. */
export interface Delivery {
  readonly state: TreeState;
  readonly ctx: TreeContext;
  readonly nodes: Nodes;
  /** The nodes that ended, began or were released so far: at {@link CHANGES_AT_ONCE} the rest waits. */
  changes: number;
  /** The answers to the calls that this delivery takes together; undefined while it takes none. */
  answers?: CollectedAnswers | undefined;
}

interface CollectedAnswers extends OwnerAnswers {
  bytes: number;
}

export function deliveryOf(state: TreeState, ctx: TreeContext): Delivery {
  return { state, ctx, nodes: new Nodes(ctx), changes: 0 };
}

/** Whether this delivery has changed as many nodes as one may. */
export function isFull({ changes }: Delivery): boolean {
  return changes >= CHANGES_AT_ONCE;
}
