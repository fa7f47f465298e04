/** How inputs, runs and commands end, as the handles of a host see it. */
import { memory } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { type AgentEvent, agentEvent, defineAgent, type Run } from '../../src/index.js';
import { all, gate, play } from './scene.js';

const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' });
const OPEN = { name: 'hello', model: 'main', instructions: 'Be brief.', afterAnswer: 'wait' } as const;
const open = defineAgent({ name: 'open', model: 'main', instructions: 'Be brief.', afterAnswer: 'wait' });

/** What each waiting method of a handle comes to. */
async function settled(run: Run): Promise<unknown[]> {
  const seen: AgentEvent[] = [];
  const streamed = (async () => {
    for await (const event of run.stream()) if ('event_seq' in event) seen.push(event);
    return seen.at(-1)?.type;
  })();
  const [result, text, events] = await Promise.allSettled([run.result(), run.text(), all(run.events())]);
  return [
    result.status === 'fulfilled' ? result.value.stop : result.reason,
    text.status === 'fulfilled' ? text.value : text.reason.code,
    events.status === 'fulfilled' ? events.value.at(-1)?.type : events.reason,
    await streamed,
  ];
}

const never = (dropped: string) => [{ kind: 'Cancelled', dropped }, 'run_failed', 'lifecycle', 'lifecycle'];

describe('the handle of an input that waits', () => {
  it('the handle of a withdrawn input settles, also when taken again, by number and after a restart [SES-26]', async () => {
    const held = gate();
    const steps = [{ after: held.opened, text: '1' }];
    const store = memory();
    await play({ agents: [hello], steps, store, goesOn: true }, async ({ world }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      const queued = await session.send('more', { id: 'm2' });
      await session.withdraw('m2');
      expect(await settled(queued)).toEqual(never('withdrawn'));
      held.open();
      expect(await run.text()).toBe('1');
    });
    await play({ agents: [hello], steps: [], store }, async ({ world }) => {
      const session = world.session('me', hello);
      expect(await settled(await session.send('more', { id: 'm2' }))).toEqual(never('withdrawn'));
      expect(await settled((await session.run(1)) as Run)).toEqual(never('withdrawn'));
      expect((await all(session.events({ follow: false }))).filter((event) => 'stop' in event)).toHaveLength(2);
    });
  });

  it('the handle of a waiting input settles when everything is cancelled, when the session closes, and when it is cancelled itself [SES-26]', async () => {
    const held = gate();
    const steps = [{ after: held.opened }, { after: held.opened }];
    await play({ agents: [hello], steps }, async ({ world }) => {
      const session = world.session('me', hello);
      const first = await session.send('Hi');
      const own = await session.send('one');
      await own.cancel({ reason: 'no need' });
      expect(await settled(own)).toEqual(never('withdrawn'));
      const two = await session.send('two');
      await session.cancel({ scope: 'all' });
      expect(await settled(two)).toEqual(never('cancelled'));
      expect((await first.result()).stop).toEqual({ kind: 'Cancelled' });
      const third = await session.send('three');
      const four = await session.send('four');
      await session.close();
      expect(await settled(four)).toEqual(never('closed'));
      expect((await third.result()).stop).toEqual({ kind: 'Cancelled' });
      const seen = await all(session.events({ follow: false }));
      for (const event of seen) expect(agentEvent.safeParse(event).error, event.type).toBeUndefined();
      const ended = seen.flatMap((event) => ('stop' in event ? [event.run_id] : []));
      expect([...ended].sort()).toEqual(['me/r0', 'me/r1', 'me/r2', 'me/r3', 'me/r4']);
      const row = (await world.views()).view((await import('../../src/index.js')).runs);
      expect(await row.get(['me', 4])).toMatchObject({ status: 'Cancelled', stop: { dropped: 'closed' } });
    });
  });

  it('the handle of a waiting input is that of the run which answers it, also when taken again and after a restart [SES-27]', async () => {
    const held = gate();
    const store = memory();
    const steps = [{ after: held.opened }, { text: 'two' }];
    await play({ agents: [open], steps, store, goesOn: true }, async ({ world }) => {
      const session = world.session('me', open);
      const first = await session.send('one', { id: 'one' });
      const second = await session.send('two', { id: 'two' });
      await session.cancel();
      expect((await first.result()).stop).toEqual({ kind: 'Cancelled' });
      await session.resume();
      await world.pump();
      const third = (await session.send('two', { id: 'two' })) as Run;
      await session.close();
      for (const run of [second, third]) expect(await run.result()).toMatchObject({ text: 'two' });
    });
    await play({ agents: [open], steps: [], store }, async ({ world }) => {
      const session = world.session('me', open);
      const again = await session.send('two', { id: 'two' });
      expect(await again.result()).toMatchObject({ text: 'two', stop: { kind: 'Cancelled' } });
      expect((await all(again.events())).filter((event) => 'stop' in event).map(({ run_id }) => run_id)).toEqual([
        'me/r1',
      ]);
      const first = await session.send('one', { id: 'one' });
      expect(await first.result()).toMatchObject({ text: '', stop: { kind: 'Cancelled' } });
    });
  });

  it('the handle of a waiting input is that of the run which takes it as a turn, also by the number of the run that never began [SES-27]', async () => {
    const held = gate();
    const store = memory();
    const again = defineAgent({ ...OPEN, adopt: 'next_step' });
    await play({ agents: [hello], steps: [{ after: held.opened }], store, goesOn: true }, async ({ world }) => {
      const session = world.session('me', hello);
      await session.send('one', { id: 'one' });
      expect((await session.send('two', { id: 'two' })).number).toBe(1);
    });
    const steps = [{ after: held.opened, text: '1' }, { text: '2' }, { text: '3' }];
    await play({ agents: [again], steps, store }, async ({ world }) => {
      const session = world.session('me', again);
      const early = (await session.run(1)) as Run;
      await session.send('three', { id: 'three' });
      held.open();
      await world.pump();
      const late = (await session.run(1)) as Run;
      await late.cancel();
      for (const run of [early, late, await session.send('two', { id: 'two' })]) {
        expect(await run.result()).toMatchObject({ stop: { kind: 'Cancelled' } });
        expect((await all(run.events())).at(-1)).toMatchObject({ type: 'lifecycle', run_id: 'me/r0' });
      }
      const row = (await world.views()).view((await import('../../src/index.js')).runs);
      expect([(await row.get(['me', 0]))?.status, (await row.get(['me', 1]))?.status]).toEqual(['Cancelled', 'Moved']);
    });
  });

  it('the handle of an input that was to join a run settles alone when that run continues [SES-26]', async () => {
    const held = gate();
    await play({ agents: [open], steps: [{ after: held.opened, text: '1' }, { text: '3' }] }, async ({ world }) => {
      const session = world.session('me', open);
      await session.send('one');
      const second = await session.send('two', { id: 'two' });
      const third = await session.send('three', { id: 'three' });
      await second.cancel();
      expect(await settled(second)).toEqual([
        { kind: 'Cancelled', dropped: 'withdrawn' },
        'run_failed',
        'input.dropped',
        'input.dropped',
      ]);
      held.open();
      await world.pump();
      await third.cancel();
      expect(await third.result()).toMatchObject({ text: '3', stop: { kind: 'Cancelled' } });
    });
  });
});

