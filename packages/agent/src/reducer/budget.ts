/**
 * What a run may use in tokens and money, what it has used, and what the next model call may use of it.
 *
 * Invariants
 * U1  At each model call: used + set aside for children + reserved for the call is at most what the run was given. What it
 *     was given is the less of its limit and its allowance.
 * U2  The reserve of a call is the estimate of its prompt (`prompt-size.ts`) and its largest answer: where the definition states none,
 *     `ANSWER_TOKENS`, or less where less is left, and the provider is told so. It is never zero.
 * U3  What is reported counts, whatever was reserved. A call that may have been charged and of which nobody tells what it
 *     used counts as its reserve. Either is a fact.
 */
import type { Usage } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { AgentConfig, LimitAmounts, ModelPrice } from '../contracts/config.js';
import type { CurrentRun, SessionState } from '../contracts/state.js';
import type { Reached } from './limits.js';
import { promptEstimate } from './prompt-size.js';
import { place } from './say.js';

/** The units of budgets, in which each of {@link LimitAmounts} is. */
export const UNITS = ['tokens', 'micro_money'] as const;

/** A unit of budgets. */
export type Unit = (typeof UNITS)[number];

/** Nothing of anything. */
export const NO_AMOUNTS: LimitAmounts = Object.freeze({ tokens: 0, micro_money: 0 });

/** The largest answer of a model that is told of no other, in tokens, where tokens or money are limited. */
export const ANSWER_TOKENS = 8_192;

/** Calls of one run that are remembered because they may still tell what they used. */
const ABANDONED_MAX = 8;

/** Prices are in so many parts of a micro-dollar. */
const PARTS = 1_000_000n;

const LIMITS = { tokens: 'max_tokens', micro_money: 'max_micro_money' } as const satisfies Record<Unit, string>;

/** What a run was given: the less of its limit and its allowance; undefined when nothing bounds it. */
export function givenOf(
  { config, allowance }: Pick<CurrentRun, 'config' | 'allowance'>,
  unit: Unit,
): number | undefined {
  const limit = config.limits[LIMITS[unit]];
  const set = allowance?.[unit] ?? undefined;
  return set === undefined ? limit : Math.min(limit ?? set, set);
}

/** What a run has used, its children included, as far as anybody told; what nobody told counts as it was reserved. */
export function usedOf({ tally, children_tally, unaccounted }: CurrentRun, unit: Unit): number {
  return amountIn(tally, unit) + amountIn(children_tally, unit) + unaccounted[unit];
}

/** What a run may still use besides what is set aside and reserved; undefined when nothing bounds it. */
export function leftOf(run: CurrentRun, unit: Unit): number | undefined {
  const given = givenOf(run, unit);
  return given === undefined ? undefined : given - usedOf(run, unit) - run.carved[unit] - (run.reserve?.[unit] ?? 0);
}

/** How much of a unit a tally holds. */
export function amountIn(tally: CurrentRun['tally'], unit: Unit): number {
  return unit === 'tokens' ? tally.tokens_in + tally.tokens_out : tally.micro_money;
}

/** What a model call may use, and how long its answer may be where that has to be said; or the limit that forbids it. */
export type Weighed =
  | { readonly reserve: LimitAmounts | null; readonly max_tokens?: number; readonly reached?: never }
  | { readonly reached: Reached };

/** Weighs the next model call of a run (U1, U2). */
export function weighCall(draft: SessionState, run: CurrentRun, price: AgentConfig['price']): Weighed {
  const left = { tokens: leftOf(run, 'tokens'), micro_money: leftOf(run, 'micro_money') };
  if (left.tokens === undefined && left.micro_money === undefined) return { reserve: null };
  const prompt = promptEstimate(draft, run);
  const answer = Math.max(1, run.config.options.max_tokens ?? largestAnswer(prompt, left, price ?? undefined));
  const needs: LimitAmounts = { tokens: prompt + answer, micro_money: costOf(price ?? undefined, prompt, answer) };
  const reserve = { ...NO_AMOUNTS };
  for (const unit of UNITS) {
    const most = left[unit];
    if (most === undefined) continue;
    if (needs[unit] > most) return { reached: reachedBy(run, unit, needs[unit]) };
    reserve[unit] = needs[unit];
  }
  return { reserve, max_tokens: answer };
}

function reachedBy(run: CurrentRun, unit: Unit, needs: number): Reached {
  const of = givenOf(run, unit) ?? 0;
  return { limit: LIMITS[unit], used: usedOf(run, unit), of, set_aside: run.carved[unit], needs };
}

