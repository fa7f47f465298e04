/** Runs that wait for people, as their sender sees them. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineAgent, type EndedOrWaiting, type Outcome, type Pending, type Waiting } from '../../src/index.js';
import { inquire, pay } from './asking-tools.js';
import { gate, play } from './scene.js';

const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Help.', tools: [pay, inquire] });
const payment = { calls: [{ id: 'c1', tool: 'pay' }] };

/** The item that a run waits for. */
function itemOf(now: EndedOrWaiting<unknown>): Pending {
  const [item] = now.status === 'waiting' ? now.pending : [];
  if (item === undefined) throw new Error(`the run ${now.status} without an item`);
  return item;
}

describe('a run that waits', () => {
  it('a run that waits for an approval says so with the item, and its end follows the decision', async () => {
    await play({ agents: [clerk], steps: [payment, { text: 'Done.' }] }, async ({ world }) => {
      const run = await world.session('a', clerk).send('Pay.');
      const now = await run.endedOrWaiting();
      expectTypeOf(now).toEqualTypeOf<({ readonly status: 'ended' } & Outcome<string>) | Waiting>();
      expect(now).toMatchObject({ status: 'waiting', for: 'approval', session: 'a', until: null });
      expect(itemOf(now)).toMatchObject({ tool: 'pay', kind: 'approval' });
      expect(await run.endedOrWaiting()).toEqual(now);
      await world.decide(itemOf(now), { approve: true });
      expect(await run.endedOrWaiting()).toMatchObject({ status: 'ended', text: 'Done.', stop: { kind: 'Completed' } });
    });
  });

  it('a run that waits for an answer says so with the question', async () => {
    const steps = [{ calls: [{ id: 'c1', tool: 'inquire' }] }, { text: 'Done.' }];
    await play({ agents: [clerk], steps }, async ({ world }) => {
      const run = await world.session('a', clerk).send('Ask.');
      const now = await run.endedOrWaiting();
      expect(now).toMatchObject({ status: 'waiting', for: 'ask' });
      expect(itemOf(now).question?.question).toBe('Which one?');
      await world.answer(itemOf(now), 'that one');
      expect((await run.result()).text).toBe('Done.');
    });
  });

  it('a run that waits for its next message, and one that is paused, say so', async () => {
    const chatty = defineAgent({ name: 'chatty', model: 'main', instructions: 'Talk.', afterAnswer: 'wait' });
    await play({ agents: [chatty], steps: [{ text: 'Hi.' }, { text: 'Bye.' }] }, async ({ world }) => {
      const session = world.session('a', chatty);
      const run = await session.send('Hello');
      expect(await run.endedOrWaiting()).toMatchObject({ status: 'waiting', for: 'input', pending: [] });
      await session.pause();
      expect(await run.endedOrWaiting()).toMatchObject({ status: 'waiting', for: 'resume', pending: [] });
      await session.resume();
      await session.cancel();
      expect(await run.endedOrWaiting()).toMatchObject({ status: 'ended', stop: { kind: 'Cancelled' } });
    });
  });

  it('a run behind one that waits, or behind one that failed, waits too', async () => {
    const failed = { outcome: { status: 'error', code: 'provider_error_terminal/auth', retryable: false } } as const;
    await play({ agents: [clerk], steps: [payment, failed, { text: 'Done.' }] }, async ({ world }) => {
      const session = world.session('a', clerk);
      const first = await session.send('Pay.');
      const second = await session.send('And then?');
      const now = await second.endedOrWaiting();
      expect(now).toMatchObject({ status: 'waiting', for: 'approval' });
      await world.decide(itemOf(now), { approve: true });
      expect(await first.endedOrWaiting()).toMatchObject({ status: 'ended', stop: { kind: 'Failed' } });
      expect(await second.endedOrWaiting()).toMatchObject({ status: 'waiting', for: 'resume' });
      await session.resume();
      expect(await second.text()).toBe('Done.');
    });
  });

  it('a run whose children all wait for people waits for the same, and works while one of them works', async () => {
    const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead.', spawns: [clerk] });
    const { opened, open } = gate();
    const spawn = (id: string) => ({ id, tool: 'spawn_agent', args: { agent: 'clerk', task: 'Pay.' } });
    const wait = { id: 'w', tool: 'wait_agents', args: { children: ['c1', 'c2'] } };
    const steps = [{ calls: [spawn('s1'), spawn('s2'), wait] }, payment, { ...payment, after: opened }];
    await play({ agents: [boss], steps }, async ({ world }) => {
      const run = await world.session('b', boss).send('Go.');
      let now: Waiting | undefined;
      const waiting = run.endedOrWaiting().then((found) => {
        if (found.status === 'waiting') now = found;
      });
      while ((await world.pending()).length === 0) await new Promise(setImmediate);
      expect(now).toBeUndefined();
      open();
      await waiting;
      expect(now).toMatchObject({ for: 'approval' });
      expect(now?.pending.map(({ tool }) => tool)).toEqual(['pay', 'pay']);
      await world.session('b', boss).cancel();
      expect((await run.result()).stop.kind).toBe('Cancelled');
    });
  });

  it('text waits through an approval that is decided in the same process', async () => {
    await play({ agents: [clerk], steps: [payment, { text: 'Done.' }] }, async ({ world }) => {
      const run = await world.session('a', clerk).send('Pay.');
      const text = run.text();
      await world.decide(itemOf(await run.endedOrWaiting()), { approve: true });
      expect(await text).toBe('Done.');
    });
  });
});

describe('a run whose world is closed', () => {
  it('the error shows where the app waited for the run, and why it may have been closed', async () => {
    let error: unknown;
    await play({ agents: [clerk], steps: [payment], goesOn: true }, async ({ world }) => {
      const run = await world.session('a', clerk).send('Pay.');
      const waited = (function inTheApp() {
        return run.text();
      })();
      await run.endedOrWaiting();
      await world.close();
      error = await waited.catch((thrown: unknown) => thrown);
    });
    expect(String(error)).toContain('world_closed: the world was closed before run a/r0 ended');
    expect(String(error)).toContain('write `return await run.text()`');
    expect((error as Error).stack).toContain('inTheApp');
  });
});
