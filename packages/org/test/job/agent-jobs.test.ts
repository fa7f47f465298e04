/** Jobs of agents within a budget: what is counted when, which job begins when, and jobs that say nothing themselves. */
import { appOf, defineAgent, openAgentWorld, putText, type WorldPart } from '@reprise/agent';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, ref, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, defineReducer, from, memory, type ReducerDefinition, verifyStore } from '@reprise/kernel';
import { agentJobs, JOB } from '@reprise/org';
import {
  addBudget,
  agentJobEvents,
  agentJobTables,
  jobNews,
  type Ledger,
  ledger,
  openLedger,
  openPool,
  startJob,
} from '@reprise/org/contracts';
import { llmGenerateAdapter, type ScriptStep, scriptBy } from '@reprise/providers';
import { VirtualClock } from '@reprise/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const SEED = Number(process.env.REPRISE_SEED ?? 20261129);
const DESK: Address = ['test/Desk@1', 'd'];
const MINUTE = 60_000;

const started = z.strictObject({
  of: z.int(),
  agent: z.string(),
  text_ref: ref(),
  share: z.int(),
  priority: z.int(),
  pooled: z.boolean(),
});

/** Starts jobs, and writes down what it hears of their ends and how its ledger stands after each event. */
const desk = defineReducer({
  name: DESK[0],
  state: z.strictObject({ ledger, ended: z.array(z.string()) }),
  tables: agentJobTables,
  facts: { 'test/Ledger@1': ledger },
  events: {
    'test/Open@1': creates(
      from(
        z.strictObject({
          budget: z.nullable(z.strictObject({ unit: z.enum(['tokens', 'micro_money']), amount: z.int() })),
          slots: z.int(),
        }),
        by.outside,
      ),
    ),
    'test/Start@1': from(started, by.outside),
    'test/Fund@1': from(z.strictObject({ amount: z.int() }), by.outside),
    'test/Lower@1': from(z.strictObject({ amount: z.int() }), by.outside),
    ...agentJobEvents,
  },
  init: () => ({ ledger: openLedger(null), ended: [] }),
  reduce(draft, event, ctx) {
    const news = jobNews(ctx, draft.ledger, event);
    if (news?.ended) draft.ended.push([news.of, news.status, news.code, news.problem].join(' ').trim());
    if (event.name === 'test/Open@1') {
      draft.ledger = openLedger(event.value.budget);
      openPool(ctx, 'pool', event.value.slots);
    } else if (event.name === 'test/Start@1') {
      const { text_ref, pooled, ...job } = event.value;
      const shows = [{ label: 'the task', ref: text_ref }];
      startJob(ctx, draft.ledger, { ...job, shows, wall_ms: 5 * MINUTE, ...(pooled ? { pool: 'pool' } : {}) });
    } else if (event.name === 'test/Fund@1') addBudget(ctx, draft.ledger, event.value.amount);
    else if (event.name === 'test/Lower@1') draft.ledger.budget = { unit: 'tokens', amount: event.value.amount };
    ctx.record('test/Ledger@1', { ...draft.ledger });
  },
});

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** Does what the task says: uses tokens, fails, or hangs. */
function working() {
  return scriptBy(({ last }): ScriptStep => {
    const [, does, tokens] = /(use|fail|hang) (\d+)/.exec(last) ?? [];
    if (does === 'fail') return { fail: 'provider_error_terminal/refused' };
    if (does === 'hang') return { text: 'Hm.', delayMs: Number.POSITIVE_INFINITY };
    return { text: 'Done.', usage: { tokens_in: Number(tokens), tokens_out: 0 } };
  });
}

interface Task {
  readonly task: string;
  readonly share: number;
  readonly agent?: string;
  readonly priority?: number;
  readonly pooled?: boolean;
}

