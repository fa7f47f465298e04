/** What sessions say that they wait for: a person, input, a limit, the app, the end of a pause, their children. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { deferred, defineAgent, defineTool, sessionWaits } from '../../src/index.js';
import { teams } from '../parts/team.js';
import { inquire, pay } from './asking-tools.js';
import { play } from './scene.js';

const args = z.strictObject({});
const order = defineTool({ name: 'order', description: 'Orders.', args, run: () => deferred() });
const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Help.', tools: [pay, inquire, order] });
const calls = (tool: string) => ({ calls: [{ id: 'c1', tool }] });
const done = { text: 'Done.' };

describe('what a session waits for', () => {
  it('a session that waits for an approval says so, and waits for nothing once it was given [SES-39]', () =>
    play({ agents: [clerk], steps: [calls('pay'), done] }, async ({ world, settle }) => {
      const session = world.session('s', clerk);
      expect(await session.waits()).toEqual([]);
      const run = await session.send('Pay.');
      await settle();
      expect(await session.waits()).toEqual([{ kind: 'approval', session: 's' }]);
      const [item] = await world.pending();
      await world.decide(item?.id ?? '', { approve: true });
      await run.result();
      expect(await session.waits()).toEqual([]);
    }));

  it('a session whose tool asked a person says that it waits for a person [SES-39]', () =>
    play({ agents: [clerk], steps: [calls('inquire'), done] }, async ({ world }) => {
      const run = await world.session('s', clerk).send('Ask.');
      await run.endedOrWaiting();
      expect(await world.session('s', clerk).waits()).toEqual([{ kind: 'person', session: 's' }]);
      const [item] = await world.pending();
      await world.answer(item?.id ?? '', 'that one');
      expect((await run.result()).text).toBe('Done.');
    }));

  it('a session that waits for its next message says so, and until when where that ends by itself [SES-39]', async () => {
    const chatty = defineAgent({ name: 'chatty', model: 'main', instructions: 'Talk.', afterAnswer: 'wait' });
    const brief = defineAgent({ name: 'brief', model: 'main', instructions: 'Talk.', afterAnswer: { wait: '1h' } });
    await play({ agents: [chatty, brief], steps: [done, done] }, async ({ world, settle }) => {
      for (const [key, agent] of [
        ['a', chatty],
        ['b', brief],
      ] as const) {
        await world.session(key, agent).send('Hello');
        await settle();
      }
      const until = (await world.session('b', brief).state())?.waiting?.until;
      expect(until).toBeGreaterThan(0);
      expect(await world.session('a', chatty).waits()).toEqual([{ kind: 'input', session: 'a' }]);
      expect(await world.session('b', brief).waits()).toEqual([{ kind: 'input', session: 'b', until }]);
    });
  });

  it('a session that reached a limit says that it waits for another one [SES-39]', async () => {
    const look = defineTool({ name: 'look', description: 'Looks.', args, run: () => 'Seen.' });
    const agent = defineAgent({
      ...{ name: 'limited', model: 'main', instructions: 'Help.', tools: [look] },
      limits: { steps: 1, on: 'pause_and_ask' },
    });
    await play({ agents: [agent], steps: [calls('look'), done] }, async ({ world, settle }) => {
      const session = world.session('s', agent);
      await session.send('Look.');
      await settle();
      expect(await session.waits()).toEqual([{ kind: 'limit', session: 's' }]);
      await session.reconfigure({ limits: { steps: 5 } });
      await settle();
      expect(await session.waits()).toEqual([]);
    });
  });

  it('a session whose call another system finishes says that it waits for a person [SES-39]', () =>
    play({ agents: [clerk], steps: [calls('order'), done] }, async ({ world, settle }) => {
      const session = world.session('s', clerk);
      await session.send('Order.');
      await settle();
      expect((await world.kernel.pending()).map(({ kind }) => kind)).toEqual(['deferred']);
      expect(await session.waits()).toEqual([{ kind: 'person', session: 's' }]);
      await session.cancel();
      expect(await session.waits()).toEqual([]);
    }));

  it('a session that is paused, and one whose inputs wait behind a run that failed, wait for a resume [SES-39]', () => {
    const failed = { outcome: { status: 'error', code: 'provider_error_terminal/auth', retryable: false } } as const;
    return play({ agents: [clerk], steps: [calls('pay'), failed, done] }, async ({ world, settle }) => {
      const session = world.session('s', clerk);
      await session.send('Pay.');
      await session.send('And then?');
      await settle();
      await session.pause();
      expect(await session.waits()).toEqual([{ kind: 'pause', session: 's' }]);
      await session.resume();
      const [item] = await world.pending();
      await world.decide(item?.id ?? '', { approve: true });
      await settle();
      expect((await session.state())?.lifecycle).toBe('Failed');
      expect(await session.waits()).toEqual([{ kind: 'pause', session: 's' }]);
      await session.resume();
      await settle();
      expect(await session.waits()).toEqual([]);
    });
  });

  it('a session that waits for its children says for which, and what each of them waits for [SES-39]', async () => {
    const lead = defineAgent({ name: 'lead', model: 'main', instructions: 'Lead.', spawns: [clerk] });
    const steps = [
      {
        calls: [
          { id: 's', tool: 'spawn_agent', args: { agent: 'clerk', task: 'Pay.' } },
          { id: 'w', tool: 'wait_agents', args: { children: ['c1'] } },
        ],
      },
      calls('pay'),
    ];
    await play({ agents: [lead, clerk], steps }, async ({ world, settle }) => {
      await world.session('b', lead).send('Go');
      await settle();
      expect(await world.session('b', lead).waits()).toEqual([
        { kind: 'children', session: 'b', on: ['b.c1'] },
        { kind: 'approval', session: 'b.c1' },
      ]);
    });
  });

  it('a session whose owner asks another party says that it waits for the app [SES-39]', async () => {
    const part = teams();
    const steps = [{ calls: [{ id: 'c1', tool: 'ask_people', args: { text: 'May I?' } }] }, done];
    await play({ agents: [], parts: [part], steps }, async ({ world, settle }) => {
      await world.part(part).start('Go');
      await settle();
      const { items } = await world.sessions();
      const key = items[0]?.key ?? '';
      expect(await sessionWaits(world.kernel, key)).toEqual([{ kind: 'app', session: key }]);
    });
  });
});
