/** Changes of rights whose maker took them and failed before it told the agent that they stand. */
import { defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { defectiveSociety } from './support/failing.js';

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
const ENTITY = 'society/Entity@1';

/** Ann's agent `maker` has made `agent`; a cell fails at the event that is named while it is. */
async function openScene() {
  const defect = { at: '' };
  const part = defectiveSociety(({ reducer, event }) => `${reducer} ${event}` === defect.at);
  const models = { main: scriptBy(() => ({ text: 'A market.' })) };
  const world = await openWorld({ store: memory(), models, agents: [scout], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const spec = { agentType: 'custom', displayName: 'Bot', capabilities: {} } as const;
  const maker = office.entity((await ann.register(spec)).agent_id);
  const narrow = { ...spec, capabilities: { tools: ['memory_*'] } };
  const agent = office.entity((await maker.register(narrow as never)).agent_id);
  const failing = async (where: string, act: () => Promise<unknown>) => {
    defect.at = where;
    await act().catch(() => undefined);
    defect.at = '';
    expect((await world.trouble()).map((one) => one.where[0])).toContain(where.split(' ')[0]);
  };
  return { world, office, ann, maker, agent, failing };
}

describe('a maker that has set the rights of an agent, and fails before it says so', () => {
  it('the change is taken back once the maker is revived, and can be made again [SOC-79] [SOC-112]', async () => {
    const at = await openScene();
    await using _world = at.world;
    const wider = { capabilities: { tools: ['memory_*', 'agent_*'] } };
    await at.failing(`${ENTITY} society/RightsSet@1`, () => at.maker.capabilities(at.agent.id, wider));
    await at.maker.revive();
    const { changing, asking, stands } = (await at.agent.state()) ?? {};
    expect({ changing, asking, stands }).toStrictEqual({ changing: null, asking: null, stands: null });
    expect((await at.agent.answerTo('agent_list', {})).value).toMatchObject({ error: 'capability_denied' });
    expect((await at.maker.capabilities(at.agent.id, wider)).declared).toMatchObject(wider.capabilities);
    expect((await at.agent.answerTo('agent_list', {})).is_error).not.toBe(true);
  });

  it('what the agent gained from a group counts once the maker is revived [SOC-79]', async () => {
    const at = await openScene();
    await using _world = at.world;
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    await at.failing(`${ENTITY} society/RightsSet@1`, () => crew.join(at.agent.id));
    await at.maker.revive();
    const { asking, stands } = (await at.agent.state()) ?? {};
    expect({ asking, stands }).toStrictEqual({ asking: null, stands: null });
    const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' } as const;
    expect((await at.agent.answerTo('memory_write_warm', note)).value).toMatchObject({ state: 'live' });
  });
});