async function open(budget: number | null, slots = 2, change = (part: WorldPart) => part) {
  const store = memory();
  const clock = new VirtualClock();
  const model = working();
  const part: WorldPart = {
    name: 'desk',
    uses: [change(agentJobs)],
    agents: [worker],
    reducers: [desk],
    handle: () => undefined,
  };
  const world = await openAgentWorld({
    store,
    clock,
    parts: [part],
    agents: [],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  const { kernel } = world;
  const send = (name: string, value: Value) => kernel.request(DESK, { name, value });
  await send('test/Open@1', { budget: budget === null ? null : { unit: 'tokens', amount: budget }, slots });
  let of = 0;
  return {
    world,
    clock,
    model,
    fund: (amount: number) => send('test/Fund@1', { amount }),
    lower: (amount: number) => send('test/Lower@1', { amount }),
    async start({ task, share, agent = 'worker', priority = 0, pooled = true }: Task) {
      const text_ref = await putText(kernel.content, task);
      return send('test/Start@1', { of: ++of, agent, text_ref, share, priority, pooled });
    },
    async state() {
      return (await kernel.state(DESK)) as unknown as { readonly ledger: Ledger; readonly ended: readonly string[] };
    },
    /** How the ledger stood after each event. */
    async ledgers() {
      const found: Ledger[] = [];
      for await (const { seq, records } of kernel.frames(0)) {
        for (const record of records)
          if (record.kind === 'fact' && record.name === 'test/Ledger@1') found.push(record.value as unknown as Ledger);
        if (seq === kernel.head.seq) return found;
      }
      return found;
    },
    async close() {
      await world.close();
      const { unverified } = await verifyStore(await store.openReadonly(), { app: appOf([part]) });
      expect(unverified).toBe(0);
    },
  };
}

/** Has the cell of each job fail of an event. */
const failingOf =
  (name: string) =>
  (part: WorldPart): WorldPart => {
    const failingJob = (reducer: ReducerDefinition): ReducerDefinition => ({
      ...reducer,
      reduce(draft, event, ctx) {
        if (reducer.name === JOB && event.name === name) throw new Error('a defect');
        return reducer.reduce(draft, event, ctx);
      },
    });
    return {
      ...part,
      uses: (part.uses ?? []).map((used) => ({ ...used, reducers: (used.reducers ?? []).map(failingJob) })),
    };
  };

const task = fc.record({
  task: fc.oneof(
    fc.integer({ min: 0, max: 500 }).map((tokens) => `use ${tokens}`),
    fc.constantFrom('fail 0', 'hang 0'),
  ),
  share: fc.integer({ min: 500, max: 900 }),
  agent: fc.constantFrom('worker', 'worker', 'worker', 'nobody'),
  priority: fc.integer({ min: -1, max: 1 }),
  pooled: fc.boolean(),
});

describe('jobs of agents within a budget', () => {
  it('what was used and what is set aside stay within the budget after each event, and each job ends once, when all have their share, from the seed 20261129', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(task, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 900, max: 3_000 }),
        fc.integer({ min: 1, max: 3 }),
        async (tasks, budget, slots) => {
          const at = await open(budget, slots);
          for (const one of tasks) await at.start(one);
          for (let minutes = 0; minutes < 40; minutes++) await at.clock.advance(MINUTE);
          await at.fund(10_000);
          for (let minutes = 0; minutes < 40; minutes++) await at.clock.advance(MINUTE);
          const { ledger: last, ended } = await at.state();
          for (const { budget: bound, spent, reserved } of await at.ledgers())
            expect(spent.tokens + reserved).toBeLessThanOrEqual(bound?.amount ?? 0);
          expect(ended.map((line) => Number(line.split(' ')[0])).sort()).toEqual(tasks.map((_, i) => i + 1));
          expect(last).toMatchObject({ reserved: 0, asked: tasks.length });
          await at.close();
        },
      ),
      { seed: SEED, numRuns: 12 },
    );
  });

  it('a job that hangs counts as its whole share, one that reports counts as it reports, one that was refused as nothing', async () => {
    const at = await open(2_000);
    for (const one of ['hang 0', 'use 300', 'fail 0']) await at.start({ task: one, share: 600 });
    for (let minutes = 0; minutes < 12; minutes++) await at.clock.advance(MINUTE);
    const { ledger: last, ended } = await at.state();
    expect(last).toMatchObject({ spent: { tokens: 900 }, reserved: 0 });
    expect([...ended].sort()).toEqual([
      '1 failed limit/max_wall_ms',
      '2 ok',
      '3 failed provider_error_terminal/refused',
    ]);
    await at.close();
  });

  it('the first job in line holds up those behind it until its share is free, and a higher priority stands before it', async () => {
    const at = await open(1_400);
    await at.start({ task: 'hang 0', share: 600 });
    await at.start({ task: 'use 100', share: 900 });
    await at.start({ task: 'use 100', share: 100 });
    await at.start({ task: 'use 100', share: 950, priority: 1 });
    for (let minutes = 0; minutes < 12; minutes++) await at.clock.advance(MINUTE);
    const { ledger: before, ended } = await at.state();
    expect(ended).toEqual(['1 failed limit/max_wall_ms']);
    expect([before.spent.tokens, before.reserved]).toEqual([600, 0]); // 800 are free: the small job waits for its turn
    await at.fund(1_000);
    await at.clock.settle();
    expect((await at.state()).ended.slice(1)).toEqual(['4 ok', '2 ok', '3 ok']);
    await at.close();
  });

  it('a job whose share is larger than the whole budget ends at once with what to do, before and behind others that wait, and holds up none', async () => {
    const at = await open(1_000);
    await at.start({ task: 'hang 0', share: 600 });
    await at.start({ task: 'use 100', share: 900, priority: 1_000_000 });
    await at.start({ task: 'use 100', share: 1_001 });
    await at.start({ task: 'use 100', share: 5_000, priority: -5 });
    await at.clock.settle();
    const { ended } = await at.state();
    const problem = (n: number, share: number) =>
      `${n} failed cap_denied/share share of job ${n} is too large: it asks for ${share} tokens, and the whole budget is 1000; start it again with a smaller share, or after addBudget`;
    expect(ended).toEqual([problem(3, 1_001), problem(4, 5_000)]);
    await at.fund(1_000);
    for (let minutes = 0; minutes < 12; minutes++) await at.clock.advance(MINUTE);
    const last = await at.state();
    expect(last.ended.slice(2)).toEqual(['2 ok', '1 failed limit/max_wall_ms']);
    expect(last.ledger).toMatchObject({ spent: { tokens: 700 }, reserved: 0, asked: 4 });
    await at.close();
  });

  it('a job whose share is larger than a budget that was lowered meanwhile ends when it is the first in line', async () => {
    const at = await open(1_000);
    await at.start({ task: 'hang 0', share: 600 });
    await at.start({ task: 'use 100', share: 900 });
    await at.lower(700);
    for (let minutes = 0; minutes < 12; minutes++) await at.clock.advance(MINUTE);
    const { ended } = await at.state();
    expect(ended).toEqual(['1 failed limit/max_wall_ms', expect.stringMatching(/^2 failed cap_denied\/share /)]);
    await at.close();
  });

  it('a job whose cell fails, at once or later, and one that names no agent, are told as ended and give their share back', async () => {
    for (const [name, tokens] of [
      ['work/Begin@1', 0], // it was never made
      ['aos.agent/ChildNotice@1', 400], // nobody knows what its session has used
    ] as const) {
      const broken = await open(1_000, 2, failingOf(name));
      await broken.start({ task: 'use 1', share: 400 });
      await broken.clock.settle();
      const { ledger: counted, ended } = await broken.state();
      expect([name, counted.spent.tokens, counted.reserved, ended]).toEqual([
        name,
        tokens,
        0,
        ['1 failed cell_failed'],
      ]);
      await broken.world.close();
    }
    const at = await open(1_000);
    await at.start({ task: 'use 1', share: 400, agent: 'nobody' });
    await at.clock.settle();
    const { ledger: last, ended } = await at.state();
    expect([ended, last.reserved]).toEqual([['1 failed adapter_error/unknown_agent'], 0]);
    await at.close();
  });

  it('without a budget every job begins at once, and what was used is counted', async () => {
    const at = await open(null);
    for (let n = 0; n < 40; n++) await at.start({ task: 'use 10', share: 1_000_000, pooled: false });
    await at.clock.settle();
    const { ledger: last, ended } = await at.state();
    expect([ended.length, last.spent.tokens, last.reserved]).toEqual([40, 400, 0]);
    await at.fund(5);
    expect((await at.state()).ledger.budget).toBeNull();
    await at.close();
  });

  it('a session has the limit of its share, or its own where that is lower', async () => {
    const at = await open(100_000);
    await at.start({ task: 'use 10', share: 700 });
    await at.clock.settle();
    const session = JSON.stringify(await at.world.kernel.state([SESSION_REDUCER, 'd/j1']));
    expect(session).toContain('"max_tokens":700');
    expect(session).toContain(`"max_wall_ms":${5 * MINUTE}`);
    await at.close();
  });
});