function largestAnswer(
  prompt: number,
  left: { readonly [U in Unit]: number | undefined },
  price: ModelPrice | undefined,
): number {
  const byTokens = left.tokens === undefined ? ANSWER_TOKENS : left.tokens - prompt;
  if (left.micro_money === undefined || price === undefined || price.out === 0)
    return Math.min(ANSWER_TOKENS, byTokens);
  const parts = BigInt(Math.max(0, left.micro_money)) * PARTS - BigInt(prompt) * BigInt(price.in);
  const byMoney = parts / BigInt(price.out);
  return Math.min(ANSWER_TOKENS, byTokens, byMoney > BigInt(ANSWER_TOKENS) ? ANSWER_TOKENS : Number(byMoney));
}

/** What so many tokens cost at most, rounded up; never nothing, and of a model without a price nobody knows more. */
function costOf(price: ModelPrice | undefined, prompt: number, answer: number): number {
  if (price === undefined) return 1;
  const parts = BigInt(prompt) * BigInt(price.in) + BigInt(answer) * BigInt(price.out);
  const cost = (parts + PARTS - 1n) / PARTS;
  return Math.max(1, cost > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(cost));
}

/** Counts what a model call or a tool call reports to have used. */
export function countUsage({ tally }: CurrentRun, usage: Usage | undefined): void {
  tally.tokens_in += usage?.tokens_in ?? 0;
  tally.tokens_out += usage?.tokens_out ?? 0;
  tally.micro_money += usage?.micro_money ?? 0;
}

/**
 * The model call of a run has ended: what it reports counts, and its reserve is free again (U3).
 *
 * @param charged whether it may have been charged for although it reports nothing
 */
export function callEnded(
  draft: SessionState,
  run: CurrentRun,
  { usage, charged }: { readonly usage: Usage | undefined; readonly charged: boolean },
  ctx: ReducerContext,
): void {
  const { reserve } = run;
  countUsage(run, usage);
  run.reserve = null;
  if (reserve === null) return;
  const reported = reportedIn(usage);
  const unknown = UNITS.filter((unit) => charged && reserve[unit] > 0 && reported[unit] === undefined);
  for (const unit of unknown) run.unaccounted[unit] += reserve[unit];
  if (unknown.length > 0 && run.step_plan !== null)
    run.abandoned = [...run.abandoned, { plan: run.step_plan, ...reserve }].slice(-ABANDONED_MAX);
  const above = UNITS.some((unit) => reserve[unit] > 0 && (reported[unit] ?? 0) > reserve[unit]);
  const used = { tokens: reported.tokens ?? 0, micro_money: reported.micro_money ?? 0 };
  for (const how of [...(above ? ['above_reserve'] : []), ...(unknown.length > 0 ? ['unknown'] : [])])
    ctx.record('aos.agent/UsageDiffers@1', { ...place(draft), how, reserved: reserve, used });
}

/** Whether a call that failed may have been charged for: not what a provider refused, nor what was never begun. */
export function mayBeCharged(code: string): boolean {
  return !code.startsWith('provider_error') && !code.startsWith('policy_denied');
}

function reportedIn(usage: Usage | undefined): { readonly [U in Unit]: number | undefined } {
  const { tokens_in, tokens_out, micro_money } = usage ?? {};
  const tokens = tokens_in === undefined && tokens_out === undefined ? undefined : (tokens_in ?? 0) + (tokens_out ?? 0);
  return { tokens, micro_money };
}

/** A model call that was given up tells what it used. Of a run that is over that is a fact, and counted there already. */
export function usageLate(draft: SessionState, plan: number, usage: Usage | undefined, ctx: ReducerContext): void {
  const { run } = draft;
  const reported = reportedIn(usage);
  if (reported.tokens === undefined && reported.micro_money === undefined) return;
  const { plan: _, ...reserved } = run?.abandoned.find((one) => one.plan === plan) ?? { plan, ...NO_AMOUNTS };
  if (run?.abandoned.some((one) => one.plan === plan) === true) {
    run.abandoned = run.abandoned.filter((one) => one.plan !== plan);
    for (const unit of UNITS) if (reported[unit] !== undefined) run.unaccounted[unit] -= reserved[unit];
    countUsage(run, usage);
  }
  const used = { tokens: reported.tokens ?? 0, micro_money: reported.micro_money ?? 0 };
  ctx.record('aos.agent/UsageDiffers@1', { ...place(draft), how: 'late', reserved, used });
}
