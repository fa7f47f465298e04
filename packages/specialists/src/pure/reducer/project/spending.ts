/**
 * What a project uses. With a budget, each job and each run of the coordinator is set a share of what is left, as the
 * limit of its session: so what was used and what is set aside never exceed the budget together.
 */
import type { Tally } from '@reprise/agent/contracts';
import type { Share } from '@reprise/org/contracts';
import { limitOf, usedBy, usedTogether } from '@reprise/org/contracts';
import type { Delivery } from './delivery.js';
import { Refused } from './refused.js';

/** A share is this part of what is left. */
const SHARES = 4;

/** Less than this part of the budget is no share: then the budget counts as used up. */
const LEAST_SHARE = 100;

/** The budget that applies: what a person set, else that of the team. */
export function budgetOf(delivery: Delivery): Share | null {
  const { budget } = delivery.state;
  return budget ?? delivery.ctx.table('team').get('team')?.budget ?? null;
}

/** Whether runs of the coordinator can be counted in the unit of a budget: in money only where its model has a price. */
export function canCount(delivery: Delivery, { unit }: Share): boolean {
  const team = delivery.ctx.table('team').get('team');
  return unit !== 'micro_money' || team === undefined || (team.coordinator.config.price ?? null) !== null;
}

/** Whether the project has a budget of which too little is left for a share. */
export function isSpent(delivery: Delivery): boolean {
  const budget = budgetOf(delivery);
  return budget !== null && nextShare(delivery, budget) === 0;
}

/**
 * Whether as many jobs are under way as share a budget well: a job that waits for a slot holds its share, so ready tasks
 * wait here and not in the pool.
 */
export function isShared(delivery: Delivery): boolean {
  return budgetOf(delivery) !== null && delivery.state.jobs >= SHARES;
}

function nextShare({ state }: Delivery, { unit, amount }: Share): number {
  if (state.exhausted) return 0;
  const left = amount - state.spent[unit] - state.reserved;
  const share = Math.floor(left / SHARES);
  return share >= Math.max(1, Math.floor(amount / LEAST_SHARE)) ? share : 0;
}

/**
 * Sets a share aside; null without a budget.
 *
 * @throws Refused `budget_exceeded` when too little is left
 */
export function setAside(delivery: Delivery): Share | null {
  const budget = budgetOf(delivery);
  if (budget === null) return null;
  const amount = nextShare(delivery, budget);
  const { spent, reserved } = delivery.state;
  if (amount === 0) throw new Refused('budget_exceeded', { budget: { ...budget }, spent: { ...spent }, reserved });
  delivery.state.reserved += amount;
  stateUse(delivery);
  return { unit: budget.unit, amount };
}

/**
 * Counts what a run used, and gives back what was set aside for it: see `usedBy`.
 *
 * @param tally what a session reports; null when nothing was heard of it
 * @param code why the run failed; null for one that did not
 */
export function countUse(delivery: Delivery, share: Share | null, tally: Tally | null, code: string | null): void {
  const { state } = delivery;
  state.spent = usedTogether(state.spent, usedBy(tally, share, code ?? ''));
  if (share !== null) state.reserved -= share.amount;
  stateUse(delivery);
}

/** Whether a run ended because its share of the budget was used up. */
export function hasReachedShare(share: Share | null, limit: string): boolean {
  return share !== null && limit === limitOf(share);
}

/** Gives back what was set aside and is not needed. */
export function giveBack(delivery: Delivery, amount: number): void {
  if (amount === 0) return;
  delivery.state.reserved -= amount;
  stateUse(delivery);
}

/** States what was used and is set aside, where a budget bounds it. */
export function stateUse(delivery: Delivery): void {
  const budget = budgetOf(delivery);
  const { spent, reserved } = delivery.state;
  if (budget !== null) delivery.ctx.record('specialists/Budget@1', { budget, spent: { ...spent }, reserved });
}
