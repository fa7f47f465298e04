/**
 * The accounts that effects are charged to, as leaves. `authority/budget.ts` computes the amounts to reserve and to
 * book; this file finds the chain and writes it back.
 */
import type { Account, Receipt, Reserved, Usage } from '@reprise/contracts';
import { ACCOUNT_DEPTH_MAX } from '@reprise/contracts';
import { booked, correct, type ReportedUse, reserve, settle, shortfall, usageAmounts } from '../../authority/index.js';
import type { FrameFold } from '../frame/frame-fold.js';
import { accountKey } from '../leaf/leaf-key.js';
import type { Booked, EffectLeaf } from '../leaf/leaves.js';

/** Whether every account of the chain has room for the reservation. */
export function fitsAccount(fold: FrameFold, { account, amounts }: Reserved): boolean {
  const chain = chainOf(fold, account);
  if (chain === undefined) return false;
  const ledgers = chain.map(([, ledger]) => ledger);
  return shortfall(ledgers, amounts) === undefined;
}

/** Reserves the amounts of an effect. @returns false when an account of the chain has no room */
export function holdFor(fold: FrameFold, { account, amounts }: Reserved): boolean {
  const chain = chainOf(fold, account);
  if (chain === undefined) return false;
  const reserved = reserve(
    chain.map(([, ledger]) => ledger),
    amounts,
  );
  if (reserved.ok) write(fold, chain, reserved.chain);
  return reserved.ok;
}

/** Books the usage of a settled effect. @returns the booked amounts; undefined when nothing was reserved for it */
export function bookReceipt(fold: FrameFold, effect: EffectLeaf, receipt: Receipt): Booked | undefined {
  if (effect.reserved === undefined) return undefined;
  const { account, amounts } = effect.reserved;
  const outcome = outcomeOf(effect, receipt);
  const chain = chainOf(fold, account) ?? [];
  write(
    fold,
    chain,
    settle(
      chain.map(([, ledger]) => ledger),
      amounts,
      outcome,
    ),
  );
  return { account, booked: booked(amounts, outcome) };
}

/** Replaces the booked amounts by those of a late answer; an answer without a report changes nothing. */
export function bookLate(fold: FrameFold, { account, booked: before }: Partial<Booked>, usage?: Usage): void {
  if (before === undefined || account === undefined || usage === undefined) return;
  const chain = chainOf(fold, account) ?? [];
  const after = booked(before, usageAmounts(usage));
  write(
    fold,
    chain,
    correct(
      chain.map(([, ledger]) => ledger),
      before,
      after,
    ),
  );
}

/** Reported usage counts; an effect that never started used nothing; otherwise the usage is unknown. */
function outcomeOf(effect: EffectLeaf, { usage, status }: Receipt): ReportedUse {
  if (usage !== undefined) return usageAmounts(usage);
  return neverStarted(effect, status) ? 'released' : 'unknown';
}

/** A cell that settles an effect may have worked on it without an attempt, and may report its usage. */
function neverStarted({ attempt, settler }: EffectLeaf, status: Receipt['status']): boolean {
  if (attempt > 0) return false;
  return status === 'denied' || status === 'cancelled' || (settler === undefined && status !== 'ok');
}

type Chain = readonly (readonly [string, Account])[];

/** The account and those above it; undefined when one of them does not exist, or when there are too many. */
export function chainOf(fold: FrameFold, account: string): Chain | undefined {
  const chain: [string, Account][] = [];
  for (let name: string | null = account; name !== null; ) {
    const ledger: Account | undefined = fold.overlay.get(accountKey(name));
    if (ledger === undefined || chain.length >= ACCOUNT_DEPTH_MAX) return undefined;
    chain.push([name, ledger]);
    name = ledger.parent;
  }
  return chain;
}

function write(fold: FrameFold, chain: Chain, ledgers: readonly Account[]): void {
  for (const [i, [name]] of chain.entries()) fold.overlay.set(accountKey(name), ledgers[i]);
}
