import {
  ACCOUNT_DEPTH_MAX,
  type Account,
  type Amounts,
  account,
  isRepriseError,
  UNITS_MAX,
  type Usage,
} from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountsFit,
  booked,
  correct,
  overdraft,
  reserve,
  settle,
  shortfall,
  usageAmounts,
} from '../../../src/pure/authority/index.js';
import { check, compileSchema } from '../../../src/pure/schema/index.js';
import { assertProperty, SEED, vitestCommand } from '../codec/seed.js';
import { anyWork, judgeWork, type Ledger, OURS, type Worked } from './ledgers.js';

const command = vitestCommand('packages/kernel/test/pure/authority/budget.test.ts');
const MAX = Number.MAX_SAFE_INTEGER;

function works(ledger: Ledger, seen?: Worked): fc.IProperty<unknown> {
  return fc.property(anyWork, (work) => {
    const worked = judgeWork(ledger, work);
    if (seen !== undefined) for (const key of Object.keys(worked) as (keyof Worked)[]) seen[key] += worked[key];
  });
}

describe(`accounts under random work (seed ${SEED})`, () => {
  it('accounts grant exactly what fits at every account, and reserve and spend what their effects do [GATE-22, GATE-23]', () => {
    const seen: Worked = { granted: 0, refused: 0, settled: 0, late: 0, overdrawn: 0 };
    assertProperty(works(OURS, seen), { numRuns: 800, command });
    for (const [what, times] of Object.entries(seen)) expect([what, times > 300]).toEqual([what, true]);
  });

  const ownOnly = (chain: readonly Account[], changed: readonly Account[]) => [
    ...changed.slice(0, 1),
    ...chain.slice(1),
  ];
  const unheld = (chain: readonly Account[]) => chain.map((one) => ({ ...one, reserved: {} }));
  const mutants: readonly (readonly [string, Partial<Ledger>])[] = [
    [
      'gives back what may have been used',
      { settle: (chain, reserved, outcome) => settle(chain, reserved, outcome === 'unknown' ? 'released' : outcome) },
    ],
    [
      'asks its own account alone',
      {
        reserve: (chain, ask) =>
          shortfall(chain.slice(0, 1), ask)
            ? reserve(chain, ask)
            : reserve(
                chain.map((one) => ({ ...one, limits: {} })),
                ask,
              ),
      },
    ],
    [
      'holds at its own account alone',
      {
        reserve: (chain, ask) => {
          const reserved = reserve(chain, ask);
          return reserved.ok ? { ok: true, chain: ownOnly(chain, reserved.chain) } : reserved;
        },
      },
    ],
    [
      'spends at its own account alone',
      {
        settle: (chain, reserved, outcome) =>
          ownOnly(settle(chain, reserved, 'released'), settle(chain, reserved, outcome)),
      },
    ],
    [
      'forgets what is reserved',
      {
        reserve: (chain, ask) =>
          shortfall(unheld(chain), ask)
            ? reserve(unheld(chain), ask)
            : reserve(
                chain.map((one) => ({ ...one, limits: {} })),
                ask,
              ),
      },
    ],
    [
      'gives nothing back',
      {
        settle: (chain, reserved, outcome) =>
          settle(chain, reserved, outcome).map((one, i) => ({ ...one, reserved: chain[i]?.reserved ?? {} })),
      },
    ],
    [
      'spends what went on at once',
      {
        settle: (chain, reserved, outcome) =>
          settle(chain, reserved, outcome).map((one) => ({
            ...one,
            spent: { ...one.spent, ...(reserved.parallel ? { parallel: reserved.parallel } : {}) },
          })),
      },
    ],
    [
      'forgives what is not reported',
      {
        booked: (reserved, outcome) => (typeof outcome === 'string' ? booked(reserved, outcome) : booked({}, outcome)),
      },
    ],
    ['adds a late report to what was booked', { correct: (chain, _, after) => correct(chain, {}, after) }],
    ['ignores a late report', { correct: (chain) => chain }],
    [
      'cuts what is spent at the limit',
      {
        settle: (chain, reserved, outcome) =>
          settle(chain, reserved, outcome).map((one) => ({
            ...one,
            spent: Object.fromEntries(
              Object.entries(one.spent).map(([unit, spent]) => [
                unit,
                Math.min(spent, Object.hasOwn(one.limits, unit) ? (one.limits[unit] as number) : spent),
              ]),
            ),
          })),
      },
    ],
  ];

  it.each(mutants)('mutant: random work finds a ledger that %s', (_, mutant) => {
    expect(() => assertProperty(works({ ...OURS, ...mutant }), { numRuns: 1_500, command })).toThrow();
  });
});

