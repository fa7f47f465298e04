/** Prices of models in dollars, and the conversion to whole numbers, so that no fraction is ever lost. */
import { RepriseError, type Usage } from '@reprise/contracts';
import type { ModelPrice } from '../contracts/config.js';
import type { AnyAgent } from './agent.js';
import { spawnable } from './spawnable.js';

/** The price of a model, in dollars for a million tokens; each with at most six decimals. */
export interface Price {
  /** The price of input tokens. */
  readonly in: number;
  /** The price of output tokens. */
  readonly out: number;
  /** The price of input tokens from the provider's cache; as `in` when absent. */
  readonly cachedIn?: number;
}

/** Millionths of a dollar in a dollar, and likewise of a micro-dollar. */
const PARTS = 1_000_000n;
const DECIMALS = 6;
const PRICE_MAX = 1_000_000;

/**
 * Refuses an invalid price.
 *
 * @throws RepriseError `invalid_argument` naming the field
 */
export function requirePrice(price: Price, where: string): void {
  for (const field of ['in', 'out', 'cachedIn'] as const) {
    const dollars: unknown = price?.[field];
    if (dollars === undefined && field === 'cachedIn') continue;
    const inRange = typeof dollars === 'number' && dollars >= 0 && dollars <= PRICE_MAX;
    if (inRange && Number(dollars.toFixed(DECIMALS)) === dollars) continue;
    throw new RepriseError('invalid_argument', `price.${field} is not a price in dollars`, {
      where,
      expected: `dollars for a million tokens: a number from 0 to ${PRICE_MAX} with at most ${DECIMALS} decimals`,
      actual: dollars,
    });
  }
}

/** A price as a session records it: an upper bound, so cached tokens cost as much as the others. */
export function recordedPrice(price: Price | undefined): ModelPrice | null {
  if (price === undefined) return null;
  const most = Math.max(price.in, price.cachedIn ?? 0);
  return { in: Number(partsOf(most)), out: Number(partsOf(price.out)) };
}

/** The cost of a call in micro-dollars, rounded up; undefined when its tokens are unknown. */
export function microDollars(price: Price, usage: Usage | undefined): number | undefined {
  const { tokens_in, tokens_out, tokens_cached = 0 } = usage ?? {};
  if (tokens_in === undefined && tokens_out === undefined) return undefined;
  const whole = tokens_in ?? 0;
  const cached = Math.min(tokens_cached, whole);
  const parts =
    BigInt(whole - cached) * partsOf(price.in) +
    BigInt(cached) * partsOf(price.cachedIn ?? price.in) +
    BigInt(tokens_out ?? 0) * partsOf(price.out);
  const cost = (parts + PARTS - 1n) / PARTS;
  return cost > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(cost);
}

/** Converts by the decimal text of a price, since its binary fraction is not exact. */
function partsOf(dollars: number): bigint {
  return BigInt(dollars.toFixed(DECIMALS).replace('.', ''));
}

/** The known prices, by alias. */
type Prices = Readonly<Record<string, { readonly price?: Price }>>;

/**
 * Refuses a limit in money when a model that it bounds, here or below, has no price.
 *
 * @param limited whether a limit is stated elsewhere; an agent's own limit always counts
 * @throws RepriseError `invalid_definition` with a hint
 */
export function requirePrices(models: Prices, agent: AnyAgent, limited = false): void {
  const below = spawnable(agent);
  const all = [agent, ...below.filter((one) => one !== agent)];
  const bounded = limited || agent.limits.max_micro_money !== undefined;
  for (const one of all) {
    if (!bounded && one.limits.max_micro_money === undefined) continue;
    for (const alias of [one.model, one.compaction?.model ?? one.model])
      requireOnePrice(models, alias, `agent ${one.name}`);
  }
}

/**
 * Refuses a limit in money for a model without a price.
 *
 * @throws RepriseError `invalid_definition` with a hint
 */
export function requireOnePrice(models: Prices, alias: string, where: string): void {
  if (models[alias]?.price !== undefined) return;
  throw new RepriseError('invalid_definition', `model "${alias}" has no price for a limit in money`, {
    where: `${where} limits.usd`,
    expected: 'a price, since the agent or a parent has a limit in money',
    actual: 'none',
    hint: `Give the client of "${alias}" a price: { in, out } in dollars for a million tokens, or limit tokens instead of usd.`,
  });
}
