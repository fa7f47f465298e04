/**
 * Budgets as integer arithmetic over a chain of accounts, from an effect's own to the root.
 *
 * Invariants
 * B1  Nothing is reserved when at any account of the chain, for any requested unit, spent + reserved + request is above
 *     the limit; a reservation is made at every account or at none.
 * B2  A reservation is released in full, once, by the settlement. The cost of an effect is the reported usage; a unit
 *     that was reserved and not reported is spent as reserved. Only `parallel` is never spent.
 * B3  Facts are never refused: usage above the reservation is booked, and the overdraft is visible.
 * B4  Amounts are safe integers. A reservation whose sum is not one is refused, limit or not; `spent` stops at the
 *     largest safe integer and stays there, since the true amount is no longer known.
 * B5  Zeros of `spent` and `reserved` are left out, so equal ledgers have equal bytes. In limits a zero is a limit.
 */
import {
  ACCOUNT_DEPTH_MAX,
  type Account,
  type Amounts,
  present,
  RepriseError,
  UNITS_MAX,
  type Usage,
} from '@reprise/contracts';

/** The unit of concurrency: it is reserved while an effect is open, and never spent. */
export const PARALLEL = 'parallel';

/** The account and unit at which a request exceeds the limit. */
export interface Shortfall {
  /** The place in the chain; 0 is the effect's own account. */
  readonly account: number;
  readonly unit: string;
  /** The largest safe integer where the account has no limit. */
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly ask: number;
}

/** The result of a reservation: the chain with the request reserved at every account, or the excess. */
export type Reservation =
  | { readonly ok: true; readonly chain: readonly Account[] }
  | { readonly ok: false; readonly shortfall: Shortfall };

/**
 * The usage of an effect with a reservation: the reported amounts; `unknown` when it may have used everything;
 * `released` when it never started.
 */
export type ReportedUse = Amounts | 'unknown' | 'released';

/** Tells whether amounts name no more units than allowed; their schema checks the other bounds. */
export function amountsFit(amounts: Amounts): boolean {
  return Object.keys(amounts).length <= UNITS_MAX;
}

/**
 * Finds the first account, from the own to the root, and there the first unit by name, at which a request is too much.
 * A request of 0 checks whether the account is within its limit.
 *
 * @param chain the effect's own account, its parent, and so on to the root
 */
export function shortfall(chain: readonly Account[], ask: Amounts): Shortfall | undefined {
  const units = Object.keys(ask).sort();
  for (const [account, ledger] of chain.entries()) {
    for (const unit of units) {
      const limit = limitOf(ledger, unit);
      const [spent, reserved, asked] = [of(ledger.spent, unit), of(ledger.reserved, unit), of(ask, unit)];
      // A sum beyond the safe integers may round, but never down to one of them.
      if (spent + reserved + asked > limit) return { account, unit, limit, spent, reserved, ask: asked };
    }
  }
  return undefined;
}

/**
 * Reserves amounts at every account of a chain, or at none (B1).
 *
 * @param chain the effect's own account, its parent, and so on to the root
 * @param ask the most that the effect may use
 * @throws RepriseError `bound_exceeded` for a chain deeper than allowed
 */
export function reserve(chain: readonly Account[], ask: Amounts): Reservation {
  if (chain.length > ACCOUNT_DEPTH_MAX) throw tooDeep(chain.length);
  const lacking = shortfall(chain, ask);
  if (lacking !== undefined) return { ok: false, shortfall: lacking };
  return { ok: true, chain: chain.map((account) => ({ ...account, reserved: plus(account.reserved, ask) })) };
}

/**
 * The amounts that a settlement books as spent (B2). Store them: {@link correct} needs them.
 *
 * @param reserved the reservation made by {@link reserve}
 */
export function booked(reserved: Amounts, outcome: ReportedUse): Amounts {
  if (outcome === 'released') return {};
  const used = outcome === 'unknown' ? reserved : { ...reserved, ...outcome };
  return tidy(used, (unit) => (unit === PARALLEL ? 0 : of(used, unit)));
}

/**
 * Settles an effect at every account of its chain: its reservation is released, its usage is spent.
 *
 * @param chain the chain passed to {@link reserve}, in its current state
 * @param reserved what was set aside
 */
export function settle(chain: readonly Account[], reserved: Amounts, outcome: ReportedUse): readonly Account[] {
  const used = booked(reserved, outcome);
  return chain.map((account) => ({
    ...account,
    spent: plus(account.spent, used),
    reserved: released(account.reserved, reserved),
  }));
}

/**
 * Corrects the ledger by a report after the settlement: the booked amounts are replaced by the reported ones.
 * Call it once for an effect, however many reports follow.
 *
 * @param before the amounts that {@link booked} returned at the settlement
 * @param after the amounts that {@link booked} returns for the late report
 */
export function correct(chain: readonly Account[], before: Amounts, after: Amounts): readonly Account[] {
  return chain.map((account) => ({ ...account, spent: plus(unspent(account.spent, before), after) }));
}

/** The amounts spent beyond the limits, by unit; empty when the account is within them. */
export function overdraft(account: Account): Amounts {
  const { spent } = account;
  return tidy(spent, (unit) => Math.max(0, of(spent, unit) - limitOf(account, unit)));
}

/**
 * A receipt's usage in units of accounts. Tokens are input plus output tokens; cached ones are part of the input. A
 * unit that the receipt does not mention is absent, which differs from zero.
 */
export function usageAmounts({ tokens_in, tokens_out, micro_money, calls }: Usage): Amounts {
  const tokens = tokens_in === undefined && tokens_out === undefined ? undefined : add(tokens_in ?? 0, tokens_out ?? 0);
  return present({ tokens, micro_money, calls });
}

function plus(one: Amounts, other: Amounts): Amounts {
  return tidy({ ...one, ...other }, (unit) => add(of(one, unit), of(other, unit)));
}

function released(reserved: Amounts, less: Amounts): Amounts {
  return tidy(reserved, (unit) => Math.max(0, of(reserved, unit) - of(less, unit)));
}

function unspent(spent: Amounts, less: Amounts): Amounts {
  return tidy(spent, (unit) => subtract(of(spent, unit), of(less, unit)));
}

function add(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER); // B4
}

function subtract(spent: number, less: number): number {
  return spent === Number.MAX_SAFE_INTEGER ? spent : Math.max(0, spent - less); // B4
}

/** Amounts of the units of another, without zeros (B5). */
function tidy(units: Amounts, amount: (unit: string) => number): Amounts {
  const amounts: Record<string, number> = {};
  for (const unit of Object.keys(units)) {
    const one = amount(unit);
    if (one !== 0) amounts[unit] = one;
  }
  return amounts;
}

/** The amount of a unit in an account. Unit names come from outside: only own keys count. */
function of(amounts: Amounts, unit: string): number {
  return Object.hasOwn(amounts, unit) ? (amounts[unit] ?? 0) : 0;
}

function limitOf({ limits }: Account, unit: string): number {
  return Object.hasOwn(limits, unit) ? of(limits, unit) : Number.MAX_SAFE_INTEGER;
}

function tooDeep(depth: number): RepriseError {
  return new RepriseError('bound_exceeded', 'accounts are nested too deeply', {
    where: 'the chain of accounts',
    expected: `at most ${ACCOUNT_DEPTH_MAX}`,
    actual: depth,
    hint: 'Charge an account nearer to the root.',
  });
}
