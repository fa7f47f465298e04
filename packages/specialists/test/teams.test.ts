/** Several teams in one world: each has its own coordinator, skills, slots and projects. */
import { defineTool } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import type { ProjectCommandName } from '@reprise/specialists';
import { memory, openWorld } from 'reprise';
import { skill, type Team, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { digestOf } from '../../../conformance/team/scene.js';
import { type Delivered, defective } from './support/failing.js';
import { calls, played, says } from './support/roles.js';

const SPAWN = { task: 'Look.', skill: 'worker' };

/** Two teams that both have a skill `worker`, each with a tool of the same name that says whose it is. */
function teamNamed(name: string, options: { readonly slots?: number; readonly memories?: number } = {}): Team {
  const { slots = 3, memories } = options;
  const look = defineTool({
    name: 'Look',
    description: `Looks for ${name}.`,
    args: z.strictObject({}),
    guarantee: 'idempotent',
    run: () => `seen by ${name}`,
  });
  return team({
    name,
    skills: [skill({ name: 'worker', description: `Works for ${name}`, tools: ['Look'], body: `Body of ${name}.` })],
    tools: [look],
    coordinator: { model: 'main', identity: `You coordinate ${name}.` },
    agents: { maxConcurrent: slots },
    ...(memories === undefined ? {} : { memory: { max: memories } }),
  });
}

/** Coordinators spawn for a message that begins with `Go`; workers call their tool and repeat what it says. */
function everyone() {
  return played({
    unknown: (said) => (said.includes('Go') ? [calls('spawn_agent', SPAWN), says('Begun.')] : [says('Noted.')]),
    worker: () => [calls('Look', {}), says('Looked.')],
  });
}

describe('given a world with two teams', () => {
  it('each project works with the coordinator, the skills, the tools and the slots of its own team [SPEC-29]', async () => {
    const { model, asked } = everyone();
    const [dev, shop] = [teamNamed('dev', { slots: 2 }), teamNamed('shop', { slots: 5 })];
    const store = memory();
    await using world = await openWorld({ store, models: { main: model }, parts: [dev, shop] });
    const [a, b] = [world.part(dev).project('a'), world.part(shop).project('b')];
    await Promise.all([a.send('Go.'), b.send('Go.')]);
    expect([(await a.idle({ within: '30s' })).status, (await b.idle({ within: '30s' })).status]).toEqual([
      'done',
      'done',
    ]);
    const workers = asked.filter(({ role }) => role === 'worker');
    for (const name of ['dev', 'shop']) {
      const own = workers.filter(({ request }) => request.system.includes(`Body of ${name}.`));
      expect(own.map(({ request }) => request.last.includes(`seen by ${name}`))).toEqual([false, true]);
      const told = asked.filter(({ request }) => request.system.includes(`You coordinate ${name}.`));
      const other = name === 'dev' ? 'shop' : 'dev';
      expect(told.some(({ request }) => JSON.stringify(request).includes(`Works for ${name}`))).toBe(true);
      expect(told.some(({ request }) => JSON.stringify(request).includes(`Works for ${other}`))).toBe(false);
    }
    const limits = await Promise.all(
      ['dev', 'shop'].map((name) => world.kernel.state(['flow/Queue@1', `specialists/${name}`])),
    );
    expect(limits).toMatchObject([{ limit: 2 }, { limit: 5 }]);
    expect((await world.part(dev).all()).items.map(({ id }) => id)).toEqual(['a']);
    expect((await world.part(shop).all()).items.map(({ id }) => id)).toEqual(['b']);
    expect((await world.verify()).unverified).toBe(0);
  });

  it('a project keeps the team that opened it, and refuses each change that another team makes [SPEC-41]', async () => {
    const { model } = everyone();
    const [dev, shop] = [teamNamed('dev'), teamNamed('shop')];
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev, shop] });
    const [own, other] = [world.part(dev).project('a'), world.part(shop).project('a')];
    await (await own.send('Hello.')).result();
    const { id } = await own.memories.store({ text: 'It is dev’s.', said: 'Keep it.' });
    await own.idle({ within: '30s' });
    const before = await digestOf(world, 'a');
    const refused = { code: 'request_rejected', details: { reason: 'other_team' } };
    const task = { key: 't', title: 'T', context: 'A brief. '.repeat(30), skill: 'worker' };
    await expect(other.send('Hello.')).rejects.toMatchObject(refused);
    await expect(other.plan([task])).rejects.toMatchObject(refused);
    for (const change of [
      other.retry(1),
      other.skip(1, 'no'),
      other.cancel(1),
      other.cancel('all'),
      other.limit({ tokens: 9 }),
    ])
      expect(await change).toMatchObject({ status: 'rejected', code: 'other_team' });
    for (const change of [
      () => other.memories.store({ text: 'It is not.', said: 'Take it.' }),
      () => other.memories.update(id, { text: 'It is ours.' }),
      () => other.memories.reinforce(id),
      () => other.memories.demote(id),
      () => other.memories.archive(id),
      () => other.memories.restore(id),
      () => other.memories.erase(id),
    ])
      await expect(change()).rejects.toMatchObject(refused);
    expect(await digestOf(world, 'a')).toBe(before);
    expect(await own.memories.get(id)).toMatchObject({ text: 'It is dev’s.', score: 0 });
    expect(await own.limit({ tokens: 9_000 })).toMatchObject({ status: 'accepted' });
  });

  it('a project refuses every command that names another team, and takes those that name none [SPEC-41]', async () => {
    const { model } = everyone();
    const [dev, shop] = [teamNamed('dev'), teamNamed('shop')];
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev, shop] });
    await (await world.part(dev).project('a').send('Hello.')).result();
    await world.part(dev).project('a').idle({ within: '30s' });
    const before = await digestOf(world, 'a');
    const ref = (await world.part(dev).project('a').state())?.goal_ref;
    const task = { key: 't', title: 'T', context_ref: ref, context_bytes: 300, pointers: [], skill: 'worker' };
    const commands: Readonly<Record<ProjectCommandName, object>> = {
      'specialists/Say@1': { command_id: 'say', parts: [{ kind: 'text', text_ref: ref }] },
      'specialists/Plan@1': { command_id: 'plan', tasks: [{ ...task, depends_on: [] }] },
      'specialists/Open@1': {},
      'specialists/Remember@1': { operation: { op: 'reinforce', id: 1 }, tag: 'again' },
      'specialists/Retry@1': { command_id: 'retry', task: 1 },
      'specialists/Skip@1': { task: 1, reason: 'no' },
      'specialists/Limit@1': { budget: { unit: 'tokens', amount: 9 } },
      'specialists/Cancel@1': { task: null, reason: 'no' },
    };
    const send = (name: string, value: object) =>
      world.kernel.request(['specialists/Project@1', 'a'], { name, value: value as Value });
    for (const [name, value] of Object.entries(commands))
      await expect(send(name, { ...value, team: 'shop' }), name).rejects.toMatchObject({
        code: 'request_rejected',
        details: { reason: 'other_team' },
      });
    expect(await digestOf(world, 'a')).toBe(before);
    await send('specialists/Limit@1', commands['specialists/Limit@1']);
    expect(await digestOf(world, 'a')).not.toBe(before);
  });

  it('a command that names no team is not taken where there are two, which needs a decision, and is taken where there is one [SPEC-43]', async () => {
    const { model } = everyone();
    const [dev, shop] = [teamNamed('dev'), teamNamed('shop')];
    for (const [parts, team, needs] of [
      [[dev, shop], null, 'team'],
      [[dev], 'dev', null],
    ] as const) {
      await using world = await openWorld({ store: memory(), models: { main: model }, parts: [...parts] });
      await world.kernel.request(['specialists/Project@1', 'a'], { name: 'specialists/Open@1', value: {} });
      const state = await world.part(dev).project('a').idle({ within: '30s' });
      expect(state).toMatchObject({ team, needs });
    }
  });
});

