/** What an agent hears of, as its client is told: subscriptions that are refused are named, and those that stand count. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../../conformance/society/failing.js';
import { agentAs, openServed, registered } from './support.js';

const scope = (groups: readonly string[]) => ({ layers: ['l1', 'l2'], groups: [...groups], visibility: ['group'] });
const bounded = { memory_read: scope(['crew']), memory_write: scope(['crew']) };
const note = { type: 'note', visibility: 'group', content: 'Found.' };
const of = (group_id: string) => ({ event: 'memory.written', group_id });

/** Ann with two groups, each of which she writes to. */
async function openScene() {
  const at = await openServed();
  await at.office.human('ann');
  const ann = await at.as('human:ann');
  for (const name of ['crew', 'other']) {
    await at.office.group(name).open({ owner: 'ann' });
    await at.office.group(name).join('ann', 'owner');
  }
  const write = async () => {
    for (const group of ['crew', 'other']) await ann.call('memory_write_warm', { ...note, group });
  };
  /** The groups of whose items an agent that is a member of both hears. */
  const heard = async (id: string) => {
    const bot = await at.as(agentAs(id));
    const before = (await bot.call('events_poll', { limit: 256 })).data.next;
    await write();
    const { data } = await bot.call('events_poll', { after: before });
    return data.events.flatMap(({ event, payload }: { event: string; payload: { group_id: string } }) =>
      event === 'memory.written' ? [payload.group_id] : [],
    );
  };
  const joined = async (id: string) => {
    for (const name of ['crew', 'other']) await at.office.group(name).join(id);
  };
  const subscribed = async (id: string) =>
    (await at.world.kernel.table(['society/Entity@1', id], 'subscriptions')).map(([, one]) => one);
  return { ...at, ann, heard, joined, subscribed };
}

describe('subscriptions', () => {
  it('a registration is told which of its subscriptions are out of reach, and the agent hears of the others alone [SOC-43] [SOC-110]', async () => {
    await using at = await openScene();
    const elsewhere = { event: 'trust.score_changed', agent_id: 'f'.repeat(64) };
    const spec = { parent_entity_id: 'ann', agent_type: 'custom', display_name: 'Bot', capabilities: bounded };
    const wanted = [of('crew'), of('other'), elsewhere];
    const { data } = await at.ann.call('agent_register', { ...spec, subscriptions: wanted });
    expect(data.refused_subscriptions).toStrictEqual([of('other'), elsewhere]);
    expect(await at.subscribed(data.agent_id)).toStrictEqual([of('crew')]);
    await at.joined(data.agent_id);
    expect(await at.heard(data.agent_id)).toStrictEqual(['crew']);
    const { data: whole } = await at.ann.call('agent_register', { ...spec, subscriptions: [of('crew')] });
    expect(whole.refused_subscriptions).toStrictEqual([]);
    const { data: none } = await at.ann.call('agent_register', spec);
    expect(none).not.toHaveProperty('refused_subscriptions');
  });

  it('a change that widens and subscribes is told what is out of reach after it, in its one answer [SOC-43] [SOC-110]', async () => {
    await using at = await openScene();
    const agent_id = await registered(at.ann, 'ann', bounded);
    const both = scope(['crew', 'other']);
    const subscriptions = [of('crew'), of('other'), of('third')];
    const capabilities = { memory_read: both, memory_write: both };
    const { data } = await at.ann.call('agent_capabilities', { agent_id, capabilities, subscriptions });
    expect(data.refused_subscriptions).toStrictEqual([of('third')]);
    await at.joined(agent_id);
    expect(await at.heard(agent_id)).toStrictEqual(['crew', 'other']);
  });

  it('a change that is refused changes no subscription [SOC-110]', async () => {
    await using at = await openScene();
    const agent_id = await registered(at.ann, 'ann', bounded, { subscriptions: [of('crew')] });
    const tries = [
      { capabilities: { tools: [] }, expected_revision: 7 },
      { capabilities: { ttl_seconds: 60, tools: ['*'] }, expected_revision: 9 },
    ];
    for (const one of tries) {
      const asked = await at.ann.call('agent_capabilities', { agent_id, ...one, subscriptions: [of('other')] });
      expect(asked.data).toMatchObject({ error: 'revision_conflict' });
      expect(await at.subscribed(agent_id)).toStrictEqual([of('crew')]);
    }
    const bot = await at.as(agentAs(agent_id));
    const widened = { agent_id, capabilities: { tools: ['*'] }, subscriptions: [] };
    expect((await bot.call('agent_capabilities', widened)).isError).toBe(true);
    expect(await at.subscribed(agent_id)).toStrictEqual([of('crew')]);
  });

  it('a change for an agent whose cell has failed is told that it subscribes to nothing [SOC-110] [SOC-76]', async () => {
    await using at = await openScene();
    const agent_id = await registered(at.ann, 'ann', bounded);
    await failEntity(at.world, agent_id);
    const subscriptions = [of('crew')];
    const { data } = await at.ann.call('agent_capabilities', { agent_id, capabilities: { tools: [] }, subscriptions });
    expect(data).toMatchObject({ cell: 'failed', refused_subscriptions: subscriptions });
    const alone = await at.ann.call('agent_capabilities', { agent_id, subscriptions });
    expect(alone.data.error).toBe('cell_failed');
  });

  it('an agent subscribes itself within its reach, and hears nothing of a group that it has left [SOC-43]', async () => {
    await using at = await openScene();
    const agent_id = await registered(at.ann, 'ann', bounded);
    await at.joined(agent_id);
    const bot = await at.as(agentAs(agent_id));
    const { data } = await bot.call('agent_capabilities', { agent_id, subscriptions: [of('crew'), of('other')] });
    expect(data.refused_subscriptions).toStrictEqual([of('other')]);
    expect(await at.heard(agent_id)).toStrictEqual(['crew']);
    await at.office.group('crew').leave(agent_id);
    expect(await at.heard(agent_id)).toStrictEqual([]);
  });
});
