/** What nodes and the tree have used. */
import type { ChildNotice } from '@reprise/agent/contracts';
import { type Share, usedBy, usedTogether } from '@reprise/org/contracts';
import type { NodeRow } from '../../contracts/node.js';
import type { Delivery } from './delivery.js';

type Ended = Extract<ChildNotice['news'], { readonly kind: 'settled' }>;

/** What the tree counts in. */
export function unitOf({ state }: Delivery): Share['unit'] {
  return state.budget.unit;
}

/**
 * Counts what a run used. Use that nobody reported counts as the whole reserve, where the tree or the node has a stated
 * budget: without one there is nothing that it could exceed.
 */
export function countUse({ state }: Delivery, row: NodeRow, { tally, stop }: Pick<Ended, 'tally' | 'stop'>): void {
  const { unit, stated, tree } = state.budget;
  const share = stated || tree !== null ? { unit, amount: row.reserved } : null;
  const used = usedBy(tally, share, codeOf(stop));
  row.spent = usedTogether(row.spent, used);
  state.spent = usedTogether(state.spent, used);
}

/** Why a run ended without a result; empty when it ended well. */
function codeOf(stop: Ended['stop']): string {
  if (stop.kind === 'LimitsExceeded') return `limit/${stop.limit}`;
  return stop.kind === 'Failed' ? stop.code : '';
}
