/**
 * The journal is what it was and the code is not: replay names the frame where the change first changes anything,
 * the path, both values, and what led there.
 */
import { agentApp, defineAgent, sessionReducer } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import {
  type Adapter,
  type App,
  creates,
  type Divergence,
  defineApp,
  defineEffect,
  definePlan,
  defineReducer,
  memory,
  openWorld,
  type ReducerContext,
  type Store,
  verifyStore,
} from '@reprise/kernel';
import { openWorld as openAgents } from 'reprise';
import { script } from 'reprise/providers';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';

/** What a twin does otherwise; all of it is what the recorded app does when it says nothing. */
interface Twin {
  step?: (n: number, by: number) => number;
  tell?: (ctx: ReducerContext, n: number) => void;
  told?: (n: number) => number;
  cents?: (n: number) => number;
  timeoutMs?: number;
  note?: (n: number) => string;
  timerAt?: (now: number) => number;
  init?: () => { n: number; paid: number };
}

const pay = defineEffect({
  kind: 'demo.pay@1',
  params: z.strictObject({ cents: z.int() }),
  receipt: z.strictObject({ id: z.string() }),
});

function appOf(twin: Twin = {}): App {
  const payPlan = definePlan({
    name: 'demo/pay_plan@1',
    input: z.strictObject({ n: z.int() }),
    effects: [pay],
    *run({ n }, plan) {
      const cents = (twin.cents ?? ((of) => of * 100))(n);
      const receipt = yield* plan.awaitReceipt(
        plan.emitEffect(pay, { cents }, { timeoutMs: twin.timeoutMs ?? 60_000 }),
      );
      plan.raiseEvent({ name: 'demo/Paid@1', value: { ok: receipt.status === 'ok' } });
    },
  });
  const tell =
    twin.tell ??
    ((ctx, n) => {
      ctx.send(['demo/Ear@1', 'left'], { name: 'demo/Heard@1', value: { n } });
      ctx.send(['demo/Ear@1', 'right'], { name: 'demo/Heard@1', value: { n } });
    });
  const counter = defineReducer({
    name: 'demo/Counter@1',
    state: z.strictObject({ n: z.int(), paid: z.int() }),
    events: {
      'demo/Added@1': creates(z.strictObject({ by: z.int() })),
      'demo/Paid@1': z.strictObject({ ok: z.boolean() }),
    },
    facts: { 'demo/Counted@1': z.strictObject({ n: z.int() }) },
    logs: { history: z.string() },
    init: twin.init ?? (() => ({ n: 0, paid: 0 })),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Paid@1') {
        draft.paid++;
        return;
      }
      draft.n = (twin.step ?? ((n, by) => n + by))(draft.n, event.value.by);
      ctx.record('demo/Counted@1', { n: (twin.told ?? ((n) => n))(draft.n) });
      ctx.append('history', (twin.note ?? ((n) => `at ${n}`))(draft.n));
      ctx.timer('t', (twin.timerAt ?? ((now) => now + 1_000_000))(ctx.now));
      if (draft.n % 3 === 0) tell(ctx, draft.n);
      if (draft.n === 5) ctx.emit({ plan: payPlan, input: { n: draft.n } });
    },
  });
  const ear = defineReducer({
    name: 'demo/Ear@1',
    state: z.strictObject({ heard: z.int() }),
    events: { 'demo/Heard@1': creates(z.strictObject({ n: z.int() })) },
    init: () => ({ heard: 0 }),
    reduce(draft, event) {
      draft.heard += event.value.n;
    },
  });
  return defineApp({ reducers: [counter, ear], plans: [payPlan] });
}

const COUNTER: [string, string] = ['demo/Counter@1', 'a'];
const payer: Adapter<{ cents: number }, { id: string }> = {
  effect: pay,
  name: 'payer',
  doExecute: async ({ cents }) => ({ status: 'ok', payload: { id: `p${cents}` } }),
};

let store: Store;
/** Frame 0 is the manifest; the n-th addition is frame n, up to the fifth; frame 6 is the receipt of what it paid. */
beforeAll(async () => {
  store = memory();
  const world = await openWorld({ store, app: appOf(), adapters: [payer] });
  for (let n = 1; n <= 5; n++) await world.request(COUNTER, { name: 'demo/Added@1', value: { by: 1 } });
  await world.pump();
  for (let n = 6; n <= 8; n++) await world.request(COUNTER, { name: 'demo/Added@1', value: { by: 1 } });
  await world.close();
  expect((await verifyStore(await store.openReadonly(), { app: appOf() })).frames).toBe(10);
});

