/**
 * Budgets of child sessions. With each input for a child, a run sets aside part of its budget. The child stores that as
 * an allowance under the number of the run, and its own runs for these inputs draw on it. Parent and child do the same
 * sums, each in its own state: the parent may use again what the child reports as released.
 *
 * Invariants
 * A1  The part of an allowance that a run may use, plus the parts that earlier runs have set aside for child sessions,
 *     is at most the whole allowance.
 * A2  Nothing is released while an unfinished input or a child session may still use it.
 * A3  Each amount is released once: as used, or as returned.
 */

import type * as z from '@reprise/contracts/schema';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type { userInput } from '../../contracts/commands.js';
import type { Bounds, LimitAmounts, Tally } from '../../contracts/config.js';
import type { ChildNotice } from '../../contracts/session.js';
import type { Allowance, ChildEntry, CurrentRun, endedRun, SessionState } from '../../contracts/state.js';
import { tellOwner } from '../transcript/say.js';
import { amountIn, leftOf, NO_AMOUNTS, UNITS, type Unit } from './budget.js';

/** A child's report on the budget that was set aside for it. */
type Paid = Extract<ChildNotice['news'], { kind: 'spent' }>['paid'];

const NOTHING_USED: Tally = Object.freeze({ steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 });

/** The amount set aside with one input, and how much the child may still receive afterwards. */
export interface Grant {
  readonly allowance: Bounds;
  readonly may: Bounds;
}

/**
 * Calculates what a run sets aside for another input of a child: the child's limit for one input and its remaining
 * total, at most what the run has left. When the child already works for the run, the input may also draw on what is
 * set aside. Returns undefined when there is nothing to set aside.
 */
export function grantFor(
  run: CurrentRun,
  entry: Pick<ChildEntry, 'run' | 'inputs' | 'allocated' | 'each' | 'may'>,
): Grant | undefined {
  const draws = entry.run === run.number && entry.inputs > 0;
  const allowance: { tokens: number | null; micro_money: number | null } = { tokens: null, micro_money: null };
  const may = { ...entry.may };
  for (const unit of UNITS) {
    const left = leftOf(run, unit);
    const known = [left, entry.may[unit], left === undefined ? undefined : entry.each[unit]];
    const bounds = known.filter((amount) => amount !== undefined && amount !== null);
    if (bounds.length === 0) continue;
    const amount = Math.max(0, Math.min(...bounds));
    if (amount === 0 && !(draws && entry.allocated[unit] > 0)) return undefined;
    allowance[unit] = amount;
    if (may[unit] !== null) may[unit] -= amount;
  }
  return { allowance, may };
}

/** Applies a grant: takes the amounts from the run's free budget and notes them in the child's entry. */
export function setAside(run: CurrentRun, entry: ChildEntry, { allowance, may }: Grant): ChildEntry {
  const same = entry.run === run.number;
  const before = same ? entry.allocated : NO_AMOUNTS;
  const amounts = amountsOf(allowance);
  for (const unit of UNITS) run.allocated[unit] = safeSum(run.allocated[unit], amounts[unit]);
  const allocated = sum(before, amounts);
  return { ...entry, run: run.number, allocated, may, inputs: same ? entry.inputs + 1 : 1 };
}

/**
 * Applies a child's report of used or returned budget: to the run that set it aside, or to that run's own allowance
 * when the run has ended.
 *
 * @param ended how many inputs of the child ended with this report
 */
export function takePaid(
  draft: SessionState,
  [name, entry]: readonly [string, ChildEntry],
  paid: Paid,
  ended: 0 | 1,
  ctx: ReducerContext,
): ChildEntry {
  return book(draft, entry, { paid, ended, known: takeWrittenOff(name, paid, ctx) }, ctx);
}

interface Booking {
  readonly paid: Paid;
  readonly ended: 0 | 1;
  /** The part of this release that was already counted as used. */
  readonly known: LimitAmounts;
}

function book(
  draft: SessionState,
  entry: ChildEntry,
  { paid, ended, known }: Booking,
  ctx: ReducerContext,
): ChildEntry {
  const { tally, unaccounted, over } = paid;
  const current = entry.run === paid.run;
  const rest = minus(paid.released, known);
  const released = current && over ? most(entry.allocated, rest) : rest;
  if (draft.run?.number === paid.run) count(draft.run, { ...paid, released }, known);
  else passOn(draft, { ...paid, released }, known, ctx);
  if (!current) return entry;
  const used = sum(usedIn(tally), unaccounted);
  const may = { ...entry.may };
  const returned = sum(released, known);
  for (const unit of UNITS)
    if (may[unit] !== null) may[unit] = safeSum(may[unit] ?? 0, Math.max(0, returned[unit] - used[unit]));
  const inputs = over ? 0 : Math.max(0, entry.inputs - ended);
  return { ...entry, allocated: minus(entry.allocated, released), may, inputs };
}

