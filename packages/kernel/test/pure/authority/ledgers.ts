/** Random ledgers under random work, reserved to a plain model: a list of what every effect holds or was booked for. */
import type { Account, Amounts } from '@reprise/contracts';
import fc from 'fast-check';
import * as authority from '../../../src/pure/authority/index.js';
import { encode, toHex } from '../../../src/pure/codec/index.js';
import { must } from './must.js';

/** The functions that the model judges; a mutant replaces some. */
export interface Ledger {
  readonly reserve: (chain: readonly Account[], ask: Amounts) => authority.Reservation;
  readonly booked: (reserved: Amounts, outcome: authority.ReportedUse) => Amounts;
  readonly settle: (chain: readonly Account[], reserved: Amounts, outcome: authority.ReportedUse) => readonly Account[];
  readonly correct: (chain: readonly Account[], before: Amounts, after: Amounts) => readonly Account[];
}

/** The ledger of the kernel. */
export const OURS: Ledger = authority;

/** One of these is named like what every object inherits. */
const UNITS = ['calls', 'constructor', 'parallel', 'tokens'] as const;

const amount = (max: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 40, arbitrary: fc.nat(max) },
    { weight: 1, arbitrary: fc.constantFrom(0, Number.MAX_SAFE_INTEGER) },
  );

function anyAmounts(max: number): fc.Arbitrary<Amounts> {
  const one = amount(max);
  return fc.record(
    { calls: one, constructor: one, parallel: one, tokens: one },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Amounts>;
}

const outcome = fc.oneof(anyAmounts(12), fc.constantFrom<authority.ReportedUse>('unknown', 'released'));

/** What happens to a ledger. Effects and accounts are named by any number, which is taken modulo how many there are. */
export type Step =
  | { readonly step: 'hold'; readonly account: number; readonly ask: Amounts }
  | { readonly step: 'settle'; readonly effect: number; readonly outcome: authority.ReportedUse }
  | { readonly step: 'late'; readonly effect: number; readonly used: Amounts }
  | { readonly step: 'limit'; readonly account: number; readonly limits: Amounts };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ step: fc.constant('hold' as const), account: fc.nat(7), ask: anyAmounts(6) }) },
  { weight: 4, arbitrary: fc.record({ step: fc.constant('settle' as const), effect: fc.nat(20), outcome }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('late' as const), effect: fc.nat(20), used: anyAmounts(12) }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constant('limit' as const), account: fc.nat(7), limits: anyAmounts(40) }),
  },
);

/** A tree of accounts and what happens to it. */
export interface Work {
  readonly accounts: readonly { readonly parent: number; readonly limits: Amounts }[];
  readonly steps: readonly Step[];
}

/** Up to eight accounts and forty steps. */
export const anyWork: fc.Arbitrary<Work> = fc.record({
  accounts: fc.array(fc.record({ parent: fc.nat(7), limits: anyAmounts(40) }), { minLength: 1, maxLength: 8 }),
  steps: fc.array(step, { minLength: 8, maxLength: 40 }),
});

/** What the work came to: enough to say that a run met what it was made for. */
export interface Worked {
  granted: number;
  refused: number;
  settled: number;
  late: number;
  overdrawn: number;
}

/**
 * Lets work happen to a ledger and holds every step to the model: what is granted is exactly what fits everywhere
 * (budget/B1), what is reserved and spent at an account is what its effects hold and were booked for (budget/B2, budget/B3), sums stop at the
 * largest safe integer and are never too small (budget/B4), and equal ledgers are equal bytes (budget/B5).
 */
export function judgeWork(ledger: Ledger, work: Work): Worked {
  return new Model(ledger, work).run(work.steps);
}

interface Effect {
  readonly path: readonly number[];
  readonly ask: Amounts;
  /** What was booked; undefined while it is open. */
  spent: Amounts | undefined;
  released: boolean;
  corrected: boolean;
}

class Model {
  readonly #accounts: Account[];
  readonly #paths: readonly (readonly number[])[];
  readonly #effects: Effect[] = [];
  /** `account unit` of sums that have been too large: from then on no less than the largest may be shown. */
  readonly #full = new Set<string>();
  readonly #worked: Worked = { granted: 0, refused: 0, settled: 0, late: 0, overdrawn: 0 };

