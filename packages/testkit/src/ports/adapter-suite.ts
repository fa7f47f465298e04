import type { Value } from '@reprise/contracts';
import { type AdapterOutcome, type Deferred, decode, encode, equalBytes, type Reconciliation } from '@reprise/kernel';
import { show } from '../given/compare.js';
import { expectThat } from '../suite/expect.js';
import { type Check, NotApplicable, registerSuite, type SuiteOptions, titled } from '../suite/suite.js';
import { canonical, expectFits, expectOutcome, expectReadable } from './adapter-answers.js';
import { type Desk, deskFor, type Executed, freshKey } from './adapter-desk.js';
import { type AdapterSubject, type AnyAdapterSubject, having } from './adapter-subject.js';
import { formWithin } from './secret-forms.js';

/** The number of different parameters that a check executes. */
const SAMPLES = 5;

/** The time in ms in which an adapter has to end after an abort: the time that closing a world waits. */
const PATIENCE_MS = 2_000;

/** The time in ms after which a slow execution counts as having reached the outside, when the subject cannot tell. */
const REACH_MS = 50;

/** How an execution may end after an abort: it did not happen, it did, or the outcome is unknown. */
const STOPPED = ['cancelled', 'ok', 'outcome_unknown'];

/**
 * The contract of the adapter port, as tests. Checks that need an ability which the subject lacks are skipped as not
 * applicable, with the reason.
 *
 * @example
 * const make = async () => ({ adapter: mailer, params: [{ to: 'ada@example.org' }], happened: (key) => server.sent(key) });
 * testAdapter({ name: 'mailer', runner: { describe, it }, make });
 */
export function testAdapter<I, P>(options: SuiteOptions<AdapterSubject<I, P>>): void {
  registerSuite<AnyAdapterSubject>('adapter', adapterChecks, options);
}

function check(title: string, body: (desk: Desk) => Promise<void>): Check<AnyAdapterSubject> {
  return { ...titled(title), run: async (subject) => body(await deskFor(subject)) };
}