function count(run: CurrentRun, { tally, unaccounted, released }: Paid, known: LimitAmounts): void {
  for (const unit of ['steps', 'tokens_in', 'tokens_out', 'micro_money'] as const)
    run.children_tally[unit] += tally[unit];
  for (const unit of UNITS) {
    run.unaccounted[unit] = Math.max(0, run.unaccounted[unit] - known[unit]) + unaccounted[unit];
    run.allocated[unit] = Math.max(0, run.allocated[unit] - released[unit]);
  }
}

/**
 * Handles a child that cannot be reached: frees what is set aside for it, or counts it as used where the child may have
 * used it.
 */
export function takeAllBack(
  draft: SessionState,
  [name, entry]: readonly [string, ChildEntry],
  mayHaveUsed: boolean,
  ctx: ReducerContext,
): ChildEntry {
  if (entry.run === null) return entry;
  const unaccounted = mayHaveUsed ? entry.allocated : NO_AMOUNTS;
  const paid = { run: entry.run, tally: NOTHING_USED, unaccounted, released: entry.allocated, over: true };
  const left = book(draft, entry, { paid, ended: 0, known: NO_AMOUNTS }, ctx);
  if (mayHaveUsed) writeOff(name, entry.run, unaccounted, ctx);
  return left;
}

/**
 * Remembers what was counted as used for a child that may be revived, so that its later report does not count twice
 * (A3).
 */
function writeOff(child: string, run: number, amounts: LimitAmounts, ctx: ReducerContext): void {
  const table = writtenOff(ctx);
  const all = sum(table.get(`${child}.${run}`) ?? NO_AMOUNTS, amounts);
  if (!isNothing(all)) table.set(`${child}.${run}`, all);
}

/** How much of a child's release was already counted as used: all of it when nothing stays set aside. */
function takeWrittenOff(child: string, { run, released, over }: Paid, ctx: ReducerContext): LimitAmounts {
  const table = writtenOff(ctx);
  const before = table.get(`${child}.${run}`);
  if (before === undefined) return NO_AMOUNTS;
  const known = over ? before : minus(before, minus(before, released));
  const left = minus(before, known);
  if (isNothing(left)) table.delete(`${child}.${run}`);
  else table.set(`${child}.${run}`, left);
  return known;
}

/**
 * Settles what an ended run had set aside: the allowance that paid for it grows by what is returned, or shrinks by what
 * is used.
 */
function passOn(
  draft: SessionState,
  { tally, unaccounted, run, released }: Paid,
  known: LimitAmounts,
  ctx: ReducerContext,
): void {
  const table = ctx.table<z.infer<typeof endedRun>>('ended');
  const ended = table.get(String(run));
  if (ended === undefined) return;
  const allocated = minus(ended.allocated, released);
  if (isNothing(allocated)) table.delete(String(run));
  else table.set(String(run), { ...ended, allocated });
  const all = sum(usedIn(tally), unaccounted);
  const less = minus(ended.allocated, allocated);
  const news = isNothing(known)
    ? { tally, unaccounted, used: all }
    : { tally: NOTHING_USED, unaccounted: minus(all, known), used: minus(all, known) };
  const { used, ...told } = news;
  tellOwner(draft, { kind: 'spent', paid: { ...told, ...draw(ended.allowance, { used, less, inputs: 0 }, ctx) } }, ctx);
}

/**
 * Adds the allowance that the owner sent with an input. Undefined without an allowance, or for an input from
 * outside: the only cell that sends inputs is the owner.
 */
export function takeAllowance(given: z.infer<typeof userInput>['allowance'], ctx: ReducerContext): number | undefined {
  if (given === undefined || ctx.caller === null) return undefined;
  const table = allowancesOf(ctx);
  const known = table.get(String(given.run));
  const left = (unit: Unit): number | null => {
    const before = known?.[unit] ?? null;
    const more = given[unit];
    return before === null ? more : before + (more ?? 0);
  };
  table.set(String(given.run), {
    tokens: left('tokens'),
    micro_money: left('micro_money'),
    below: known?.below ?? { ...NO_AMOUNTS },
    inputs: (known?.inputs ?? 0) + 1,
  });
  return given.run;
}

/** Returns the allowance of an input that was refused. */
export function refuseAllowance(
  draft: SessionState,
  given: z.infer<typeof userInput>['allowance'],
  ctx: ReducerContext,
): void {
  const allowance = takeAllowance(given, ctx);
  if (allowance !== undefined) dropInput(draft, allowance, ctx);
}

