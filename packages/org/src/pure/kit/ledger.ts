/**
 * Budgets: a share is set aside before a run begins, as the limit of its session; at its end what it used is counted and
 * the share is given back.
 *
 * Invariants
 * L1  What was used and what is set aside never exceed the budget together, except by what a session used beyond its limit.
 * L2  What does not fit waits as long as something is set aside, since a run may give it back. When nothing is set aside,
 *     a run gets what is left, if that is enough for it to begin.
 * L3  Use that nobody reported counts as the whole share: a budget must hold also when a provider says nothing.
 * L4  Those that wait begin in their order: the first one that has to wait holds up all behind it.
 */
import { type Adopted, mayBeCharged, type Tally } from '@reprise/agent/contracts';
import * as z from '@reprise/contracts/schema';
import type { Table } from '@reprise/kernel/define';

/** What was used: tokens, input and output, and money in millionths of a dollar. */
export const used = z.strictObject({ tokens: z.int().min(0), micro_money: z.int().min(0) });

/** What was used, in both units; money in millionths of a dollar. */
export type Used = Readonly<z.infer<typeof used>>;

/** A budget, or what is set aside of one, in its unit. */
export const share = z.strictObject({ unit: z.enum(['tokens', 'micro_money']), amount: z.int().min(1) });

/** A budget, or what is set aside of one, in its unit. */
export type Share = Readonly<z.infer<typeof share>>;

/** The code of a run of which nothing more is heard: what it last reported is not all that it used. */
export const LOST = 'lost';

/** The use of a run that used nothing. */
export const UNUSED: Used = { tokens: 0, micro_money: 0 };

/**
 * What a run used.
 *
 * @param tally what its session reports; null when nothing was heard of it
 * @param aside what was set aside for it; null where no budget bounds it: then only reported use counts
 * @param code why it ended; empty when it ended well
 */
export function usedBy(tally: Tally | null, aside: Share | null, code: string): Used {
  const { tokens_in = 0, tokens_out = 0, micro_money = 0 } = tally ?? {};
  const reported = { tokens: tokens_in + tokens_out, micro_money };
  if (aside === null || !isUnreported(tally, reported, code)) return reported;
  return { ...reported, [aside.unit]: Math.max(reported[aside.unit], aside.amount) };
}

/** Whether a run may have used more than its session reports. A model call that was refused has used nothing. */
function isUnreported(tally: Tally | null, { tokens }: Used, code: string): boolean {
  if (tally === null || UNDER_WAY.some((start) => code.startsWith(start))) return true;
  return tally.steps > 0 && tokens === 0 && mayBeCharged(code);
}

/** The codes of runs that ended while a model call was under way, and of those of which nothing more is heard. */
const UNDER_WAY = ['outcome_unknown', 'adapter_timeout', 'limit/max_wall_ms', LOST];

/** The sum of two uses, unit by unit. */
export function usedTogether(a: Used, b: Used): Used {
  return { tokens: a.tokens + b.tokens, micro_money: a.micro_money + b.micro_money };
}

/** What an owner has used of its budget and has set aside, in the unit of the budget: fields of its state. */
export interface Purse {
  spent: Used;
  reserved: number;
}

/** What a run asks for before it begins. */
export interface Asked {
  readonly amount: number;
  /** With less it does not begin; the whole amount when absent. */
  readonly least?: number;
  /** How much of what is set aside may come back before this run has begun; all of it when absent. */
  readonly returns?: number;
}

/** Why a run gets no share. `wait`: it gets one when others give theirs back. `spent`: only a larger budget helps. */
export type NoShare = 'wait' | 'spent';

/** The share of a run, which is not set aside yet; null without a budget. */
export function shareFor(purse: Purse, budget: Share | null, asked: Asked): Share | NoShare | null {
  if (budget === null) return null;
  const { amount, least = amount, returns = purse.reserved } = asked;
  const left = leftOf(purse, budget);
  const given = returns > 0 ? amount : Math.min(amount, left); // L2
  if (given >= least && given <= left) return { unit: budget.unit, amount: given };
  return returns > 0 ? 'wait' : 'spent';
}

/** Sets a share aside for a run that begins; null without a budget. */
export function setAside(purse: Purse, budget: Share | null, asked: Asked): Share | NoShare | null {
  const share = shareFor(purse, budget, asked);
  if (typeof share === 'object' && share !== null) purse.reserved += share.amount;
  return share;
}

/** Gives back what was set aside for a run and is not needed. */
export function giveBack(purse: Pick<Purse, 'reserved'>, share: Pick<Share, 'amount'> | null): void {
  purse.reserved -= share?.amount ?? 0;
}

/** Counts what a run used, see {@link usedBy} for the parameters. @returns what it used */
export function countUse(purse: Purse, share: Share | null, tally: Tally | null, code: string): Used {
  const use = usedBy(tally, share, code);
  purse.spent = usedTogether(purse.spent, use);
  return use;
}

/** A run has ended: counts what it used, and gives its share back. See {@link usedBy} for the parameters. */
export function settleRun(purse: Purse, share: Share | null, tally: Tally | null, code: string): void {
  countUse(purse, share, tally, code);
  giveBack(purse, share);
}

/** What is neither used nor set aside: less than nothing where sessions used more than their limits. */
export function leftOf({ spent, reserved }: Readonly<Purse>, { unit, amount }: Share): number {
  return amount - spent[unit] - reserved;
}

/**
 * Begins those that wait, in their order, until one of them has to wait longer (L4).
 *
 * @param isFull whether this delivery has done as much as one may
 * @param begin begins the first, and takes it out of the line. @returns whether the line goes on
 * @returns whether others are left to another delivery
 */
export function beginInLine<V>(
  line: Table<V>,
  isFull: () => boolean,
  begin: (place: string, row: V) => boolean,
): boolean {
  for (let first = line.first(); first !== undefined; first = line.first()) {
    if (isFull()) return true;
    if (!begin(...first)) return false;
  }
  return false;
}

/** The limit of a session that its share sets. */
export function limitOf({ unit }: Pick<Share, 'unit'>): 'max_tokens' | 'max_micro_money' {
  return unit === 'tokens' ? 'max_tokens' : 'max_micro_money';
}

/** The limits of a run that an owner lowers. */
type OwnersLimits = Pick<Adopted['config']['limits'], 'max_tokens' | 'max_micro_money' | 'max_wall_ms'>;

/** A definition with these limits, where they are lower than its own. */
export function withinLimits(adopted: Adopted, lower: OwnersLimits): Adopted {
  const limits = { ...adopted.config.limits };
  for (const kind of ['max_tokens', 'max_micro_money', 'max_wall_ms'] as const) {
    const bound = lower[kind];
    if (bound !== undefined) limits[kind] = Math.min(bound, limits[kind] ?? bound);
  }
  return { ...adopted, config: { ...adopted.config, limits } };
}
