/** Tools of the catalog that a cell of the app answers: a project passes their calls on, and the answers back. */
import { type AgentWorld, defineOwnerTool } from '@reprise/agent';
import { type OwnerCall, ownerCall } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { creates, defineReducer } from '@reprise/kernel/define';
import { memory, openWorld } from 'reprise';
import { skill, team } from 'reprise/specialists';
import { describe, expect, it } from 'vitest';
import * as zod from 'zod';
import { DESK, officeOf } from '../../agent/test/tools/desk.js';
import { COORDINATOR, calls, IDENTITY, played, says } from './support/roles.js';

const PROJECT: Address = ['specialists/Project@1', 'p'];

const price = defineOwnerTool({
  name: 'price',
  description: 'Asks the desk for a price.',
  args: zod.strictObject({ item: zod.string() }),
});

/** Answers calls about tea, refuses those about gold, and leaves all others open. */
const desk = defineReducer({
  name: DESK[0],
  state: z.strictObject({ calls: z.array(z.string()) }),
  events: { 'test/Open@1': creates(z.strictObject({})), 'aos.agent/OwnerCall@1': ownerCall },
  init: () => ({ calls: [] }),
  reduce(draft, event, ctx) {
    if (event.name === 'test/Open@1') return;
    const { session, call_id, step_epoch, name, args } = event.value as OwnerCall;
    const { item } = args as { readonly item: string };
    draft.calls.push(`${name} ${item}`);
    if (item === 'gold') return ctx.reject('not_sold');
    const [reducer, key] = ctx.sender ?? [];
    if (item !== 'tea' || reducer === undefined || key === undefined) return;
    const value = { session, call_id, step_epoch, value: '3 dollars', refs: [], is_error: false };
    ctx.send([reducer, key], { name: 'aos.agent/OwnerAnswer@1', value });
  },
});

const office = officeOf(desk, PROJECT[0]);

/** Lets a specialist ask for a price, and gives what it was answered. */
async function ask(item: string) {
  const { model, asked } = played({
    [COORDINATOR]: (said) =>
      said.includes('Go.')
        ? [calls('spawn_agent', { task: 'Ask.', skill: 'buyer' }), says('Begun.')]
        : [says('Noted.')],
    buyer: () => [calls('price', { item }), says('Asked.')],
  });
  const dev = team({
    name: 'dev',
    skills: [skill({ name: 'buyer', description: 'Buys', tools: ['price'], body: 'Buy.' })],
    tools: [price],
    coordinator: { model: 'main', identity: IDENTITY },
    calls: DESK,
  });
  const world = await openWorld({ store: memory(), models: { main: model }, parts: [dev, office] });
  await world.kernel.request(DESK, { name: 'test/Open@1', value: {} });
  const project = world.part(dev).project('p');
  await (await project.send('Go.')).result();
  const answers = () => asked.filter(({ role }) => role === 'buyer').map(({ request }) => request.last);
  const passed = () => world.kernel.table(PROJECT, 'passed');
  const desk = async () => ((await world.kernel.state(DESK)) as { readonly calls: readonly string[] }).calls;
  return { world, project, answers, passed, desk };
}

/** Waits until the desk has heard of a call. */
async function heardAt({ kernel }: AgentWorld): Promise<void> {
  for await (const { records } of kernel.frames(0))
    for (const record of records)
      if (record.kind === 'event' && record.to[0] === DESK[0] && record.event.name === 'aos.agent/OwnerCall@1') return;
}

describe('given a tool that a cell of the app answers', () => {
  it('a call of a specialist reaches the cell, and its answer the specialist [OWN-10]', async () => {
    const { world, project, answers, passed, desk } = await ask('tea');
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(answers()[1]).toContain('3 dollars');
    expect([await desk(), await passed()]).toEqual([['price tea'], []]);
    await world.close();
  });

  it('a call that the cell refuses comes back as an error', async () => {
    const { world, project, answers, passed, desk } = await ask('gold');
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(answers()[1]).toContain('unknown_tool');
    expect([await desk(), await passed()]).toEqual([[], []]);
    await world.close();
  });

  it('a call that has no answer when its job is stopped is forgotten', async () => {
    const { world, project, passed } = await ask('silver');
    await heardAt(world);
    const [[at] = ['']] = await passed();
    expect(at).toMatch(/^[0-9a-f]{32} [0-9a-f]{32}$/);
    await world.kernel.request(['work/Job@1', 'p/j1'], { name: 'work/Stop@1', value: { reason: 'not_needed' } });
    expect((await project.idle({ within: '30s' })).status).toBe('done');
    expect(await project.results()).toMatchObject([{ status: 'cancelled' }]);
    expect(await passed()).toEqual([]);
    await world.close();
  });
});