async function divergenceOf(of: Store, app: App): Promise<Divergence> {
  const reader = await of.openReadonly();
  const error = await verifyStore(reader, { app }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  await reader.close();
  if (!isRepriseError(error, 'replay_divergence')) throw new Error(`no divergence: ${String(error)}`);
  const divergence = error.facts.divergence as Divergence;
  // What a program reads, a person reads as well.
  expect(error.message).toContain(
    `frame ${divergence.seq}, record ${divergence.i} (${divergence.kind}), ${divergence.path}`,
  );
  for (const line of divergence.cause) expect(error.message).toContain(line);
  return divergence;
}

describe('a changed reducer', () => {
  it('that counts by two is named at its first event [RPL-2]', async () => {
    expect(await divergenceOf(store, appOf({ step: (n, by) => n + by + 1 }))).toEqual({
      seq: 1,
      i: 1,
      kind: 'fact',
      path: '$.value.n',
      recorded: 1,
      regenerated: 2,
      cause: ['#1 fact demo/Counted@1', '#0 request demo/Added@1 to demo/Counter@1/a'],
    });
  });

  it('that changes state alone is named at the field [JRN-5]', async () => {
    expect(await divergenceOf(store, appOf({ init: () => ({ n: 0, paid: 7 }) }))).toMatchObject({
      seq: 1,
      kind: 'state',
      path: '$.leaves[cell demo/Counter@1 a].state.paid',
      recorded: 0,
      regenerated: 7,
      cause: expect.arrayContaining(['#0 request demo/Added@1 to demo/Counter@1/a']),
    });
  });

  it('that changes from the fourth event on is named there and not before [RPL-3]', async () => {
    const twin = appOf({ step: (n, by) => (n === 3 ? n + 2 * by : n + by) });
    expect(await divergenceOf(store, twin)).toMatchObject({ seq: 4, kind: 'fact', recorded: 4, regenerated: 5 });
  });

  it('that sends in another order is named at the first send [RPL-2]', async () => {
    const tell: Twin['tell'] = (ctx, n) => {
      for (const ear of ['right', 'left']) ctx.send(['demo/Ear@1', ear], { name: 'demo/Heard@1', value: { n } });
    };
    expect(await divergenceOf(store, appOf({ tell }))).toEqual({
      seq: 3,
      i: 2,
      kind: 'event',
      path: '$.to[1]',
      recorded: 'left',
      regenerated: 'right',
      cause: ['#2 event demo/Heard@1 to demo/Ear@1/left', '#0 request demo/Added@1 to demo/Counter@1/a'],
    });
  });

  it('that sends once less is named at what is missing', async () => {
    const tell: Twin['tell'] = (ctx, n) => ctx.send(['demo/Ear@1', 'left'], { name: 'demo/Heard@1', value: { n } });
    expect(await divergenceOf(store, appOf({ tell }))).toMatchObject({
      seq: 3,
      i: 3,
      kind: 'event',
      path: '$',
      recorded: { kind: 'event', to: ['demo/Ear@1', 'right'] },
      regenerated: { kind: 'state' },
    });
  });

  it('that states another fact is named at the fact', async () => {
    expect(await divergenceOf(store, appOf({ told: (n) => (n > 6 ? 0 : n) }))).toMatchObject({
      seq: 8,
      i: 1,
      kind: 'fact',
      path: '$.value.n',
      recorded: 7,
      regenerated: 0,
    });
  });

  it('that logs something else, or sets another timer, is named at the leaf [JRN-5]', async () => {
    const logs = await divergenceOf(store, appOf({ note: (n) => (n === 2 ? 'at two' : `at ${n}`) }));
    expect(logs).toMatchObject({ seq: 2, kind: 'state', path: '$.leaves[log demo/Counter@1 history a].tail[0][1]' });
    expect([logs.recorded, logs.regenerated]).toEqual(['at 2', 'at two']);
    const timer = await divergenceOf(store, appOf({ timerAt: (now) => now + 5 }));
    expect(timer).toMatchObject({ seq: 1, kind: 'state' });
    expect(timer.path).toContain('demo/Counter@1');
  });

  it('that refuses what it took is named at the request', async () => {
    const tell: Twin['tell'] = () => {
      throw new TypeError('a defect');
    };
    expect(await divergenceOf(store, appOf({ tell }))).toMatchObject({
      seq: 3,
      i: 0,
      kind: 'request',
      path: '$',
      recorded: { kind: 'request', event: { name: 'demo/Added@1' } },
      regenerated: undefined,
      cause: ['#0 request demo/Added@1 to demo/Counter@1/a'],
    });
  });
});

describe('a changed plan', () => {
  it('that asks for another effect is named at its parameters [RPL-2]', async () => {
    expect(await divergenceOf(store, appOf({ cents: (n) => n * 101 }))).toMatchObject({
      seq: 5,
      kind: 'effect',
      path: '$.params.cents',
      recorded: 500,
      regenerated: 505,
      cause: [
        expect.stringContaining('effect demo.pay@1'),
        '#2 intent demo/pay_plan@1',
        '#0 request demo/Added@1 to demo/Counter@1/a',
      ],
    });
  });

  it('that gives it another time is named at the deadline', async () => {
    const found = await divergenceOf(store, appOf({ timeoutMs: 70_000 }));
    expect(found).toMatchObject({ seq: 5, kind: 'effect', path: '$.deadline' });
    expect(Number(found.regenerated) - Number(found.recorded)).toBe(10_000);
  });
});

describe('a changed session reducer', () => {
  /** The real one, with something after it. */
  function twin(
    after: (draft: Record<string, never>, event: { readonly name: string }, ctx: ReducerContext) => void,
  ): App {
    const reducer = {
      ...sessionReducer,
      reduce: (draft: never, event: never, ctx: ReducerContext) => {
        sessionReducer.reduce(draft, event, ctx);
        after(draft, event, ctx);
      },
    };
    return defineApp({ reducers: [reducer], plans: [...agentApp.plans.values()] });
  }

  let said: Store;
  beforeAll(async () => {
    said = memory();
    const agent = defineAgent({ name: 'brief', model: 'main', instructions: '' });
    const main = script({ text: 'One.' }, { text: 'Two.' });
    const world = await openAgents({ store: said, agents: [agent], models: { main } });
    for (const text of ['1', '2']) await (await world.session('x', agent).send(text)).text();
    await world.close();
    await verifyStore(await said.openReadonly(), { app: agentApp });
  });

  // Frames: 0 manifest, 1 adoption, 2 input, 3 answer, 4 input, 5 answer.
  it('that counts runs by two is named at the first input, by the field', async () => {
    const app = twin((draft, { name }) => {
      if (name === 'aos.agent/UserInput@1') (draft as unknown as { runs: number }).runs++;
    });
    expect(await divergenceOf(said, app)).toMatchObject({
      seq: 2,
      kind: 'state',
      path: '$.leaves[cell aos.agent/SessionReducer@1 x].state.runs',
      recorded: 1,
      regenerated: 2,
      cause: expect.arrayContaining(['#0 request aos.agent/UserInput@1 to aos.agent/SessionReducer@1/x']),
    });
  });

  it('that ends the second run otherwise is named at its answer', async () => {
    const app = twin((draft) => {
      const state = draft as unknown as { runs: number; lifecycle: string };
      if (state.runs === 2 && state.lifecycle === 'Completed') state.lifecycle = 'Failed';
    });
    expect(await divergenceOf(said, app)).toMatchObject({
      seq: 5,
      kind: 'state',
      path: '$.leaves[cell aos.agent/SessionReducer@1 x].state.lifecycle',
      recorded: 'Completed',
      regenerated: 'Failed',
    });
  });

  it('that states one fact more is named at the record that stands there now', async () => {
    const app = twin((_draft, { name }, ctx) => {
      if (name === 'aos.agent/LlmStepCompleted@1')
        ctx.record('aos.agent/StaleIgnored@1', { event: name, session_epoch: 0, step_epoch: 0 });
    });
    const found = await divergenceOf(said, app);
    expect(found).toMatchObject({
      seq: 3,
      cause: expect.arrayContaining([expect.stringMatching(/^#0 receipt of effect /)]),
    });
    expect(JSON.stringify(found.regenerated)).toContain('StaleIgnored');
  });

  it('that does nothing at all is named too [RPL-3]', async () => {
    const app = defineApp({
      reducers: [{ ...sessionReducer, reduce: () => undefined }],
      plans: [...agentApp.plans.values()],
    });
    // The very adoption that makes a session counts a revision of its configuration.
    expect((await divergenceOf(said, app)).seq).toBe(1);
  });
});

describe('an app that lacks or changed a definition', () => {
  it('is refused before anything is performed, naming what it lacks [RPL-5]', async () => {
    const reader = await store.openReadonly();
    await expect(verifyStore(reader, { app: agentApp })).rejects.toMatchObject({
      code: 'manifest_mismatch',
      message: expect.stringContaining('demo/Counter@1'),
    });
    await reader.close();
  });
});
