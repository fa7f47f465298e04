/** Budgets of projects, as an app states them. */
import { type ArgumentCheck, checkOf, MICRO } from '@reprise/contracts';
import type { Share } from '../pure/index.js';

/** What all agents of a project may use: dollars, or tokens of input and output. */
export type Budget = { readonly usd: number } | { readonly tokens: number };

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid budget');

/** A budget as a project records it: whole tokens, or whole micro-dollars. @throws RepriseError `invalid_argument` */
export function recordedBudget(budget: Budget): Share {
  if ('tokens' in budget) {
    const { tokens } = budget;
    require(Number.isSafeInteger(tokens) && tokens > 0, 'budget.tokens', 'a whole number above 0', tokens);
    return { unit: 'tokens', amount: tokens };
  }
  const usd: unknown = budget?.usd;
  const amount = typeof usd === 'number' ? Math.round(usd * MICRO) : 0;
  require(Number.isSafeInteger(amount) && amount > 0, 'budget.usd', 'dollars, at least 0.000001', usd);
  return { unit: 'micro_money', amount };
}
