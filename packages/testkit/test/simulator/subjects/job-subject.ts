/**
 * Jobs under the simulator: a desk hires and stops them, their sessions end, fail, wait or never stop, and their
 * preparation is an effect that may be lost. In the calm every job ends, and no slot is held.
 */
import {
  agentAdopted,
  childNotice,
  defineAgent,
  putText,
  SESSION_REDUCER,
  sessionCommand,
  storeAgent,
  userInput,
} from '@reprise/agent';
import { type Address, type JournalRecord, NOTICES, type Value } from '@reprise/contracts';
import { type Adapter, defineApp, openKernelWorld, type ReducerContext, type World } from '@reprise/kernel';
import { creates, defineReducer } from '@reprise/kernel/define';
import { beginWork, jobAddress, jobEvents, jobReducer, preparePlan, stopWork, workPrepare } from '@reprise/org';
import { QUEUE, queue } from '@reprise/org/contracts';
import type { SimulationSubject } from '@reprise/testkit/simulator';
import * as z from 'zod';
import { quickMemory } from '../../../../../conformance/quick-memory.js';
import { auditJobs } from '../../../../org/test/job/support/audit.js';

const DESK: [string, string] = ['sim/Desk@1', 'd'];
const POOL: [string, string] = [QUEUE, 'pool'];
const JOBS_MAX = 12;
const TALLY = { steps: 1, tokens_in: 1, tokens_out: 1, micro_money: 0 };

/** Has jobs done. */
const desk = defineReducer({
  name: DESK[0],
  state: z.strictObject({ hired: z.int() }),
  events: {
    'sim/Open@1': creates(z.strictObject({ slots: z.int() })),
    'sim/Hire@1': z.strictObject({ priority: z.int(), timeout_ms: z.int() }),
    'sim/Stop@1': z.strictObject({ n: z.int() }),
    ...jobEvents,
  },
  init: () => ({ hired: 0 }),
  reduce(draft, { name, value }, ctx) {
    if (name === 'sim/Open@1') {
      ctx.send(POOL, { name: 'flow/OpenQueue@1', value: { limit: value.slots, paused: false } });
    } else if (name === 'sim/Hire@1') {
      if (draft.hired >= JOBS_MAX) ctx.reject('enough');
      const n = ++draft.hired;
      const job = { n, kind: 'task', request_ref: null, inputs: [], model: null, pool: POOL[1], grant: null };
      beginWork(ctx, { ...job, ...value, attempts: 2 });
    } else if (name === 'sim/Stop@1') {
      if (value.n > draft.hired) ctx.reject('no_such_job');
      stopWork(ctx, value.n, 'not_needed');
    }
  },
});