/** The checks of {@link testAdapter}, to run one alone. */
export const adapterChecks: readonly Check<AnyAdapterSubject>[] = [
  check("given the subject's parameters, they pass the effect's schema and the adapter executes some", async (desk) => {
    const { effect } = desk.subject.adapter;
    for (const params of await samples(desk)) expectFits(params, effect.params, 'parameters');
    const outcomes = (await executeAll(desk)).map(({ outcome }) => outcome);
    const isPerformed = outcomes.some(({ status }) => status === 'ok' || status === 'deferred');
    expectThat(
      isPerformed,
      `none of ${outcomes.length} executions ended as ok or deferred; the first: ${show(outcomes[0])}`,
    );
    const canAsk = guaranteeOf(desk, await desk.params(0)) !== 'reconcile' || desk.subject.adapter.doReconcile;
    expectThat(canAsk !== undefined, 'an effect with the guarantee "reconcile" needs doReconcile');
  }),

  check('given parameters, an execution leaves them as they were given', async (desk) => {
    for (const params of await samples(desk)) {
      const given = decode(encode(params));
      await desk.subject.adapter.doExecute(given, desk.context({}));
      expectThat(
        equalBytes(encode(given), encode(params)),
        `${show(params)} became ${show(given)}; copy parameters before you change them`,
      );
    }
  }),

  check('given an answer, it is an outcome with a payload that passes the schema of its receipt', async (desk) => {
    for (const { outcome, params } of await executeAll(desk)) {
      const what = `the answer to ${show(params)}`;
      expectOutcome(outcome, what);
      if (outcome.status !== 'ok') continue;
      expectFits(outcome.payload, desk.subject.adapter.effect.receipt, what);
    }
  }),

  check('given progress and questions, they are canonical values', async (desk) => {
    for (const params of await samples(desk)) {
      await desk.execute(params);
      for (const said of desk.said.splice(0)) canonical(said, `the progress while ${show(params)} was executed`);
    }
  }),

  check('given content that an answer links, it was put and can be read', async (desk) => {
    for (const { outcome, params } of await executeAll(desk)) {
      if (outcome.status !== 'ok') continue;
      await expectReadable(canonical(outcome.payload, 'a payload'), desk.content, `the answer to ${show(params)}`);
    }
  }),

  check('given another world, what an adapter puts for it is put there', async (desk) => {
    await executeAll(desk);
    const other = await deskFor(desk.subject);
    for (const { outcome } of await executeAll(other)) {
      if (outcome.status !== 'ok') continue;
      await expectReadable(canonical(outcome.payload, 'a payload'), other.content, 'an answer for the second world');
    }
  }),

  check('given an outside that fails, the answer is an outcome, and nothing is thrown', async (desk) => {
    const { failing } = having(desk.subject, 'failing');
    for (let n = 0; n < SAMPLES; n++) {
      const params = await desk.params(n, failing);
      const what = `the answer when the outside fails on ${show(params)}`;
      const { outcome } = await desk.execute(params).catch((error: unknown) => {
        throw new Error(`${what}: it threw ${String(error)}`);
      });
      expectOutcome(outcome, what);
      expectThat(outcome.status !== 'deferred' && outcome.status !== 'ok', `${what}: its status is ${outcome.status}`);
    }
  }),

  check('given a signal that was aborted before, an execution ends soon and says how', async (desk) => {
    const params = await desk.params(0);
    expectStopped(await stopping(desk, params, AbortSignal.abort(abortError())), 'aborted before it began');
  }),

  check('given a signal that aborts meanwhile, an execution ends soon and says how', async (desk) => {
    expectStopped((await stopMeanwhile(desk)).status, 'aborted in the middle');
  }),

  check('given an execution that says it was cancelled, nothing happened outside', async (desk) => {
    const { happened } = having(desk.subject, 'slow', 'happened');
    const { status, key } = await stopMeanwhile(desk);
    if (status !== 'cancelled') throw new NotApplicable(`after an abort, its status is ${status}`);
    const count = await happened.call(desk.subject, key);
    expectThat(
      count === 0,
      `it answered "cancelled", and it happened ${count} times; answer "outcome_unknown" when it may have happened`,
    );
  }),

  check('given the same key again, an idempotent effect happens once', async (desk) => {
    await expectOnce(desk, async (params, key) => {
      for (const attempt of [1, 2, 3]) await desk.execute(params, { key, attempt });
    });
  }),

  check('given the same key while its first attempt is under way, an idempotent effect happens once', async (desk) => {
    await expectOnce(desk, async (params, key) => {
      await Promise.all([1, 2, 3].map((attempt) => desk.execute(params, { key, attempt })));
    });
  }),

  check('given the same parameters under two keys, they are two effects', async (desk) => {
    const subject = having(desk.subject, 'happened');
    const params = await desk.params(0);
    const first = await desk.execute(params);
    const second = await desk.execute(params);
    const counts = [await subject.happened(first.key), await subject.happened(second.key)];
    expectThat(
      counts[0] === counts[1],
      `the first happened ${counts[0]} times, the second ${counts[1]} times; another key is another effect`,
    );
  }),

  check('given an attempt that never reached the outside, nobody is told that it happened', async (desk) => {
    const { verdict } = await afterCrash(desk, 'before');
    expectThat(verdict !== 'happened', 'nothing was sent, and the adapter reports that it happened');
  }),

  check(
    'given an attempt that happened, it is not done again by asking, and may not be permitted again',
    async (desk) => {
      const found = await afterCrash(desk, 'after');
      expectThat(found.verdict !== 'cannot_happen', 'it happened, and the adapter reports that it cannot happen');
      if (found.verdict !== 'happened') return;
      expectOutcome(found.outcome, 'the outcome that was found');
      if (found.outcome.status !== 'ok') return;
      const payload = canonical(found.outcome.payload, 'the outcome that was found');
      expectFits(payload, desk.subject.adapter.effect.receipt, 'the outcome that was found');
      await expectReadable(payload, desk.content, 'the outcome that was found');
    },
  ),

  check('given executions at once, each gets the answer to its own parameters', async (desk) => {
    await expectSteady(desk);
    const alone = await executeAll(desk);
    const together = await Promise.all(alone.map(({ params }) => desk.execute(params)));
    for (const [i, one] of together.entries()) await expectAnswer(desk, one, alone[i] as Executed, 'beside others');
  }),

  check('given executions one after another, none leaves anything to the next', async (desk) => {
    const alone = await expectSteady(desk);
    const { failing } = desk.subject;
    for (const before of await samples(desk)) {
      await desk.execute(before);
      await expectAnswer(desk, await desk.execute(alone.params), alone, `after ${show(before)}`);
      if (failing === undefined) continue;
      await desk.execute(await desk.params(0, failing)).catch(() => undefined);
      await expectAnswer(desk, await desk.execute(alone.params), alone, 'after one that failed');
    }
  }),

  check('given a secret that was asked for, no answer, note or content holds it', async (desk) => {
    const { failing } = desk.subject;
    const answers: unknown[] = await executeAll(desk);
    if (failing !== undefined) answers.push(await desk.execute(await desk.params(0, failing)).catch(() => undefined));
    if (desk.secrets.size === 0) throw new NotApplicable('the adapter requested no secret');
    const outcomes = (answers as (Executed | undefined)[]).map((answer) => answer?.outcome);
    for (const [name, secret] of desk.secrets) {
      expectKept({ name, secret }, 'an answer', outcomes.map(bytesOf));
      expectKept({ name, secret }, 'its progress or questions', desk.said.map(bytesOf));
      expectKept({ name, secret }, 'content', desk.put);
    }
  }),
];