describe('given a world whose policy does not let a project read its team', () => {
  it('messages and plans say that they wait and why, and are taken up when the same message is sent to a world that can read it [SPEC-43]', async () => {
    const { model, asked } = everyone();
    const dev = teamNamed('dev');
    const store = memory();
    const setup = { store, models: { main: model }, parts: [dev] };
    const waits = {
      code: 'run_waiting',
      details: { reason: 'team_not_read', actual: expect.stringMatching(/policy/) },
    };
    const task = { key: 't', title: 'T', context: 'A brief. '.repeat(30), skill: 'worker' };
    await using closed = await openWorld({ ...setup, policy: [{ effect: 'specialists.skills@1', decision: 'deny' }] });
    const waiting = closed.part(dev).project('a');
    await expect(waiting.send('Hello.', { id: 'hello' })).rejects.toMatchObject(waits);
    await expect(waiting.send('Hello.', { id: 'hello' })).rejects.toMatchObject(waits);
    await expect(waiting.plan([task], { id: 'plan' })).rejects.toMatchObject(waits);
    await expect(waiting.retry(1)).rejects.toMatchObject(waits);
    expect(await waiting.idle({ within: '30s' })).toMatchObject({ status: 'needs_decision', needs: 'team' });
    await closed.close();
    expect(asked).toEqual([]);

    // A world that is opened without a policy keeps its own.
    const policy = [{ effect: 'llm.generate@2', decision: 'allow' } as const];
    await using world = await openWorld({ ...setup, policy });
    const project = world.part(dev).project('a');
    const run = await project.send('Hello.', { id: 'hello' });
    expect(await run.text()).toBe('Noted.');
    expect(await project.plan([task], { id: 'plan' })).toEqual({ task_ids: { t: 1 } });
    expect(await project.idle({ within: '30s' })).toMatchObject({
      status: 'open',
      needs: null,
      counts: { pending: 1 },
    });
    expect((await world.verify()).unverified).toBe(0);
  });
});

describe('given a team that bounds the memories of a project', () => {
  it('the store of each of its projects keeps so many live memories', async () => {
    const { model } = everyone();
    const dev = teamNamed('dev', { memories: 3 });
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev] });
    await (await world.part(dev).project('a').send('Hello.')).result();
    expect(await world.kernel.state(['memory/Store@1', 'project:a'])).toMatchObject({ max: 3 });
  });

  it('a bound that no store keeps is refused', () => {
    expect(() => teamNamed('dev', { memories: 0 })).toThrow('memory.max');
  });

  it('a world opens although the pool of a team has failed and the team has other slots by now; the pool stands among the troubles', async () => {
    const { model } = everyone();
    const store = memory();
    const pool = ['flow/Queue@1', 'specialists/dev'] as const;
    const isDefect = ({ reducer, event }: Delivered) => reducer === pool[0] && event !== 'flow/OpenQueue@1';
    const failing = defective(teamNamed('dev', { slots: 2 }), isDefect);
    const first = await openWorld({ store, models: { main: model }, parts: [failing] });
    await (await first.part(failing).project('a').send('Go.')).result();
    await first.pump();
    await first.close();
    const dev = defective(teamNamed('dev', { slots: 5 }), isDefect);
    await using world = await openWorld({ store, models: { main: model }, parts: [dev] });
    expect(await world.trouble()).toMatchObject([{ kind: 'cell_failed', where: [...pool] }]);
  });
});