/** Stands for a session: what its run comes to is drawn when it takes its input. */
const session = defineReducer({
  name: SESSION_REDUCER,
  state: z.strictObject({ fate: z.enum(['none', 'ends', 'fails', 'waits', 'hangs']) }),
  events: {
    'aos.agent/AgentAdopted@1': creates(agentAdopted),
    'aos.agent/UserInput@1': userInput,
    'aos.agent/HostCommand@1': sessionCommand,
    'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  },
  init: () => ({ fate: 'none' as const }),
  reduce(draft, { name }, ctx) {
    const { fate } = draft;
    if (name === 'aos.agent/UserInput@1') {
      const drawn = ctx.random();
      if (drawn < 0.08) ctx.reject('session_closed');
      draft.fate = drawn < 0.5 ? 'ends' : drawn < 0.65 ? 'fails' : drawn < 0.9 ? 'waits' : 'hangs';
      if (draft.fate !== 'hangs') ctx.timer('go', ctx.now + 1 + Math.floor(ctx.random() * 4_000));
    } else if (name === 'aos.agent/HostCommand@1' && fate !== 'none' && fate !== 'hangs') {
      ctx.clearTimer('go');
      settle(ctx, { kind: 'Cancelled' });
      draft.fate = 'none';
    } else if (name === 'sys/TimerFired@1' && fate === 'waits') {
      tell(ctx, { kind: 'waiting', for: 'ask' });
      draft.fate = 'ends';
      ctx.timer('go', ctx.now + 1_000);
    } else if (name === 'sys/TimerFired@1') {
      const failed = { kind: 'Failed', code: 'provider_error_terminal/refused', retryable: false, stage: 'llm_step' };
      settle(ctx, fate === 'fails' ? failed : { kind: 'Completed' });
      draft.fate = 'none';
    }
  },
});

function settle(ctx: ReducerContext, stop: object): void {
  tell(ctx, { kind: 'settled', stop, output_ref: null, value_ref: null, tally: TALLY, more: false });
}

function tell(ctx: ReducerContext, news: object): void {
  const value = childNotice.parse({ session: ctx.address[1], run: 0, news });
  if (ctx.parent !== null) ctx.send(ctx.parent, { name: 'aos.agent/ChildNotice@1', value });
}

const app = defineApp({ reducers: [jobReducer, queue, desk, session], plans: [preparePlan] });
const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

const prepare: Adapter = {
  effect: workPrepare as unknown as Adapter['effect'],
  name: 'work.prepare',
  async doExecute(_params, { content }) {
    const { agents, ...adopted } = await storeAgent(content, worker, { main: {} });
    const message_parts = [{ kind: 'text', text_ref: await putText(content, 'Work.') }];
    const payload = { adopted, agents, message_parts, digest: '0'.repeat(64), resolved_model: 'main' };
    return { status: 'ok', payload: payload as unknown as Value };
  },
};

/** A slot is given back with the end of its job: no lease of an ended job expires. */
function late(value: Value): void {
  const { n, what } = value as { readonly n: number; readonly what: string };
  if (what === 'flow/Expired@1') throw new Error(`job ${n} has ended, and its slot was not given back`);
}

/** Worlds with jobs. */
export const jobSubject: SimulationSubject = {
  name: 'jobs',
  app,
  store: quickMemory,
  sometimes: [
    'a job ended as ok',
    'a job ended as timeout',
    'a job ended as cancelled',
    'a job gave its slot back to wait',
  ],
  begin({ choices, clients, outside, random, sometimes }) {
    const records: JournalRecord[] = [];
    const slots = 1 + choices.below(2);
    let asked = 0;
    const ask = (world: World, name: string, value: Value, id = `${name}${asked++}`) =>
      clients.ask({ id }, () => world.request(DESK, { name, value }, { id }));
    return {
      open: async (process, store) =>
        openKernelWorld({
          store,
          app,
          adapters: [outside.watch(process, prepare as never)],
          clock: process.clock,
          random,
          recheckEvery: 1,
          snapshotEvery: choices.pick([0, 7]),
        }),
      acts: [
        {
          name: 'opens the pool',
          weight: 2,
          execute: (world) => ask(world, 'sim/Open@1', { slots }, 'open'),
        },
        {
          name: 'hires',
          weight: 8,
          execute: (world) =>
            ask(world, 'sim/Hire@1', {
              priority: choices.pick([0, 0, 10, 100]),
              timeout_ms: choices.pick([1_000, 5_000, 60_000]),
            }),
        },
        { name: 'stops', weight: 2, execute: (world) => ask(world, 'sim/Stop@1', { n: 1 + choices.below(JOBS_MAX) }) },
      ],
      read: (frame) => {
        records.push(...frame);
        for (const record of frame) {
          // The kernel puts an input aside that ended its process again and again (REC-4).
          if (record.kind === 'fault' && record.code !== 'exhausted')
            throw new Error(`a cell has failed: ${JSON.stringify(record)}`);
          if (record.kind === 'fact' && record.name === 'work/Late@1') late(record.value);
          if (record.kind !== 'fact' || record.name !== 'work/JobChanged@1') continue;
          const { status } = record.value as { readonly status: string };
          if (['ok', 'timeout', 'cancelled'].includes(status)) sometimes.happened(`a job ended as ${status}`);
          if (status === 'waiting') sometimes.happened('a job gave its slot back to wait');
        }
      },
      settle: async (world) => {
        for (const { effect } of await world.openEffects()) await world.cancel(effect).catch(() => undefined);
        for (let n = 1; n <= JOBS_MAX; n++)
          await world.request(DESK, { name: 'sim/Stop@1', value: { n } }).catch(() => undefined);
      },
      check: async (world) => {
        auditJobs(records);
        for (let n = 1; n <= JOBS_MAX; n++) {
          const job = (await world.state(jobAddress(DESK[1], n) as Address)) as { status: string } | undefined;
          if (job !== undefined && !['ok', 'failed', 'cancelled', 'timeout'].includes(job.status))
            throw new Error(`job ${n} does not end: ${JSON.stringify(job)}`);
        }
        const held = await world.table(POOL, 'items').catch(() => []);
        if (held.length > 0) throw new Error(`${held.length} items are left in the pool`);
      },
    };
  },
};
