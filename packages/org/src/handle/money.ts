/** Amounts as an app states them: dollars, or tokens. */
import { fieldsOf, isWhole, MICRO, present, RepriseError, requireKnownOptions } from '@reprise/contracts';
import type { Share } from '../pure/index.js';

/** An amount: dollars, or tokens of input and output. */
export type Money = { readonly usd: number } | { readonly tokens: number };

/** An amount in its recorded unit: whole tokens, or whole millionths of a dollar. @throws RepriseError `invalid_argument` */
export function recordedMoney(money: Money, where: string): Share {
  requireKnownOptions(money, { usd: true, tokens: true }, where);
  const { usd, tokens } = present(fieldsOf(money)) as { readonly usd?: unknown; readonly tokens?: unknown };
  if (usd === undefined && isWhole(tokens, 1)) return { unit: 'tokens', amount: tokens };
  const micro = typeof usd === 'number' ? Math.round(usd * MICRO) : Number.NaN;
  if (tokens === undefined && Number.isSafeInteger(micro) && micro > 0) return { unit: 'micro_money', amount: micro };
  throw new RepriseError('invalid_argument', 'invalid budget', {
    where,
    expected: '{ usd } as dollars above zero, or { tokens } as a whole number above zero',
    actual: money,
  });
}
