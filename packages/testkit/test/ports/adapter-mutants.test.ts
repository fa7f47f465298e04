/** The suite of the adapter port, held against an honest adapter and many that break its rules. */

import { Ref } from '@reprise/contracts';
import type { Adapter, AdapterContext, AdapterOutcome, ContentStore } from '@reprise/kernel';
import { type AdapterSubject, adapterChecks, NotApplicable, runCheck, testAdapter } from '@reprise/testkit/ports';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Bank,
  type BankAdapter,
  bankSubject,
  honestAdapter,
  type Paid,
  type Payment,
  receiptFor,
} from './bank.js';

testAdapter({ name: 'an honest one', runner: { describe, it }, make: async () => bankSubject() });

type Answer = Awaited<ReturnType<Adapter<Payment, Paid>['doExecute']>>;

/** Answers in the place of the honest adapter, which it may ask, also within another context. */
type Instead = (
  given: Payment,
  context: AdapterContext,
  honest: (within?: AdapterContext) => Promise<Answer>,
  bank: Bank,
) => Promise<unknown>;

const executing =
  (instead: Instead) =>
  (bank: Bank): BankAdapter => {
    const honest = honestAdapter(bank);
    const doExecute = (given: Payment, context: AdapterContext) =>
      instead(given, context, (within = context) => honest.doExecute(given, within), bank) as Promise<
        AdapterOutcome<Paid>
      >;
    return { ...honest, doExecute };
  };

const asked =
  (doReconcile: (bank: Bank) => BankAdapter['doReconcile']) =>
  (bank: Bank): BankAdapter => ({ ...honestAdapter(bank), doReconcile: doReconcile(bank) });

/** Changes the payload of an `ok`. */
const payload = (change: (paid: Paid) => unknown) =>
  executing(async (_given, _context, honest) => {
    const answer = await honest();
    return answer.status === 'ok' ? { ...answer, payload: change(answer.payload) } : answer;
  });

const bytes = (text: string) => new TextEncoder().encode(text);
const NOWHERE = Ref.fromHex('ab'.repeat(32));

/** A slow payment is made all the same, and the one who waits is told that it was given up. */
const paysAndSaysNo: Instead = async (given, context, honest, bank) => {
  if (given.to === 'slow') bank.book(context.idempotencyKey, given);
  return honest();
};

/** Keeps something of one call until the next. */
function remembering(): Instead {
  let last: Payment | undefined;
  return async (given, context, honest) => {
    const of = last ?? given;
    last = given;
    const answer = await honest();
    return answer.status === 'ok' ? receiptFor(of, context) : answer;
  };
}

/** Has one field for the call that it is at. */
function mixing(): Instead {
  let current: Payment;
  return async (given, context, honest) => {
    current = given;
    const answer = await honest();
    return answer.status === 'ok' ? receiptFor(current, context) : answer;
  };
}

/** Puts everything into the content store that it was given first. */
function hoarding(): Instead {
  let first: ContentStore | undefined;
  return async (_given, context, honest) => {
    first ??= context.content;
    return honest({ ...context, content: first });
  };
}

/** Asks the bank under a name of its own. */
const under = (name: (given: Payment, context: AdapterContext, n: number) => string) => (): Instead => {
  let n = 0;
  return async (given, context, _honest, bank) => {
    const key = context.idempotencyKey;
    const before = bank.paid.get(name(given, context, n))?.length ?? 0;
    const reply = await bank.pay(name(given, context, n++), given, context.signal);
    if (reply !== 'paid') return { status: 'cancelled' };
    if (before === 0) bank.book(key, given);
    return receiptFor(given, context);
  };
};

const FITS = "given the subject's parameters, they pass";
const LEFT = 'given parameters, an execution leaves';
const ANSWER = 'given an answer, it is an outcome';
const SAID = 'given progress and questions';
const LINKS = 'given content that an answer links';
const WORLD = 'given another world';
const FAILS = 'given an outside that fails';
const BEFORE = 'given a signal that was aborted before';
const MEANWHILE = 'given a signal that aborts meanwhile';
const CANCELLED = 'given an execution that says it was cancelled';
const AGAIN = 'given the same key again';
const AT_ONCE = 'given the same key while';
const TWO_KEYS = 'given the same parameters under two keys';
const NEVER = 'given an attempt that never';
const HAPPENED = 'given an attempt that happened';
const MIXED = 'given executions at once';
const LEAVES = 'given executions one after another';
const SECRET = 'given a secret';

