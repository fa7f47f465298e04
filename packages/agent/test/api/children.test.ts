/** Sessions that a host or a model makes below another. */
import { isRepriseError } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineAgent, defineTool } from '../../src/index.js';
import { all, gate, play } from './scene.js';

const scout = defineAgent({
  name: 'scout',
  model: 'other',
  instructions: 'Scout.',
  returns: z.strictObject({ score: z.int() }),
});
const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead.' });

describe('a child that the host spawns', () => {
  it('a child that the app spawns needs no run above it, has a run of its own, and returns its agent’s value', async () => {
    await play({ agents: [boss, scout], steps: [{ text: '{"score":3}' }] }, async ({ world, llm }) => {
      const session = world.session('b', boss, { labels: { tenant: 'acme' } });
      const run = await session.spawn(scout, 'item 1', { budget: { tokens: 500, wall: '5m' } });
      const { value } = await run.result();
      expect(value).toEqual({ score: 3 });
      expect(value?.score.toFixed(0)).toBe('3'); // typed by what the scout returns
      expect(run.id).toBe('b.c1/r0');
      expect(llm.asked[0]?.params).toMatchObject({
        model: 'other',
        session: { key: 'b.c1', labels: { tenant: 'acme' } },
      });
      const child = await world.session('b.c1', scout).state();
      expect(child?.config.limits).toMatchObject({ max_tokens: 500, max_wall_ms: 300_000 });
      expect(child?.depth).toBe(1);
      expect((await session.state())?.children).toBe(1);
    });
  });

  it('a child has no rights that the session above it may not grant [CHILD-2]', async () => {
    let ran = 0;
    const echo = defineTool({
      name: 'echo',
      description: 'Echoes.',
      args: z.strictObject({}),
      run: () => `ran ${++ran}`,
    });
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [echo] });
    const calling = { calls: [{ id: 'a', tool: 'echo', args: {} }] };
    const steps = [{ text: 'Well.' }, calling, { text: 'Done.' }, calling, { text: 'Denied.' }];
    await play({ agents: [boss, worker], steps }, async ({ world, llm }) => {
      const session = world.session('b', boss);
      await (await session.send('Be there.')).result();
      expect((await (await session.spawn(worker, 'item 1')).result()).text).toBe('Done.');
      await world.kernel.command('sys/SetRights@1', {
        holder: 'cell:aos.agent/SessionReducer@1/b',
        grant: { may: { tool: [] } },
      });
      const run = await session.spawn(worker, 'item 2');
      expect((await run.result()).text).toBe('Denied.');
      expect(llm.asked.at(-1)?.transcript.at(-1)).toBe('error a: denied');
      expect(ran).toBe(1);
    });
  });

  it('a spawn with a known id makes no second child [CHILD-1]', async () => {
    await play({ agents: [boss, scout], steps: [{ text: '{"score":3}' }] }, async ({ world }) => {
      const session = world.session('b', boss);
      const first = await session.spawn(scout, 'item 1', { id: 'x' });
      const again = await session.spawn(scout, 'item 1', { id: 'x' });
      expect(again.id).toBe(first.id);
      await first.result();
    });
  });

  it('a child ends when the session above it is closed [CHILD-8]', async () => {
    const held = gate();
    await play({ agents: [boss, scout], steps: [{ after: held.opened }] }, async ({ world }) => {
      const session = world.session('b', boss);
      const run = await session.spawn(scout, 'item 1');
      await session.close();
      expect((await run.result()).stop).toEqual({ kind: 'Cancelled' });
      await expect(session.spawn(scout, 'item 2')).rejects.toSatisfy(
        (error) => isRepriseError(error, 'request_rejected') && error.details.reason === 'session_closed',
      );
    });
  });

  it('a closed child frees its place', async () => {
    await play({ agents: [boss, scout], steps: [{ text: '{"score":3}' }] }, async ({ world }) => {
      const session = world.session('b', boss);
      await (await session.spawn(scout, 'item 1')).result();
      await world.session('b.c1', scout).close();
      expect((await session.state())?.children).toBe(0);
    });
  });
});

describe('a child that a model spawns', () => {
  const lead = defineAgent({
    name: 'lead',
    model: 'main',
    instructions: 'Lead.',
    spawns: [scout],
  });
  const steps = [
    { calls: [{ id: 's', tool: 'spawn_agent', args: { agent: 'scout', task: 'item 1' } }] },
    { text: '{"score":3}' },
    { text: 'Done.' },
  ];

  it('a child that a model spawns shows its events in those of the tree, under the run at the root [EVT-2]', async () => {
    await play({ agents: [lead], steps }, async ({ world, settle }) => {
      const run = await world.session('b', lead).send('Go');
      await run.result();
      await settle();
      const tree = await all(run.events({ tree: true }));
      const childs = tree.filter(({ session_id }) => session_id === 'b.c1');
      expect(childs.map(({ type }) => type)).toContain('input.accepted');
      expect(new Set(tree.map(({ correlation_id }) => correlation_id))).toEqual(new Set(['b/r0']));
      expect(tree.find(({ type }) => type === 'child.spawned')).toMatchObject({ child: 'c1', session: 'b.c1' });
      const own = await all(run.events());
      expect(own.every(({ session_id }) => session_id === 'b')).toBe(true);
      const first = await world.session('b.c1', scout).run(0);
      const alone = first === undefined ? [] : await all(first.events());
      expect(alone[0]).toMatchObject({ correlation_id: 'b/r0', run_id: 'b.c1/r0' });
    });
  });

  it('a child shows its events under a later run that sends it input, and the tree resumes behind every event [EVT-3]', async () => {
    const again = [
      { calls: [{ id: 't', tool: 'send_input', args: { child: 'c1', text: 'item 2' } }] },
      { text: '{"score":4}' },
      { text: '{"score":4}' },
    ];
    await play({ agents: [lead], steps: [...steps, ...again] }, async ({ world, settle }) => {
      const session = world.session('b', lead);
      await (await session.send('Go')).result();
      await settle();
      const run = await session.send('Once more');
      await run.result();
      await settle();
      const ofRun = await all(run.events({ tree: true }));
      expect(ofRun.filter(({ run_id }) => run_id === 'b.c1/r1').map(({ type }) => type)).toContain('input.accepted');
      const whole = await all(session.events({ tree: true, follow: false }));
      for (const [i, { event_seq: after }] of whole.entries()) {
        const rest = await all(session.events({ tree: true, follow: false, after }));
        expect(rest, `after ${after}`).toEqual(whole.slice(i + 1));
        const restOfRun = ofRun.slice(ofRun.findIndex(({ event_seq }) => event_seq === after) + 1);
        if (restOfRun.length < ofRun.length) expect(await all(run.events({ tree: true, after }))).toEqual(restOfRun);
      }
    });
  });

  it('a spawned child stands in the tree of sessions', async () => {
    await play({ agents: [lead], steps }, async ({ world, settle }) => {
      await (await world.session('b', lead).send('Go')).result();
      await settle();
      expect(await world.children('b')).toMatchObject([{ session: 'b.c1', child: 'c1', agent: 'scout' }]);
    });
  });
});