const empty = (limits: Amounts, parent: string | null = null): Account => ({ parent, limits, spent: {}, reserved: {} });

function granted(chain: readonly Account[], ask: Amounts): readonly Account[] {
  const reserved = reserve(chain, ask);
  return reserved.ok ? reserved.chain : expect.fail(`refused: ${JSON.stringify(reserved.shortfall)}`);
}

describe('a reservation', () => {
  it('a reservation is refused by the nearest account that cannot bear it, with the numbers [GATE-23]', () => {
    const chain = [
      empty({ tokens: 100 }, 'team'),
      { ...empty({ calls: 3, tokens: 50 }), spent: { calls: 2, tokens: 20 }, reserved: { calls: 1 } },
    ];
    expect(reserve(chain, { tokens: 40, calls: 1 })).toEqual({
      ok: false,
      shortfall: { account: 1, unit: 'calls', limit: 3, spent: 2, reserved: 1, ask: 1 },
    });
    expect(shortfall(chain, { tokens: 101 })).toMatchObject({ account: 0, unit: 'tokens' });
    expect(shortfall(chain, { tokens: 30 })).toBeUndefined();
    expect(shortfall(chain, { tokens: 31 })).toMatchObject({ account: 1, unit: 'tokens' });
  });

  it('a reservation of 0 checks whether the account is within its limit', () => {
    const overdrawn = [{ ...empty({ tokens: 10 }), spent: { tokens: 11 } }];
    expect(shortfall(overdrawn, { tokens: 0 })).toMatchObject({ unit: 'tokens', ask: 0 });
    expect(shortfall(overdrawn, { calls: 1 })).toBeUndefined();
    expect(granted([empty({ tokens: 0 })], { tokens: 0 })).toEqual([empty({ tokens: 0 })]);
  });

  it('a reservation is refused when the sum is not a safe integer, even without a limit', () => {
    const chain = granted([empty({})], { tokens: MAX - 1 });
    expect(shortfall(chain, { tokens: 1 })).toBeUndefined();
    expect(shortfall(chain, { tokens: 2 })).toMatchObject({ limit: MAX, reserved: MAX - 1, ask: 2 });
    const full = { ...empty({ tokens: 0 }), spent: { tokens: MAX }, reserved: { tokens: MAX } };
    expect(shortfall([full], { tokens: MAX })).toMatchObject({ ask: MAX });
  });

  it('a reservation of the whole account is returned in full', () => {
    expect(settle(granted([empty({})], { tokens: MAX }), { tokens: MAX }, 'released')).toEqual([empty({})]);
  });

  it('a reservation reaches the largest number of accounts and not one more', () => {
    const deep = (count: number) => Array.from({ length: count }, () => empty({}));
    expect(granted(deep(ACCOUNT_DEPTH_MAX), { calls: 1 })).toHaveLength(ACCOUNT_DEPTH_MAX);
    expect(codeOf(() => reserve(deep(ACCOUNT_DEPTH_MAX + 1), { calls: 1 }))).toBe('bound_exceeded');
  });

  it('a reservation does not change the accounts of its input', () => {
    const chain = Object.freeze([Object.freeze(empty(Object.freeze({ tokens: 5 })))]);
    const reserved = granted(chain, { tokens: 5 });
    settle(reserved, { tokens: 5 }, { tokens: 7 });
    expect(chain).toEqual([empty({ tokens: 5 })]);
  });
});

