/** Several teams in one world: each has its own coordinator, skills, slots and projects. */
import { defineTool } from '@reprise/agent';
import { memory, openWorld } from 'reprise';
import { defineTeam, skill, type Team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
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
  return defineTeam(name, {
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

  it('a project keeps the team that opened it, and another team is refused', async () => {
    const { model } = everyone();
    const [dev, shop] = [teamNamed('dev'), teamNamed('shop')];
    await using world = await openWorld({ store: memory(), models: { main: model }, parts: [dev, shop] });
    await (await world.part(dev).project('a').send('Hello.')).result();
    await expect(world.part(shop).project('a').send('Hello.')).rejects.toMatchObject({
      code: 'request_rejected',
      details: { reason: 'other_team' },
    });
  });

  it('a message that names no team is not taken where there are two, and is where there is one', async () => {
    const { model } = everyone();
    const [dev, shop] = [teamNamed('dev'), teamNamed('shop')];
    for (const [parts, status] of [
      [[dev, shop], null],
      [[dev], 'dev'],
    ] as const) {
      await using world = await openWorld({ store: memory(), models: { main: model }, parts: [...parts] });
      await world.kernel.request(['specialists/Project@1', 'a'], { name: 'specialists/Open@1', value: {} });
      const state = await world.part(dev).project('a').idle({ within: '30s' });
      expect(state.team).toBe(status);
    }
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
});
