/** What nodes and the tree have used. */
import type { Tally } from '@reprise/agent/contracts';
import { countUse as countIn, type Share, usedTogether } from '@reprise/org/contracts';
import type { NodeRow } from '../../contracts/node.js';
import type { Delivery } from './delivery.js';

export function unitOf({ state }: Delivery): Share['unit'] {
  return state.budget.unit;
}

/**
 * Counts what a run used. Use that nobody reported counts as the whole reserve, where the tree or the node has a stated
 * budget: without one there is nothing that it could exceed.
 *
 * @param tally what its session reports; null when it has failed
 * @param code why it ended without a result; empty when it ended well
 */
export function countUse({ state }: Delivery, row: NodeRow, tally: Tally | null, code: string): void {
  const { unit, stated, tree } = state.budget;
  const share = stated || tree !== null ? { unit, amount: row.reserved } : null;
  row.spent = usedTogether(row.spent, countIn(state, share, tally, code));
}