const leaking = (write: (secret: string, given: Payment, context: AdapterContext) => unknown) =>
  executing(async (given, context, honest) => {
    await write(await context.secret('BANK_TOKEN'), given, context);
    return honest();
  });

const MUTANTS: readonly (readonly [does: string, rule: string, adapter: (bank: Bank) => BankAdapter])[] = [
  ['executes nothing', FITS, executing(async () => ({ status: 'error', code: 'adapter_error/busy' }))],
  [
    'writes into its parameters',
    LEFT,
    executing(async (given, _context, honest) => {
      const answer = await honest();
      Object.assign(given, { cents: 0 });
      return answer;
    }),
  ],
  ['answers nothing', ANSWER, executing(async () => undefined)],
  ['answers with a status of its own', ANSWER, executing(async () => ({ status: 'done' }))],
  ['says "denied"', ANSWER, executing(async () => ({ status: 'denied', code: 'policy_denied' }))],
  ['answers an error without a code', ANSWER, executing(async () => ({ status: 'error' }))],
  ['makes up a code', ANSWER, executing(async () => ({ status: 'error', code: 'E_BANK' }))],
  ['counts in parts', ANSWER, executing(async (...[, , honest]) => ({ ...(await honest()), usage: { calls: 0.5 } }))],
  ['hands on to no pattern', ANSWER, executing(async () => ({ status: 'deferred', to: 'a b' }))],
  ['hands on until never', ANSWER, executing(async () => ({ status: 'deferred', expires: Number.NaN }))],
  ['answers a payload of another schema', ANSWER, payload(({ id }) => ({ id }))],
  ['answers NaN', ANSWER, payload((paid) => ({ ...paid, id: Number.NaN }))],
  ['answers an instance of a class', ANSWER, payload((paid) => ({ ...paid, id: new Date(0) }))],
  [
    'tells an error object as progress',
    SAID,
    executing(async (_given, context, honest) => {
      context.progress(new Error('busy') as never);
      return honest();
    }),
  ],
  ['links what it never put', LINKS, payload((paid) => ({ ...paid, note_ref: NOWHERE }))],
  ['links bytes as a value', LINKS, payload((paid) => ({ ...paid, note_ref: paid.note_ref.asValue() }))],
  ['puts into the content store that it was given first', WORLD, (bank) => executing(hoarding())(bank)],
  [
    'throws when it is refused',
    FAILS,
    executing(async (_given, _context, honest) => {
      const answer = await honest();
      if (answer.status === 'error') throw new Error('refused');
      return answer;
    }),
  ],
  [
    'says ok when it is refused',
    FAILS,
    executing(async (given, context, honest) => {
      const answer = await honest();
      return answer.status === 'error' ? receiptFor(given, context) : answer;
    }),
  ],
  [
    'does not look whether it was told to stop',
    BEFORE,
    executing(async (_given, context, honest) => (context.signal.aborted ? new Promise(() => undefined) : honest())),
  ],
  [
    'fails when it is told to stop',
    BEFORE,
    executing(async (_given, context, honest) =>
      context.signal.aborted ? { status: 'error', code: 'adapter_error' } : honest(),
    ),
  ],
  [
    'never ends what is slow',
    MEANWHILE,
    executing(async (given, _context, honest) => (given.to === 'slow' ? new Promise(() => undefined) : honest())),
  ],
  [
    'breaks when it is told to stop',
    MEANWHILE,
    executing(async (given, _context, honest) => {
      const answer = await honest();
      if (given.to === 'slow') throw new Error('socket closed');
      return answer;
    }),
  ],
  ['says "cancelled" of what happened', CANCELLED, executing(paysAndSaysNo)],
  [
    'ignores the idempotency key',
    AGAIN,
    (bank) => executing(under((_g, { idempotencyKey }, n) => `${idempotencyKey}${n}`)())(bank),
  ],
  [
    'knows keys only when it has answered',
    AT_ONCE,
    (bank) => {
      const done = new Set<string>();
      return executing(async (given, context) => {
        const key = context.idempotencyKey;
        if (!done.has(key)) {
          await bank.pay(`${key}:seen`, given, context.signal);
          bank.book(key, given);
        }
        done.add(key);
        return receiptFor(given, context);
      })(bank);
    },
  ],
  [
    'takes equal parameters for one effect',
    TWO_KEYS,
    (bank) => executing(under(({ to, cents }) => `${to}${cents}`)())(bank),
  ],
  [
    'says of anything that it happened',
    NEVER,
    asked(() => async (given, context) => ({ verdict: 'happened', outcome: await receiptFor(given, context) })),
  ],
  ['takes "not there" for "cannot be"', HAPPENED, asked(() => async () => ({ verdict: 'cannot_happen' }))],
  [
    'does it to find out',
    NEVER,
    asked((bank) => async (given, context) => {
      await bank.pay(context.idempotencyKey, given, context.signal);
      return { verdict: 'unknown' };
    }),
  ],
  ['makes up a verdict', NEVER, asked(() => async () => ({ verdict: 'maybe' }) as never)],
  [
    'tells what happened without its payload',
    HAPPENED,
    asked(() => async () => ({ verdict: 'happened', outcome: { status: 'ok', payload: {} as never } })),
  ],
  ['has one field for the call that it is at', MIXED, (bank) => executing(mixing())(bank)],
  ['answers with what it was asked before', LEAVES, (bank) => executing(remembering())(bank)],
  [
    'puts its secret into content',
    SECRET,
    leaking((secret, _given, { content }) => content.put(bytes(`token ${secret}`))),
  ],
  [
    'tells its secret as progress, in base64',
    SECRET,
    leaking((secret, _given, { progress }) => progress({ auth: btoa(`me:${secret}`) })),
  ],
  [
    'tells its secret in an address',
    SECRET,
    leaking((secret, _given, { progress }) => progress(`https://bank/?t=${encodeURIComponent(secret)}`)),
  ],
  [
    'tells its secret in a stream of content',
    SECRET,
    leaking((secret, _given, { content }) =>
      content.putStream(
        (async function* () {
          yield bytes(secret.slice(0, 9));
          yield bytes(secret.slice(9));
        })(),
      ),
    ),
  ],
  [
    'answers an error with its secret in it',
    SECRET,
    executing(async (given, context, honest) => {
      const secret = await context.secret('BANK_TOKEN');
      const answer = await honest();
      return answer.status === 'ok'
        ? { ...answer, payload: { ...answer.payload, id: `${given.to} ${secret}` } }
        : answer;
    }),
  ],
];