function expectKept(
  { name, secret }: { name: string; secret: string },
  where: string,
  all: readonly Uint8Array[],
): void {
  const form = all.map((bytes) => formWithin(bytes, secret)).find((found) => found !== undefined);
  expectThat(
    form === undefined,
    `the secret ${name} appears in ${where}, ${form}; report the name of the secret, not its value`,
  );
}

async function samples(desk: Desk): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let n = 0; n < SAMPLES; n++) all.push(await desk.params(n));
  return all;
}

/** Executes the samples one after another, each under its own key. */
async function executeAll(desk: Desk): Promise<Executed[]> {
  const all: Executed[] = [];
  for (const params of await samples(desk)) all.push(await desk.execute(params));
  return all;
}

function guaranteeOf({ subject }: Desk, params: unknown): unknown {
  const { guarantee } = subject.adapter.effect;
  return typeof guarantee === 'string' ? guarantee : (params as Readonly<Record<string, unknown>>)[guarantee.param];
}

/** The reason of an aborted `signal`: the platform's own functions throw it. */
function abortError(): Error {
  return Object.assign(new Error('the effect was asked to stop: cancelled'), { name: 'AbortError' });
}

/** How an execution ends after an abort. An adapter that lets the signal's own error through counts as cancelled. */
async function stopping(desk: Desk, params: unknown, signal: AbortSignal, key = freshKey()): Promise<string> {
  const { patienceMs = PATIENCE_MS } = desk.subject;
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const late = aborted.then(() => waited(patienceMs)).then(() => `nothing within ${patienceMs} ms`);
  const ended = desk.execute(params, { key, signal }).then(
    ({ outcome }) => outcome?.status,
    (error: unknown) => {
      if (!signal.aborted || (error as Error | undefined)?.name !== 'AbortError') throw error;
      return guaranteeOf(desk, params) === 'idempotent' ? 'cancelled' : 'outcome_unknown';
    },
  );
  return Promise.race([ended, late]);
}

async function stopMeanwhile(desk: Desk): Promise<{ readonly key: string; readonly status: string }> {
  const { slow } = having(desk.subject, 'slow');
  const abort = new AbortController();
  const key = freshKey();
  const status = stopping(desk, await desk.params(0, slow), abort.signal, key);
  const early = await Promise.race([reaches(desk, key), status]);
  expectThat(early === undefined, `the slow execution of the subject ended by itself, as ${early}`);
  abort.abort(abortError());
  return { key, status: await status };
}