describe('the events of commands', () => {
  it('the events of commands state once how each ended, where in the run, and why a run was cancelled [SES-11, EVT-2]', async () => {
    const held = gate();
    await play({ agents: [hello], steps: [{ after: held.opened }] }, async ({ world }) => {
      const session = world.session('me', hello);
      const run = await session.send('Hi');
      await session.steer('in French', { id: 's' });
      await session.reconfigure({ options: { temperature: 0 } }, { id: 'r' });
      await session.cancel({ reason: 'wrong customer', id: 'c' });
      await run.result();
      const seen = await all(session.events({ follow: false }));
      const ends = seen.flatMap((event) =>
        event.type === 'command.applied' || event.type === 'command.dropped'
          ? [[event.type, event.command, event.command_id, event.step_id]]
          : [],
      );
      expect(ends).toEqual([
        ['command.applied', 'Reconfigure', 'r', 'me/r0/t1/s1'],
        ['command.applied', 'Cancel', 'c', 'me/r0/t1/s1'],
        ['command.dropped', 'Steer', 's', 'me/r0/t1/s1'],
      ]);
      const accepted = seen.filter((event) => event.type === 'command.accepted');
      expect(accepted.at(-1)).toMatchObject({ command: 'Cancel', reason: 'wrong customer', run_id: 'me/r0' });
      const shown = await all(session.events({ follow: false, channel: 'model' }));
      expect(JSON.stringify(shown)).not.toContain('wrong customer');
      expect(JSON.stringify(shown)).not.toContain('reason_ref');
    });
  });
});