  constructor(
    private readonly ledger: Ledger,
    { accounts }: Work,
  ) {
    const parents = accounts.map(({ parent }, i) => (i === 0 ? undefined : parent % i));
    this.#accounts = accounts.map(({ limits }, i) => {
      const parent = parents[i];
      return { parent: parent === undefined ? null : `a${parent}`, limits, spent: {}, reserved: {} };
    });
    this.#paths = accounts.map((_, i) => {
      const path = [i];
      for (let up = parents[i]; up !== undefined; up = parents[up]) path.push(up);
      return path;
    });
  }

  run(steps: readonly Step[]): Worked {
    for (const step of steps) {
      this.#take(step);
      this.#judge(step);
    }
    return this.#worked;
  }

  #take(step: Step): void {
    switch (step.step) {
      case 'hold':
        return this.#hold(this.#paths[step.account % this.#paths.length] as readonly number[], step.ask);
      case 'settle':
        return this.#settle(
          pick(
            this.#effects.filter(({ spent }) => spent === undefined),
            step.effect,
          ),
          step.outcome,
        );
      case 'late':
        return this.#late(pick(this.#effects.filter(isCorrectable), step.effect), step.used);
      case 'limit': {
        const place = step.account % this.#accounts.length;
        this.#accounts[place] = { ...(this.#accounts[place] as Account), limits: step.limits };
      }
    }
  }

  #hold(path: readonly number[], ask: Amounts): void {
    const fits = path.every((place) => Object.entries(ask).every(([unit, asked]) => this.#fits(place, unit, asked)));
    const before = this.#chain(path);
    const reserved = this.ledger.reserve(before, ask);
    must(reserved.ok === fits, 'what fits everywhere is granted, and nothing else', before, ask);
    if (reserved.ok) {
      this.#worked.granted++;
      this.#put(path, reserved.chain);
      this.#effects.push({ path, ask, spent: undefined, released: false, corrected: false });
    } else {
      this.#worked.refused++;
      const { account, unit, limit, spent, reserved: taken, ask: asked } = reserved.shortfall;
      must(BigInt(spent) + BigInt(taken) + BigInt(asked) > BigInt(limit), 'a shortfall is one', reserved.shortfall);
      must(!this.#fits(path[account] as number, unit, asked), 'a shortfall is where it is said', reserved.shortfall);
    }
  }

  #fits(place: number, unit: string, asked: number): boolean {
    const account = this.#accounts[place] as Account;
    const limit = own(account.limits, unit) ?? Number.MAX_SAFE_INTEGER;
    return this.#sum(place, unit, 'spent') + this.#sum(place, unit, 'reserved') + BigInt(asked) <= BigInt(limit);
  }

  #settle(effect: Effect | undefined, outcome: authority.ReportedUse): void {
    if (effect === undefined) return;
    this.#worked.settled++;
    this.#put(effect.path, this.ledger.settle(this.#chain(effect.path), effect.ask, outcome));
    effect.spent = expectedBooking(effect.ask, outcome);
    effect.released = outcome === 'released';
    this.#fill(effect.path);
    const booked = this.ledger.booked(effect.ask, outcome);
    must(
      hex(withoutZeros(booked)) === hex(withoutZeros(effect.spent)),
      'what is booked is what was used',
      effect.ask,
      outcome,
      booked,
    );
  }

  #late(effect: Effect | undefined, used: Amounts): void {
    if (effect?.spent === undefined) return;
    this.#worked.late++;
    const after = this.ledger.booked(effect.ask, used);
    this.#put(effect.path, this.ledger.correct(this.#chain(effect.path), effect.spent, after));
    effect.spent = expectedBooking(effect.ask, used);
    effect.corrected = true;
    this.#fill(effect.path);
  }

  #chain(path: readonly number[]): Account[] {
    return path.map((place) => this.#accounts[place] as Account);
  }

  #put(path: readonly number[], chain: readonly Account[]): void {
    must(chain.length === path.length, 'a chain keeps its accounts', chain);
    for (const [i, place] of path.entries()) this.#accounts[place] = chain[i] as Account;
  }

  #fill(path: readonly number[]): void {
    for (const place of path) {
      for (const unit of UNITS) {
        if (this.#true(place, unit, 'spent') >= BigInt(Number.MAX_SAFE_INTEGER)) this.#full.add(`${place} ${unit}`);
      }
    }
  }

  /** What the effects at an account and below it come to. */
  #true(place: number, unit: string, side: 'spent' | 'reserved'): bigint {
    const below = this.#effects.filter(({ path }) => path.includes(place));
    const amounts = below.map(({ ask, spent }) => (side === 'spent' ? spent : spent === undefined ? ask : undefined));
    return amounts.reduce((sum, each) => sum + BigInt(own(each ?? {}, unit) ?? 0), 0n);
  }

  #sum(place: number, unit: string, side: 'spent' | 'reserved'): bigint {
    const full = side === 'spent' && this.#full.has(`${place} ${unit}`);
    return full ? BigInt(Number.MAX_SAFE_INTEGER) : this.#true(place, unit, side);
  }

  #judge(after: Step): void {
    for (const [place, account] of this.#accounts.entries()) {
      for (const side of ['spent', 'reserved'] as const) {
        const sums = UNITS.map((unit) => [unit, Number(this.#sum(place, unit, side))] as const);
        const expected = Object.fromEntries(sums.filter(([, sum]) => sum !== 0));
        must(
          hex(account[side]) === hex(expected),
          `what is ${side} is what the effects come to`,
          after,
          account,
          expected,
        );
      }
      if (Object.keys(authority.overdraft(account)).length > 0) this.#worked.overdrawn++;
    }
  }
}

function isCorrectable({ spent, corrected, released }: Effect): boolean {
  return spent !== undefined && !corrected && !released;
}

/** What a settlement is to book, written without the code it judges. */
function expectedBooking(ask: Amounts, outcome: authority.ReportedUse): Amounts {
  if (outcome === 'released') return {};
  const spent = UNITS.map(
    (unit) => [unit, own(outcome === 'unknown' ? {} : outcome, unit) ?? own(ask, unit) ?? 0] as const,
  );
  return Object.fromEntries(spent.filter(([unit]) => unit !== 'parallel'));
}

function own(amounts: Amounts, unit: string): number | undefined {
  return new Map(Object.entries(amounts)).get(unit);
}

function withoutZeros(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([, one]) => one !== 0));
}

function pick<T>(from: readonly T[], number: number): T | undefined {
  return from[number % Math.max(1, from.length)];
}

function hex(amounts: Amounts): string {
  return toHex(encode(amounts));
}
