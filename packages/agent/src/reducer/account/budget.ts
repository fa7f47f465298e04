/**
 * The budget of a run in tokens and money: what it may use, what it has used, and what the next model call may use.
 *
 * Invariants
 * U1  At each model call, the amounts used, set aside for children and reserved for the call are together at most the
 *     run's budget: the smaller of its limit and its allowance.
 * U2  A call reserves the estimate of its prompt (`prompt-size.ts`) and its largest answer. Where the definition states
 *     no largest answer, that is `ANSWER_TOKENS`, or less when less is left, and the request states it. It is never
 *     zero.
 * U3  Reported usage counts, whatever was reserved. A call that may have been charged but reports no usage counts as
 *     its reserve. Both cases are recorded as facts.
 */
import type { Usage } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { AgentConfig, LimitAmounts, ModelPrice } from '../../contracts/config.js';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import { promptEstimate } from '../transcript/prompt-size.js';
import { place } from '../transcript/say.js';
import type { Reached } from './limits.js';

/** The two units of {@link LimitAmounts}. */
export const UNITS = ['tokens', 'micro_money'] as const;

/** A unit in which a budget is counted. */
export type Unit = (typeof UNITS)[number];

export const NO_AMOUNTS: LimitAmounts = Object.freeze({ tokens: 0, micro_money: 0 });

/** The largest answer in tokens that is reserved when the definition states none and tokens or money are limited. */
const ANSWER_TOKENS = 8_192;

/** How many unfinished calls of one run are remembered because they may still report usage. */
const ABANDONED_MAX = 8;

/** Prices are counted in this fraction of a micro-dollar. */
const PARTS = 1_000_000n;

const LIMITS = { tokens: 'max_tokens', micro_money: 'max_micro_money' } as const satisfies Record<Unit, string>;

/** The budget of a run: the smaller of its limit and its allowance; undefined when neither exists. */
export function givenOf(
  { config, allowance }: Pick<CurrentRun, 'config' | 'allowance'>,
  unit: Unit,
): number | undefined {
  const limit = config.limits[LIMITS[unit]];
  const set = allowance?.[unit] ?? undefined;
  return set === undefined ? limit : Math.min(limit ?? set, set);
}

/** What a run and its children have used. A call that reported no usage counts as its reserve. */
export function usedOf({ tally, children_tally, unaccounted }: CurrentRun, unit: Unit): number {
  return amountIn(tally, unit) + amountIn(children_tally, unit) + unaccounted[unit];
}

/** What a run may still use beside what is set aside and reserved; undefined when it has no budget. */
export function leftOf(run: CurrentRun, unit: Unit): number | undefined {
  const given = givenOf(run, unit);
  return given === undefined ? undefined : given - usedOf(run, unit) - run.allocated[unit] - (run.reserve?.[unit] ?? 0);
}

/** The amount of one unit in a tally. */
export function amountIn(tally: CurrentRun['tally'], unit: Unit): number {
  return unit === 'tokens' ? tally.tokens_in + tally.tokens_out : tally.micro_money;
}

/** The reserve of a model call and, where it must be stated, its largest answer; or the limit that forbids the call. */
type Weighed =
  | { readonly reserve: LimitAmounts | null; readonly max_tokens?: number; readonly reached?: never }
  | { readonly reached: Reached };

/** Decides whether the next model call of a run fits the budget (U1, U2). */
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
  return { limit: LIMITS[unit], used: usedOf(run, unit), of, set_aside: run.allocated[unit], needs };
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

/** The highest price of a number of tokens, rounded up and at least 1; zero for a model without a price. */
function costOf(price: ModelPrice | undefined, prompt: number, answer: number): number {
  if (price === undefined) return 1;
  const parts = BigInt(prompt) * BigInt(price.in) + BigInt(answer) * BigInt(price.out);
  const cost = (parts + PARTS - 1n) / PARTS;
  return Math.max(1, cost > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(cost));
}

