/** What a host asks of a session, and what it is told. */
import { isRepriseError } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/index.js';
import { gate, play } from './scene.js';

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });

describe('a command', () => {
  it('a command returns its result from the journal [SES-11]', async () => {
    const held = gate();
    const steps = [{ after: held.opened, text: '1' }, { text: '2' }, { text: '3' }];
    await play({ agents: [hello], steps }, async ({ world, llm }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      expect(await session.steer('in French', { id: 's1' })).toEqual({ command_id: 's1', status: 'accepted' });
      expect(await session.followUp('then', { id: 'f1' })).toEqual({ command_id: 'f1', status: 'accepted', run: 1 });
      expect(await session.pause({ ifEpoch: 99 })).toMatchObject({ status: 'rejected', code: 'stale_epoch' });
      expect(await session.withdraw('nothing')).toMatchObject({ status: 'rejected', code: 'unknown_command' });
      held.open();
      expect(await run.text()).toBe('2');
      expect(llm.asked[1]?.transcript.slice(-1)).toEqual(['steer: in French']);
      expect(await (await session.run(1))?.text()).toBe('3');
    });
  });

  it('a command sent twice happens once and gives the same answer; with other content it is a conflict [SES-12]', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened, text: '1' }, { text: '2' }] }, async ({ world }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      const first = await session.steer('in French', { id: 's1' });
      expect(await session.steer('in French', { id: 's1' })).toEqual(first);
      expect((await session.state())?.steers).toHaveLength(1);
      await expect(session.steer('in Greek', { id: 's1' })).rejects.toSatisfy((error) =>
        isRepriseError(error, 'request_conflict'),
      );
      held.open();
      await run.result();
    });
  });

  it('command ids of two sessions never collide, whatever their keys and ids are made of [SES-12]', async () => {
    await play({ agents: [hello], steps: [{ text: '1' }, { text: '2' }, { text: '3' }] }, async ({ world }) => {
      const sent = [
        ['team/1', 'm'],
        ['team', '1/m'],
        ['team%2F1', 'm'],
      ] as const;
      for (const [key, id] of sent) await (await world.session(key, hello).send('Hi', { id })).result();
      for (const [key] of sent) expect((await world.session(key, hello).state())?.runs, key).toBe(1);
    });
  });

  it('a command to the key of a future child makes no session in its place [CHILD-1]', async () => {
    await play({ agents: [hello], steps: [] }, async ({ world }) => {
      await expect(world.session('boss.c1', hello).send('Hi')).rejects.toThrow(
        /^invalid_argument: this session key is reserved/,
      );
      expect(await world.session('boss.c1', hello).state()).toBeUndefined();
    });
  });

  it('a command to a session without any input is rejected, and makes no session [SES-11]', async () => {
    await play({ agents: [hello], steps: [] }, async ({ world }) => {
      const session = world.session('me', hello);
      expect(await session.cancel()).toMatchObject({ status: 'rejected', code: 'session_absent' });
      expect(await session.state()).toBeUndefined();
    });
  });

  it('Withdraw takes back a waiting steer and a waiting input', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened, text: '1' }] }, async ({ world }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      await session.steer('in French', { id: 's1' });
      await session.send('more', { id: 'm2' });
      expect(await session.withdraw('s1')).toMatchObject({ status: 'accepted' });
      expect(await session.withdraw('m2')).toMatchObject({ status: 'accepted' });
      held.open();
      expect(await run.text()).toBe('1');
      expect((await session.state())?.queued).toBe(0);
    });
  });

  it('Reconfigure counts from the next step on, and refuses a model that the world does not have [SES-14]', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened, text: '1' }, { text: '2' }] }, async (scene) => {
      const session = scene.world.session('me', hello);
      const run = await session.send('Hi');
      const before = await session.state();
      expect(await session.reconfigure({ model: 'nobody' })).toMatchObject({ code: 'unknown_model' });
      expect(await session.state()).toEqual(before);
      expect(await session.reconfigure({ model: 'other', options: { temperature: 0.5 } })).toMatchObject({
        status: 'accepted',
      });
      held.open();
      await run.result();
      await (await session.send('again')).result();
      expect(scene.llm.asked.map(({ params }) => params.model)).toEqual(['main', 'other']);
      expect(scene.llm.asked[1]?.params.temperature).toBe(0.5);
    });
  });

  it('a raised limit lets the waiting run continue [LIM-2]', async () => {
    const agent = defineAgent({
      name: 'short',
      model: 'main',
      instructions: '',
      limits: { steps: 1, on: 'pause_and_ask' },
      afterAnswer: 'wait',
    });
    await play({ agents: [agent], steps: [{ text: '1' }, { text: '2' }] }, async ({ world, settle }) => {
      const session = world.session('me', agent);
      await session.send('one');
      await settle();
      await session.send('two');
      await settle();
      expect((await session.state())?.waiting?.for).toBe('limit');
      expect(await session.reconfigure({ limits: { steps: 5 } })).toMatchObject({ status: 'accepted' });
      await settle();
      expect((await session.state())?.waiting?.for).toBe('input');
    });
  });

  it('a session can be paused and resumed', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened, text: '1' }] }, async ({ world, settle }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      expect(await session.pause()).toMatchObject({ status: 'accepted' });
      held.open();
      await settle();
      expect((await session.state())?.lifecycle).toBe('Paused');
      expect(await session.resume()).toMatchObject({ status: 'accepted' });
      expect(await run.text()).toBe('1');
    });
  });

  it('a cancel of everything drops the waiting inputs, and returns how many are left', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened }] }, async ({ world }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      await session.send('more');
      expect(await session.cancel({ scope: 'all', reason: 'enough' })).toMatchObject({ still_queued: 0 });
      expect((await run.result()).stop).toEqual({ kind: 'Cancelled' });
      expect((await session.state())?.queued).toBe(0);
    });
  });
});