describe('the settlement of a reservation', () => {
  const ask = { tokens: 100, calls: 1, parallel: 1 };
  const chain = granted([empty({ tokens: 100, calls: 9, parallel: 1 })], ask);

  it.each<[string, Amounts | 'unknown' | 'released', Amounts]>([
    ['books what is reported', { tokens: 30, calls: 1 }, { tokens: 30, calls: 1 }],
    ['books what was reserved of a unit that is not reported', { tokens: 30 }, { tokens: 30, calls: 1 }],
    ['books nothing of a unit that is reported as 0', { tokens: 30, calls: 0 }, { tokens: 30 }],
    ['books what was not asked for', { tokens: 1, calls: 1, micro_money: 7 }, { tokens: 1, calls: 1, micro_money: 7 }],
    ['books all that was reserved when nobody knows', 'unknown', { tokens: 100, calls: 1 }],
    ['books nothing of what never started', 'released', {}],
    ['books more than was reserved', { tokens: 130, calls: 1 }, { tokens: 130, calls: 1 }],
  ])('%s, and gives the rest back [GATE-24, GATE-25]', (_, outcome, spent) => {
    expect(settle(chain, ask, outcome)).toEqual([{ ...chain[0], spent, reserved: {} }]);
  });

  it('a settlement above the limit is an overdraft, and stops further reservations [GATE-26]', () => {
    const [after] = settle(chain, ask, { tokens: 130, calls: 1 }) as [Account];
    expect(overdraft(after)).toEqual({ tokens: 30 });
    expect(shortfall([after], { tokens: 0 })).toMatchObject({ unit: 'tokens', limit: 100, spent: 130 });
    expect(overdraft(chain[0] as Account)).toEqual({});
  });

  it('a sum above the safe integers stays at the largest one, whatever is corrected later', () => {
    const [full] = settle(settle([empty({})], {}, { tokens: MAX }), {}, { tokens: MAX }) as [Account];
    expect(full.spent).toEqual({ tokens: MAX });
    expect(correct([full], { tokens: MAX }, { tokens: 1 })).toEqual([full]);
  });

  it('a late report corrects a settlement to the amount that it would have booked at once [GATE-27]', () => {
    const late = correct(settle(chain, ask, 'unknown'), booked(ask, 'unknown'), booked(ask, { tokens: 30, calls: 1 }));
    expect(late).toEqual(settle(chain, ask, { tokens: 30, calls: 1 }));
  });
});

describe('usage in units of accounts', () => {
  it.each<[Usage, Amounts]>([
    [{}, {}],
    [
      { tokens_in: 10, tokens_out: 5, tokens_cached: 8, micro_money: 70, calls: 1 },
      { tokens: 15, micro_money: 70, calls: 1 },
    ],
    [{ tokens_out: 5 }, { tokens: 5 }],
    [{ tokens_cached: 8 }, {}],
    [
      { tokens_in: 0, calls: 0 },
      { tokens: 0, calls: 0 },
    ],
    [{ tokens_in: MAX, tokens_out: MAX }, { tokens: MAX }],
  ])('%j is %j', (usage, amounts) => {
    expect(usageAmounts(usage)).toEqual(amounts);
  });
});

describe('the schema of an account', () => {
  const node = compileSchema(account);

  it('the schema of an account accepts journaled data', () => {
    expect(check(node, { ...empty({ tokens: 0 }, 'team/a'), spent: { parallel: 1 } }).ok).toBe(true);
  });

  it.each<[string, object]>([
    ['a negative amount', { spent: { tokens: -1 } }],
    ['a fraction', { reserved: { tokens: 0.5 } }],
    ['what is no safe integer', { limits: { tokens: MAX + 1 } }],
    ['a unit in capitals', { limits: { Tokens: 1 } }],
    ['a parent without a name', { parent: '' }],
  ])('the schema of an account refuses %s', (_, part) => {
    expect(check(node, { ...empty({}), ...part } as never).ok).toBe(false);
  });

  it('amounts name the largest number of units and not one more', () => {
    const naming = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`u${i}`, 1]));
    expect(amountsFit(naming(UNITS_MAX))).toBe(true);
    expect(amountsFit(naming(UNITS_MAX + 1))).toBe(false);
  });
});

function codeOf(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return isRepriseError(error) ? error.code : 'another error';
  }
  return undefined;
}