/** Releases the allowance of an input that was dropped, or that joined a run which it does not pay for. */
export function dropInput(draft: SessionState, allowance: number | undefined, ctx: ReducerContext): void {
  if (allowance === undefined) return;
  const drawn = draw(allowance, { used: NO_AMOUNTS, inputs: 1 }, ctx);
  tellOwner(draft, { kind: 'spent', paid: { tally: NOTHING_USED, unaccounted: NO_AMOUNTS, ...drawn } }, ctx);
}

/** The part of an allowance that a run may use (A1). */
export function allowanceOf(run: number | undefined, ctx: ReducerContext): CurrentRun['allowance'] {
  const known = run === undefined ? undefined : allowancesOf(ctx).get(String(run));
  if (run === undefined || known === undefined) return null;
  const free = (unit: Unit) => (known[unit] === null ? null : Math.max(0, known[unit] - known.below[unit]));
  return { run, tokens: free('tokens'), micro_money: free('micro_money') };
}

/** What a run and its children have used. */
export function tallyOf({ tally: own, children_tally: below }: CurrentRun): Tally {
  return {
    steps: own.steps + below.steps,
    tokens_in: own.tokens_in + below.tokens_in,
    tokens_out: own.tokens_out + below.tokens_out,
    micro_money: own.micro_money + below.micro_money,
  };
}

/**
 * Closes the books of a run: its usage is drawn from its allowance, and what it set aside for children stays reserved
 * there.
 */
export function runPaid(run: CurrentRun, ctx: ReducerContext): { readonly paid?: Paid } {
  const { allowance, allocated } = run;
  if (allowance === null) return {};
  if (!isNothing(allocated))
    ctx.table('ended').set(String(run.number), { allowance: allowance.run, allocated: { ...allocated } });
  const tally = tallyOf(run);
  const unaccounted = { ...run.unaccounted };
  const used = sum(usedIn(tally), unaccounted);
  return { paid: { tally, unaccounted, ...draw(allowance.run, { used, more: allocated, inputs: 1 }, ctx) } };
}

interface Drawn {
  readonly used: LimitAmounts;
  /** The change of the amount that child sessions may still use. */
  readonly more?: LimitAmounts;
  readonly less?: LimitAmounts;
  /** The inputs that have ended. */
  readonly inputs: number;
}

/** Draws on an allowance (A2, A3). */
function draw(run: number, { used, more = NO_AMOUNTS, less = NO_AMOUNTS, inputs: ended }: Drawn, ctx: ReducerContext) {
  const table = allowancesOf(ctx);
  const known = table.get(String(run));
  if (known === undefined) return { run, released: NO_AMOUNTS, over: true };
  const below = minus(sum(known.below, more), less);
  const inputs = Math.max(0, known.inputs - ended);
  const next: Allowance = { tokens: known.tokens, micro_money: known.micro_money, below, inputs };
  const released = { ...NO_AMOUNTS };
  for (const unit of UNITS) {
    const before = known[unit];
    if (before === null) continue;
    const after = inputs === 0 ? below[unit] : before - used[unit];
    next[unit] = Math.min(before, Math.max(below[unit], after));
    released[unit] = before - next[unit];
  }
  const over = inputs === 0 && isNothing(below);
  if (over) table.delete(String(run));
  else table.set(String(run), next);
  return { run, released, over };
}

function writtenOff(ctx: ReducerContext): Table<LimitAmounts> {
  return ctx.table<LimitAmounts>('written_off');
}

/** The amounts of an allowance; undefined where it sets no bound. */
function amountsOf({ tokens, micro_money }: Bounds): LimitAmounts {
  return { tokens: tokens ?? 0, micro_money: micro_money ?? 0 };
}

function usedIn(tally: Tally): LimitAmounts {
  return { tokens: amountIn(tally, 'tokens'), micro_money: amountIn(tally, 'micro_money') };
}

function sum(a: LimitAmounts, b: LimitAmounts): LimitAmounts {
  return { tokens: safeSum(a.tokens, b.tokens), micro_money: safeSum(a.micro_money, b.micro_money) };
}

/** A model may ask the largest amount for each of its children: together they are no safe integer, and no state. */
function safeSum(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

function most(a: LimitAmounts, b: LimitAmounts): LimitAmounts {
  return { tokens: Math.max(a.tokens, b.tokens), micro_money: Math.max(a.micro_money, b.micro_money) };
}

function minus(a: LimitAmounts, b: LimitAmounts): LimitAmounts {
  return { tokens: Math.max(0, a.tokens - b.tokens), micro_money: Math.max(0, a.micro_money - b.micro_money) };
}

function isNothing({ tokens, micro_money }: LimitAmounts): boolean {
  return tokens === 0 && micro_money === 0;
}

function allowancesOf(ctx: ReducerContext): Table<Allowance> {
  return ctx.table<Allowance>('allowances');
}
