/** What nodes and the tree have used. */
import type { ChildNotice } from '@reprise/agent/contracts';
import type { Used } from '../contracts/limits.js';
import type { NodeRow } from '../contracts/node.js';
import type { Delivery } from './delivery.js';

type Ended = Extract<ChildNotice['news'], { readonly kind: 'settled' }>;

/** What the tree counts in. */
export function unitOf({ state }: Delivery): 'tokens' | 'micro_money' {
  return state.budget.unit;
}

/**
 * Counts what a run used. Use that was not reported counts as the whole reserve, where the tree or the node has a stated
 * budget: without one there is nothing that it could exceed.
 */
export function countUse(delivery: Delivery, row: NodeRow, { tally, stop }: Pick<Ended, 'tally' | 'stop'>): void {
  const used = { tokens: tally.tokens_in + tally.tokens_out, micro_money: tally.micro_money };
  const { budget } = delivery.state;
  const unknown = isUnknown(stop) || (tally.steps > 0 && used.tokens === 0);
  if (unknown && (budget.stated || budget.tree !== null)) used[budget.unit] = Math.max(used[budget.unit], row.reserved);
  row.spent = sum(row.spent, used);
  delivery.state.spent = sum(delivery.state.spent, used);
}

/** Whether a run may have used more than it reported. */
function isUnknown(stop: Ended['stop']): boolean {
  if (stop.kind === 'Failed') return stop.code.startsWith('outcome_unknown') || stop.code.startsWith('adapter_timeout');
  return stop.kind === 'LimitsExceeded' && stop.limit === 'max_wall_ms';
}

function sum(a: Used, b: Used): Used {
  return { tokens: a.tokens + b.tokens, micro_money: a.micro_money + b.micro_money };
}