async function brokenRules(subject: () => AdapterSubject<Payment, Paid>): Promise<string[]> {
  const broken: string[] = [];
  for (const check of adapterChecks) {
    await runCheck(check, async () => subject()).catch((error: unknown) => {
      expect(error, `${check.name}: broken by accident`).not.toBeInstanceOf(TypeError);
      if (!(error instanceof NotApplicable)) broken.push(check.name);
    });
  }
  return broken;
}

describe('an adapter that breaks its contract is found', () => {
  it.each(MUTANTS)('the suite finds an adapter that %s', async (_, rule, adapter) => {
    const broken = await brokenRules(() => bankSubject(adapter));
    expect(
      broken.some((name) => name.startsWith(rule)),
      broken.join('; '),
    ).toBe(true);
  });

  it('every check of the adapter suite finds a mutant', () => {
    const idle = adapterChecks.filter(({ name }) => !MUTANTS.some(([, rule]) => name.startsWith(rule)));
    expect(idle.map(({ name }) => name)).toEqual([]);
  });
});

describe('the message of a failed check', () => {
  it.each<readonly [rule: string, adapter: Parameters<typeof bankSubject>[0], says: RegExp]>([
    [
      AGAIN,
      (bank) => executing(under((_given, _context, n) => `payment ${n}`)())(bank),
      /^under one key it happened 3 times; expected at most 1: pass the idempotencyKey/,
    ],
    [
      SECRET,
      leaking((secret, _given, { content }) => content.put(bytes(`token ${secret}`))),
      /^the secret BANK_TOKEN appears in content, as it is; report the name/,
    ],
    [
      SECRET,
      leaking((secret, _given, { progress }) => progress({ auth: btoa(`me:${secret}`) })),
      /^the secret BANK_TOKEN appears in its progress or questions, in base64;/,
    ],
  ])('%s: the message says what was found, where, and what to do', async (rule, adapter, says) => {
    const check = adapterChecks.find(({ name }) => name.startsWith(rule));
    if (check === undefined) throw new Error(`no check ${rule}`);
    const error: unknown = await runCheck(check, async () => bankSubject(adapter)).catch((thrown: unknown) => thrown);
    expect((error as Error).message).toMatch(says);
  });
});

