/** What agents below a held maker get, when the cell between them and who holds it does not know of the hold. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, agentWith, hangingTool, openOffice } from './support/office.js';

const NOTE = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' } as const;
const FIND = { query: 'Found', groups: ['crew'] } as const;

/** Ann made `first`, which made `maker`, which made `agent`. The cell of `first` has failed, and Ann narrows it. */
async function held(narrowed: object) {
  const scene = await openOffice({ failing: true });
  const ann = await scene.office.human('ann');
  const first = scene.office.entity(await agentOf(ann));
  const maker = scene.office.entity(await agentOf(first));
  const agent = scene.office.entity(await agentOf(maker));
  await scene.office.group('crew').open({ owner: 'ann' });
  await scene.office.group('crew').join('ann', 'owner');
  await failEntity(scene.world, first.id);
  await ann.capabilities(first.id, { capabilities: narrowed });
  await scene.office.group('crew').join(agent.id);
  const rights = () => scene.world.kernel.rights(`cell:society/Entity@1/${agent.id}`);
  return { scene, ann, first, maker, agent, rights, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

describe('given an agent that gains a group below a maker whose own maker has failed and is held to less', () => {
  it('the agent has at once what the hold does not touch [SOC-102]', async () => {
    await using there = await held({ tools: ['memory_*'] });
    expect((await there.agent.answerTo('memory_write_warm', NOTE)).value).toMatchObject({ state: 'live' });
    expect((await there.agent.answerTo('agent_list', {})).value).toMatchObject({ error: 'capability_denied' });
  });

  it('the agent has at once what the hold leaves of what it touches, and no more [SOC-102] [GATE-37]', async () => {
    await using there = await held({ memory_write: { layers: ['l2'], groups: ['other'], visibility: ['group'] } });
    const { value } = await there.agent.answerTo('memory_write_warm', NOTE);
    expect(value).toEqual({ error: 'capability_denied', detail: 'visibility' });
    const { may } = (await there.rights()).effective?.exercise ?? { may: {} };
    expect(may.mem_read).toContain('group:crew');
    expect(may.mem_write ?? []).not.toContain('group:crew');
    expect((await there.agent.answerTo('memory_search', FIND)).value).toMatchObject({ withheld: 0 });
    expect((await there.scene.world.verify()).unverified).toBe(0);
  });

  it('the agent has the rest from its first call on after the hold was lifted [SOC-102]', async () => {
    await using there = await held({ memory_write: { layers: ['l2'], groups: ['other'], visibility: ['group'] } });
    await there.agent.answerTo('memory_write_warm', NOTE);
    const [hold] =
      (await there.scene.world.kernel.rights(`cell:society/Entity@1/${there.first.id}`)).declared?.holds ?? [];
    await there.scene.world.kernel.command('sys/SetRights@1', {
      holder: `cell:society/Entity@1/${there.first.id}`,
      hold: null,
      granter: hold?.[0] as `cell:${string}`,
    });
    expect((await there.agent.answerTo('memory_write_warm', NOTE)).value).toMatchObject({ state: 'live' });
    expect((await there.scene.world.verify()).unverified).toBe(0);
  });

  it('a tool that is taken from the agent under the hold is gone, also when the hold is lifted [SOC-102]', async () => {
    await using there = await held({ memory_write: { layers: [], groups: [], visibility: [] } });
    await there.ann.capabilities(there.agent.id, { capabilities: { tools: ['memory_*'] } });
    expect((await there.agent.answerTo('agent_list', {})).value).toMatchObject({ error: 'capability_denied' });
    expect((await there.rights()).declared?.exercise?.may.tool).toEqual(['memory_*']);
  });
});

describe('given an open session of an agent whose maker has failed and is held to less', () => {
  it('the session loses a tool that is taken from its agent, also one that the agent hands on and the hold leaves [SOC-102] [CAP-12]', async () => {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    const steps = [{ calls: [{ tool: 'hang', args: {} }] }, { text: 'Refused.' }];
    await using scene = await openOffice({ failing: true, agents: [worker], steps });
    const ann = await scene.office.human('ann');
    const maker = scene.office.entity(await agentOf(ann));
    const id = await agentOf(maker, { tools: ['hang', 'agent_*'] }, { grant: { tools: ['*'] } });
    const run = await scene.office.entity(id).send(worker, 'Go.');
    while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
    await failEntity(scene.world, maker.id);
    await ann.capabilities(maker.id, { capabilities: { tools: ['hang', 'memory_*'] } });
    await ann.capabilities(id, { capabilities: { tools: ['agent_*'] } });
    await run.result();
    expect(state).toStrictEqual({ hanging: 1, stopped: 1 });
    const { declared } = await scene.world.kernel.rights(`cell:aos.agent/SessionReducer@1/${id}/worker`);
    expect(declared?.exercise?.may.tool).toStrictEqual(['agent_*']);
    await scene.world.verify();
  });
});
