/**
 * The accounts that effects are charged to, as leaves. What is right to hold and to book is arithmetic of
 * `authority/budget.ts`; this file finds the chain and writes it back.
 */
import type { Account, Amounts, Held, Receipt } from '@reprise/contracts';
import { ACCOUNT_DEPTH_MAX } from '@reprise/contracts';
import { booked, correct, hold, type Outcome, settle, shortfall, usageAmounts } from '../authority/index.js';
import { decode } from '../codec/index.js';
import type { FrameFold } from './frame-fold.js';
import { accountKey } from './leaf-key.js';
import type { EffectLeaf } from './leaves.js';

/** Whether every account of the chain has room for what is to be held. */
export function fitsAccount(fold: FrameFold, { account, amounts }: Held): boolean {
  const chain = chainOf(fold, account);
  if (chain === undefined) return false;
  const ledgers = chain.map(([, ledger]) => ledger);
  return shortfall(ledgers, amounts) === undefined;
}

/** Sets aside what an effect may use. @returns false when some account of the chain has no room */
export function holdFor(fold: FrameFold, { account, amounts }: Held): boolean {
  const chain = chainOf(fold, account);
  if (chain === undefined) return false;
  const held = hold(
    chain.map(([, ledger]) => ledger),
    amounts,
  );
  if (held.ok) write(fold, chain, held.chain);
  return held.ok;
}

/** Books what a settled effect used. @returns what was booked; undefined when nothing was held for it */
export function bookReceipt(fold: FrameFold, effect: EffectLeaf, receipt: Receipt): Amounts | undefined {
  if (effect.held === undefined) return undefined;
  const { account, amounts } = effect.held;
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
  return booked(amounts, outcome);
}

/** Replaces what was booked by what a late answer reports; one that reports nothing changes nothing. */
export function bookLate(fold: FrameFold, effect: EffectLeaf, { usage }: Receipt): void {
  const before = effect.late?.booked;
  if (before === undefined || effect.late?.account === undefined || usage === undefined) return;
  const chain = chainOf(fold, effect.late.account) ?? [];
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

/** What is reported is what was used; of what never started nothing was; of the rest it is not known. */
function outcomeOf({ attempt }: EffectLeaf, { usage, status }: Receipt): Outcome {
  if (usage !== undefined) return usageAmounts(usage);
  return attempt === 0 && (status === 'denied' || status === 'cancelled') ? 'released' : 'unknown';
}

type Chain = readonly (readonly [string, Account])[];

/** The account and those above it; undefined when one of them does not exist, or when there are too many. */
export function chainOf(fold: FrameFold, account: string): Chain | undefined {
  const chain: [string, Account][] = [];
  for (let name: string | null = account; name !== null; ) {
    const bytes = fold.overlay.get(accountKey(name));
    if (bytes === undefined || chain.length >= ACCOUNT_DEPTH_MAX) return undefined;
    const ledger = decode(bytes) as unknown as Account;
    chain.push([name, ledger]);
    name = ledger.parent;
  }
  return chain;
}

function write(fold: FrameFold, chain: Chain, ledgers: readonly Account[]): void {
  for (const [i, [name]] of chain.entries()) fold.write(accountKey(name), ledgers[i]);
}
