/** The limits of a child session: its own, and never more than those of its parents. */
import { present } from '@reprise/contracts';
import type { Bounds, RunLimits } from '../../contracts/config.js';
import type { Grant } from './allowances.js';

/** Narrows a child's own limits by the requested budget and by the parent's limits. */
export function childLimits(own: RunLimits, parent: RunLimits, asked: Budget, { allowance }: Grant): RunLimits {
  const set = {
    ...(allowance.tokens === null ? {} : { max_tokens: allowance.tokens }),
    ...(allowance.micro_money === null ? {} : { max_micro_money: allowance.micro_money }),
  };
  return { ...narrowed(narrowed(own, asked), set), max_depth: Math.min(own.max_depth, parent.max_depth - 1) };
}

/** A requested budget, or the part of an agent's limits that has the same fields. */
type Budget = Pick<RunLimits, 'max_tokens' | 'max_micro_money' | 'max_wall_ms'>;

/** Limits in tokens and money. */
export function boundsOf({ max_tokens, max_micro_money }: Budget): Bounds {
  return { tokens: max_tokens ?? null, micro_money: max_micro_money ?? null };
}

/** Narrows limits so that they permit no more than the others. */
export function narrowed(own: RunLimits, { max_tokens, max_micro_money, max_wall_ms }: Budget): RunLimits {
  return present({
    ...own,
    max_tokens: least(own.max_tokens, max_tokens),
    max_micro_money: least(own.max_micro_money, max_micro_money),
    max_wall_ms: least(own.max_wall_ms, max_wall_ms),
  });
}

function least(...amounts: readonly (number | undefined)[]): number | undefined {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
