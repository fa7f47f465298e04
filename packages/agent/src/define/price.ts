/** What models cost, as people say it, and as it is counted: in whole numbers, so that no fraction is ever lost. */
import { RepriseError, type Usage } from '@reprise/contracts';
import type { ModelPrice } from '../contracts/config.js';
import type { AnyAgent } from './agent.js';
import { spawnable } from './spawnable.js';

/** What a model costs, in dollars for a million tokens; with at most six decimals each. */
export interface Price {
  /** Of tokens that go in. */
  readonly in: number;
  /** Of tokens that come out. */
  readonly out: number;
  /** Of tokens that go in and that the provider had kept; as `in` when absent. */
  readonly cachedIn?: number;
}

/** Millionths of a dollar, and of a micro-dollar, in one. */
const PARTS = 1_000_000n;
const DECIMALS = 6;
const PRICE_MAX = 1_000_000;

/**
 * Refuses what is not a price.
 *
 * @throws RepriseError `invalid_argument` naming the field
 */
export function requirePrice(price: Price, where: string): void {
  for (const field of ['in', 'out', 'cachedIn'] as const) {
    const dollars: unknown = price?.[field];
    if (dollars === undefined && field === 'cachedIn') continue;
    const inRange = typeof dollars === 'number' && dollars >= 0 && dollars <= PRICE_MAX;
    if (inRange && Number(dollars.toFixed(DECIMALS)) === dollars) continue;
    throw new RepriseError('invalid_argument', `price.${field} is not a price`, {
      where,
      expected: `dollars for a million tokens: a number from 0 to ${PRICE_MAX} with at most ${DECIMALS} decimals`,
      actual: dollars,
    });
  }
}

/** A price as a session records it: what it may cost at most, so what is cached counts as what is not. */
export function recordedPrice(price: Price | undefined): ModelPrice | null {
  if (price === undefined) return null;
  const most = Math.max(price.in, price.cachedIn ?? 0);
  return { in: Number(partsOf(most)), out: Number(partsOf(price.out)) };
}

/** What a call costs in micro-dollars, rounded up; undefined when it is not known how many tokens it used. */
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

/** By the decimal text of a price: its digits, and not what a fraction comes to in binary. */
function partsOf(dollars: number): bigint {
  return BigInt(dollars.toFixed(DECIMALS).replace('.', ''));
}

/** What is known of models, as far as it decides about money. */
type Prices = Readonly<Record<string, { readonly price?: Price }>>;

/**
 * Refuses a limit in money that nobody could keep: a model that it bounds, here or below, has no price.
 *
 * @param limited whether there is one; an agent's own limit counts in any case
 * @throws RepriseError `invalid_definition` with what to do about it
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
 * @throws RepriseError `invalid_definition` with what to do about it
 */
export function requireOnePrice(models: Prices, alias: string, where: string): void {
  if (models[alias]?.price !== undefined) return;
  throw new RepriseError('invalid_definition', 'a limit in money needs a price', {
    where: `${where} limits.usd`,
    expected: `a price of model "${alias}"`,
    actual: 'none',
    hint: `Give the client of "${alias}" a price: { in, out } in dollars for a million tokens, or limit tokens instead of usd.`,
  });
}