/** Adds the reported usage of a model call or a tool call. */
export function countUsage({ tally }: CurrentRun, usage: Usage | undefined): void {
  tally.tokens_in += usage?.tokens_in ?? 0;
  tally.tokens_out += usage?.tokens_out ?? 0;
  tally.micro_money += usage?.micro_money ?? 0;
}

/**
 * Closes a model call of a run: its reported usage counts, and its reserve is free again (U3).
 *
 * @param charged whether the call may have been charged although it reports no usage
 * @param isOver whether it was answered, so that no late report follows
 */
export function callEnded(
  draft: SessionState,
  run: CurrentRun,
  {
    usage,
    charged,
    isOver = false,
  }: { readonly usage: Usage | undefined; readonly charged: boolean; readonly isOver?: boolean },
  ctx: ReducerContext,
): void {
  const { reserve } = run;
  countUsage(run, usage);
  run.reserve = null;
  if (reserve === null) return;
  const reported = reportedIn(usage);
  const unknown = UNITS.filter((unit) => charged && reserve[unit] > 0 && reported[unit] === undefined);
  for (const unit of unknown) run.unaccounted[unit] += reserve[unit];
  if (unknown.length > 0 && run.step_plan !== null && !isOver) {
    const unreported = { ...NO_AMOUNTS };
    for (const unit of unknown) unreported[unit] = reserve[unit];
    run.abandoned = [...run.abandoned, { plan: run.step_plan, ...unreported }].slice(-ABANDONED_MAX);
  }
  const above = UNITS.some((unit) => reserve[unit] > 0 && (reported[unit] ?? 0) > reserve[unit]);
  const used = { tokens: reported.tokens ?? 0, micro_money: reported.micro_money ?? 0 };
  for (const how of [...(above ? ['above_reserve'] : []), ...(unknown.length > 0 ? ['unknown'] : [])])
    ctx.record('aos.agent/UsageDiffers@1', { ...place(draft), how, reserved: reserve, used });
}

function reportedIn(usage: Usage | undefined): { readonly [U in Unit]: number | undefined } {
  const { tokens_in, tokens_out, micro_money } = usage ?? {};
  const tokens = tokens_in === undefined && tokens_out === undefined ? undefined : (tokens_in ?? 0) + (tokens_out ?? 0);
  return { tokens, micro_money };
}

/** What a late report adds: a unit that is limited and of which nothing was missing was reported before. */
function unreportedIn(run: CurrentRun, reserved: LimitAmounts, usage: Usage | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const isKnown = (unit: Unit) => reserved[unit] === 0 && givenOf(run, unit) !== undefined;
  const { tokens_in: _in, tokens_out: _out, ...withoutTokens } = usage;
  const { micro_money: _money, ...withoutMoney } = usage;
  if (isKnown('tokens')) return withoutTokens;
  return isKnown('micro_money') ? withoutMoney : usage;
}

/**
 * Takes the late usage report of an abandoned call. When its run has ended, the report is only recorded: the reserve
 * was counted then.
 */
export function usageLate(draft: SessionState, plan: number, usage: Usage | undefined, ctx: ReducerContext): void {
  const { run } = draft;
  const reported = reportedIn(usage);
  if (reported.tokens === undefined && reported.micro_money === undefined) return;
  const { plan: _, ...reserved } = run?.abandoned.find((one) => one.plan === plan) ?? { plan, ...NO_AMOUNTS };
  if (run?.abandoned.some((one) => one.plan === plan) === true) {
    run.abandoned = run.abandoned.filter((one) => one.plan !== plan);
    for (const unit of UNITS) if (reported[unit] !== undefined) run.unaccounted[unit] -= reserved[unit];
    countUsage(run, unreportedIn(run, reserved, usage));
  }
  const used = { tokens: reported.tokens ?? 0, micro_money: reported.micro_money ?? 0 };
  ctx.record('aos.agent/UsageDiffers@1', { ...place(draft), how: 'late', reserved, used });
}