describe('a subject without an ability', () => {
  const bare = (): AdapterSubject<Payment, Paid> => {
    const { adapter, params } = bankSubject();
    return { adapter, params };
  };

  it('checks of an absent ability do not apply, and name the missing ability', async () => {
    const found: string[] = [];
    for (const check of adapterChecks) {
      await runCheck(check, async () => bare()).catch((error: unknown) => {
        expect(error).toBeInstanceOf(NotApplicable);
        found.push((error as Error).message);
      });
    }
    expect([...new Set(found)].sort()).toEqual([
      'the subject has no failing',
      'the subject has no happened',
      'the subject has no interrupt',
      'the subject has no slow',
      'the subject has no slow and no happened',
    ]);
  });

  it('a runner that can skip inside a test gets the reason; for another runner the test fails', async () => {
    const tests = new Map<string, (...given: unknown[]) => Promise<void>>();
    const runner = {
      describe: (_: string, body: () => void) => body(),
      it: (name: string, body: (...given: unknown[]) => Promise<void>) => tests.set(name, body),
    };
    testAdapter({ name: 'bare', runner, make: async () => bare() });
    const test = [...tests].find(([name]) => name.startsWith(FAILS))?.[1];
    const reasons: string[] = [];
    await test?.({ skip: (why: string) => reasons.push(why) });
    expect(reasons).toEqual(['not applicable: the subject has no failing']);
    await expect(test?.()).rejects.toThrow(NotApplicable);
  });

  it('random answers are not compared unless the subject decides which answer belongs to a call', async () => {
    let n = 0;
    const chance = payload((paid) => ({ ...paid, id: `${paid.id}#${n++}` }));
    const check = adapterChecks.find(({ name }) => name.startsWith(MIXED));
    if (check === undefined) throw new Error('the check is gone');
    await expect(runCheck(check, async () => bankSubject(chance))).rejects.toThrow(NotApplicable);
    const answers = ({ id }: Paid, { to, cents }: Payment) => id.startsWith(`${to}-${cents}#`);
    await expect(runCheck(check, async () => ({ ...bankSubject(chance), answers }))).resolves.toBeUndefined();
    const mixed = async () => ({ ...bankSubject((bank) => executing(mixing())(bank)), answers });
    await expect(runCheck(check, mixed)).rejects.not.toThrow(NotApplicable);
  });
});

describe('parameters', () => {
  it('parameters are drawn from an arbitrary, and the suite holds for each', async () => {
    const params = fc.record({
      to: fc.constantFrom('ann', 'ben'),
      cents: fc.integer({ min: 1, max: 99 }),
      guarantee: fc.constant('idempotent' as const),
    });
    expect(await brokenRules(() => ({ ...bankSubject(), params }))).toEqual([]);
  });

  it('repeated execution under one key is not tested for an effect that may happen once', async () => {
    const params = [{ to: 'ann', cents: 5, guarantee: 'at_most_once' as const }];
    const check = adapterChecks.find(({ name }) => name.startsWith(AGAIN));
    if (check === undefined) throw new Error('the check is gone');
    await expect(runCheck(check, async () => ({ ...bankSubject(), params }))).rejects.toThrow(/never executed again/);
  });
});
