/**
 * What a project uses. With a budget, each job and each run of the coordinator asks for a part of what is left
 * (kit/ledger).
 */
import type { Tally } from '@reprise/agent/contracts';
import {
  type Asked,
  giveBack,
  leftOf,
  limitOf,
  type Share,
  setAside,
  settleRun,
  shareFor,
} from '@reprise/org/contracts';
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
  return budget !== null && typeof shareFor(delivery.state, budget, asked(delivery, budget)) === 'string';
}

/**
 * Whether as many jobs are under way as share a budget well: a job that waits for a slot holds its share, so ready tasks
 * wait here and not in the pool.
 */
export function isShared(delivery: Delivery): boolean {
  return budgetOf(delivery) !== null && delivery.state.jobs >= SHARES;
}

function asked({ state }: Delivery, budget: Share): Asked {
  const least = Math.max(1, Math.floor(budget.amount / LEAST_SHARE));
  return { amount: state.exhausted ? 0 : Math.floor(leftOf(state, budget) / SHARES), least };
}

/**
 * Sets a share aside; null without a budget.
 *
 * @throws Refused `budget_exceeded` when too little is left
 */
export function takeShare(delivery: Delivery): Share | null {
  const budget = budgetOf(delivery);
  if (budget === null) return null;
  const share = setAside(delivery.state, budget, asked(delivery, budget));
  const { spent, reserved } = delivery.state;
  if (typeof share === 'string') {
    throw new Refused('budget_exceeded', { budget: { ...budget }, spent: { ...spent }, reserved });
  }
  stateUse(delivery);
  return share;
}

/** Counts what a run used, and gives its share back. See `usedBy` for the parameters. */
export function countUse(delivery: Delivery, share: Share | null, tally: Tally | null, code: string): void {
  settleRun(delivery.state, share, tally, code);
  stateUse(delivery);
}

/** Whether a run ended because its share of the budget was used up. */
export function hasReachedShare(share: Share | null, limit: string): boolean {
  return share !== null && limit === limitOf(share);
}

/** Gives back what was set aside and is not needed. @param amount in the unit of the budget */
export function returnShare(delivery: Delivery, amount: number): void {
  if (amount === 0) return;
  giveBack(delivery.state, { amount });
  stateUse(delivery);
}

/** States what was used and is set aside, where a budget bounds it. */
export function stateUse(delivery: Delivery): void {
  const budget = budgetOf(delivery);
  const { spent, reserved } = delivery.state;
  if (budget !== null) delivery.ctx.record('specialists/Budget@1', { budget, spent: { ...spent }, reserved });
}
