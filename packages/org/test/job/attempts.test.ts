/** Jobs whose sessions say what a test tells them: late notices, sessions that are lost, and one that never stops. */
import { agentAdopted, childNotice, ownerCall, putText, sessionCommand, storeAgent, userInput } from '@reprise/agent';
import { type Address, NOTICES, type Value } from '@reprise/contracts';
import { creates, defineApp, defineReducer, memory, openKernelWorld, type World } from '@reprise/kernel';
import { jobAddress, jobReducer, preparePlan, workPrepare } from '@reprise/org';
import { queue } from '@reprise/org/contracts';
import { VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { jobOf, POOL, worker } from './support/office.js';

const SESSION = 'aos.agent/SessionReducer@1';

/** Stands for a session: takes what a session takes, and sends its maker what it is told. */
const obedient = defineReducer({
  name: SESSION,
  state: z.strictObject({ inputs: z.int(), commands: z.int(), refused: z.string() }),
  events: {
    'aos.agent/AgentAdopted@1': creates(agentAdopted),
    'aos.agent/UserInput@1': userInput,
    'aos.agent/HostCommand@1': sessionCommand,
    'test/Notice@1': childNotice,
    'test/Call@1': ownerCall,
    'sys/Reply@1': NOTICES['sys/Reply@1'],
  },
  init: () => ({ inputs: 0, commands: 0, refused: '' }),
  reduce(draft, event, ctx) {
    const maker = ctx.parent ?? ctx.reject('no_maker');
    switch (event.name) {
      case 'aos.agent/AgentAdopted@1':
        if (event.value.input !== undefined) draft.inputs++;
        return;
      case 'aos.agent/UserInput@1':
        if (ctx.address[1].endsWith('/j2')) ctx.reject('session_closed');
        draft.inputs++;
        return;
      case 'aos.agent/HostCommand@1':
        draft.commands++;
        return;
      case 'test/Notice@1':
        return ctx.send(maker, { name: 'aos.agent/ChildNotice@1', value: event.value });
      case 'test/Call@1':
        return ctx.send(maker, { name: 'aos.agent/OwnerCall@1', value: event.value }, { reply: 'refusal' });
      case 'sys/Reply@1':
        draft.refused = event.value.code ?? '';
    }
  },
});

interface Scene {
  readonly world: World;
  readonly clock: VirtualClock;
  job(n: number): Promise<Record<string, Value>>;
  tell(to: Address, name: string, value: unknown): Promise<void>;
}

const used = { steps: 1, tokens_in: 7, tokens_out: 2, micro_money: 0 };
const settled = (session: string) => ({
  session,
  run: 0,
  news: { kind: 'settled', stop: { kind: 'Completed' }, output_ref: null, value_ref: null, tally: used, more: false },
});
const CANCELLED = { ...settled('').news, stop: { kind: 'Cancelled' } };
const POOL_AT: Address = ['flow/Queue@1', POOL];
const cell = (key: string): Address => [SESSION, key];

async function inScene(play: (scene: Scene) => Promise<void>): Promise<void> {
  const clock = new VirtualClock();
  await using world = await openKernelWorld({
    store: memory(),
    clock,
    app: defineApp({ reducers: [jobReducer, queue, obedient], plans: [preparePlan] }),
    adapters: [
      {
        effect: workPrepare,
        name: 'prepare',
        async doExecute({ details }, { content }) {
          const { agents, ...stored } = await storeAgent(content, worker, { main: {} });
          const { grace = stored.config.cancel_grace_ms } = (details ?? {}) as { readonly grace?: number };
          const adopted = { ...stored, config: { ...stored.config, cancel_grace_ms: grace } };
          const message_parts = [{ kind: 'text' as const, text_ref: await putText(content, 'Work.') }];
          const payload = { adopted, agents, message_parts, digest: '0'.repeat(64), resolved_model: 'main' };
          return { status: 'ok', payload: payload as never };
        },
      },
    ],
  });
  const tell = async (to: Address, name: string, value: unknown) => {
    await world.request([to[0], to[1]], { name, value: value as never });
    await clock.settle();
  };
  const job = async (n: number) => (await world.state(jobAddress('d', n))) as Record<string, Value>;
  await play({ world, clock, job, tell });
  expect((await world.verify()).unverified).toBe(0);
}

/** With a grant, a session is made before it is given its input: so one that refuses it is there. */
const grant = { exercise: { may: {} } };

const hire = ({ tell }: Scene, n: number, more: object = {}) =>
  tell(jobAddress('d', n), 'work/Begin@1', jobOf(n, 'count', { pool: null, ...more }));

describe('given a session of an earlier attempt', () => {
  it('notices of that session change nothing but what was spent [WORK-6]', () =>
    inScene(async (scene) => {
      const { tell, job } = scene;
      await hire(scene, 2, { attempts: 2, grant });
      const before = await job(2);
      expect(before).toMatchObject({ status: 'running', attempt: 2, session: 'd/j2~2' });
      await tell(cell('d/j2'), 'test/Notice@1', { ...settled('d/j2'), news: { kind: 'waiting', for: 'ask' } });
      expect(await job(2)).toEqual(before);
      await tell(cell('d/j2'), 'test/Notice@1', settled('d/j2'));
      expect(await job(2)).toEqual({ ...before, tally: used });
      await tell(cell('d/j2~2'), 'test/Notice@1', settled('d/j2~2'));
      expect(await job(2)).toMatchObject({ status: 'ok', tally: { tokens_in: 14 } });
    }));
});

describe('given a call of a session of an earlier attempt', () => {
  it('a session that was replaced is not heard as the one that replaced it [OWN-7]', () =>
    inScene(async (scene) => {
      const { tell, world } = scene;
      await hire(scene, 2, { attempts: 2, grant });
      const call = { session: 'd/j2~2', call_id: 'c', step_epoch: 1, name: 'x', args: {} };
      for (const [from, code] of [
        ['d/j2', 'not_yours'],
        ['d/j2~2', 'no_owner'],
      ] as const) {
        await tell(cell(from), 'test/Call@1', call);
        expect(await world.state(cell(from))).toMatchObject({ refused: code });
      }
    }));
});

describe('given a session that never stops', () => {
  it('the job ends a minute after the time that the session was given [WORK-7]', () =>
    inScene(async (scene) => {
      const { tell, job, clock } = scene;
      await hire(scene, 1, { timeout_ms: 10_000 });
      await clock.advance(10_000);
      expect(await job(1)).toMatchObject({ status: 'running', stopping: 'timeout' });
      const { grace_ms } = await job(1);
      await clock.advance(Number(grace_ms) + 59_999);
      expect(await job(1)).toMatchObject({ status: 'running' });
      await clock.advance(1);
      const ended = await job(1);
      expect(ended).toMatchObject({ status: 'timeout', code: 'timeout' });
      await tell(cell('d/j1'), 'test/Notice@1', settled('d/j1'));
      expect(await job(1)).toEqual({ ...ended, tally: used });
    }));

  it('the pool takes back the slot of a job that outlives its lease, and the job does not free it again [WORK-2]', () =>
    inScene(async (scene) => {
      const { tell, job, clock, world } = scene;
      await tell(POOL_AT, 'flow/OpenQueue@1', { limit: 1, paused: false });
      const stubborn = { pool: POOL, timeout_ms: 10_000, details: { task: 'count', grace: 600_000 } };
      await hire(scene, 1, stubborn);
      await hire(scene, 3, { ...stubborn, timeout_ms: 7_200_000 });
      const running = async () => (await world.table(POOL_AT, 'running')).map(([, row]) => row);
      const first = await running();
      // A lease is ten minutes longer than the time of its job.
      await clock.advance(609_999);
      expect(await running()).toEqual(first);
      expect(await job(1)).toMatchObject({ status: 'running', slot: 'held', stopping: 'timeout' });
      await clock.advance(1);
      expect(await job(1)).toMatchObject({ status: 'running', slot: 'none', stopping: 'timeout', code: 'timeout' });
      expect(await job(3)).toMatchObject({ status: 'running', slot: 'held' });
      const second = await running();
      expect(second).toHaveLength(1);
      expect(second).not.toEqual(first);
      await tell(cell('d/j1'), 'test/Notice@1', { ...settled('d/j1'), news: CANCELLED });
      expect(await job(1)).toMatchObject({ status: 'timeout', code: 'timeout' });
      expect(await running()).toEqual(second);
    }));

  it('a run that completes while it is stopped gives its output', () =>
    inScene(async (scene) => {
      const { tell, job } = scene;
      await hire(scene, 1);
      await tell(jobAddress('d', 1), 'work/Stop@1', { reason: 'not_needed' });
      await tell(cell('d/j1'), 'test/Notice@1', settled('d/j1'));
      expect(await job(1)).toMatchObject({ status: 'ok', code: null });
    }));
});

describe('given events of other senders', () => {
  it('a grant, a result of a plan or a notice that no cell of the job sent is refused', () =>
    inScene(async (scene) => {
      const { tell, job } = scene;
      await hire(scene, 1);
      const before = await job(1);
      for (const [name, value] of [
        ['flow/Granted@1', { item: 'x', value: null, until: null }],
        ['flow/Expired@1', { item: 'x' }],
        ['work/NotPrepared@1', { attempt: 1, code: 'x' }],
        ['aos.agent/ChildNotice@1', settled('d/j1')],
        ['aos.agent/OwnerCall@1', { session: 'd/j1', call_id: 'c', step_epoch: 1, name: 'x', args: {} }],
      ] as const) {
        await expect(tell(jobAddress('d', 1), name, value)).rejects.toThrow('not_yours');
      }
      expect(await job(1)).toEqual(before);
    }));

  it('a call of a session whose job has no owner is refused', () =>
    inScene(async (scene) => {
      const { tell, world } = scene;
      await hire(scene, 1);
      await tell(cell('d/j1'), 'test/Call@1', { session: 'd/j1', call_id: 'c', step_epoch: 1, name: 'x', args: {} });
      expect(await world.state(jobAddress('d', 1))).toMatchObject({ status: 'running' });
    }));
});