async function reaches({ subject }: Desk, key: string): Promise<undefined> {
  const { patienceMs = PATIENCE_MS } = subject;
  const never = waited(patienceMs).then(() => 'never');
  const reached = await Promise.race([subject.reached?.(key) ?? waited(REACH_MS), never]);
  expectThat(reached !== 'never', `the slow execution did not reach the outside within ${patienceMs} ms`);
  return undefined;
}

function expectStopped(status: string, when: string): void {
  expectThat(STOPPED.includes(status), `${when}, it ended as ${status}; expected one of ${STOPPED.join(', ')}`);
}

async function expectOnce(desk: Desk, execute: (params: unknown, key: string) => Promise<void>): Promise<void> {
  const subject = having(desk.subject, 'happened');
  const params = await desk.params(0);
  const guarantee = guaranteeOf(desk, params);
  if (guarantee !== 'idempotent') throw new NotApplicable(`the effect is ${guarantee}, and never executed again`);
  const key = freshKey();
  await execute(params, key);
  const count = await subject.happened(key);
  const hint = 'pass the idempotencyKey to the service that executes it, or store the result under it';
  expectThat(count <= 1, `under one key it happened ${count} times; expected at most 1: ${hint}`);
}

/** The verdict of the adapter on an attempt that a crash interrupted. The question itself changes nothing outside. */
async function afterCrash(desk: Desk, when: 'before' | 'after'): Promise<Reconciliation> {
  const subject = having(desk.subject, 'interrupt');
  if (subject.adapter.doReconcile === undefined) throw new NotApplicable('the adapter has no doReconcile');
  const [params, key] = [await desk.params(0), freshKey()];
  await subject.interrupt(key, params, when);
  const before = await subject.happened?.(key);
  const expected = when === 'before' ? 0 : 1;
  expectThat(
    before === undefined || before === expected,
    `the interrupt() of the subject made it happen ${before} times`,
  );
  const found: Reconciliation = await subject.adapter.doReconcile(decode(encode(params)), desk.context({ key }));
  const verdicts = ['happened', 'cannot_happen', 'unknown'];
  expectThat(verdicts.includes(found?.verdict), `${show(found)} is not a verdict`);
  const after = await subject.happened?.(key);
  expectThat(before === after, `asking made it happen: ${before} times before, ${after} after`);
  return found;
}

/** The answer to the first parameters, when equal parameters get equal answers or the subject can judge answers. */
async function expectSteady(desk: Desk): Promise<Executed> {
  const params = await desk.params(0);
  const first = await desk.execute(params);
  if (desk.subject.answers !== undefined) return first;
  if (sameAnswer(first.outcome, (await desk.execute(params)).outcome)) return first;
  throw new NotApplicable('equal parameters get different answers, and the subject has no answers');
}

/** Fails unless an execution has the answer that it has alone; by the subject's own judgment when there is one. */
async function expectAnswer(desk: Desk, { params, outcome }: Executed, alone: Executed, when: string): Promise<void> {
  const { answers } = desk.subject;
  const payload = outcome.status === 'ok' ? outcome.payload : undefined;
  const fits =
    answers === undefined || payload === undefined
      ? sameAnswer(outcome, alone.outcome)
      : await answers.call(desk.subject, payload, params, desk.content);
  expectThat(fits, `${show(params)}, ${when}, has the answer ${show(outcome)}; alone it has ${show(alone.outcome)}`);
}

function sameAnswer(one: AdapterOutcome | Deferred, other: AdapterOutcome | Deferred): boolean {
  return equalBytes(bytesOf(one), bytesOf(other));
}

/** An answer in bytes; an answer without a canonical form as JSON, so that it can still be compared and searched. */
function bytesOf(answer: unknown): Uint8Array {
  try {
    return encode(answer as Value);
  } catch {
    return new TextEncoder().encode(show(answer));
  }
}

function waited(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
