/** What an agent may have, as its client sees it: what is left out, whose store it is, and that the store itself is judged. */
import { defineAgent } from 'reprise';
import { groupTools } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../../conformance/society/failing.js';
import { agentAs, openCrew, openServed, registered } from './support.js';

const scope = (groups: readonly string[], visibility: readonly string[] = ['group']) => ({
  layers: ['l1', 'l2'],
  groups: [...groups],
  visibility: [...visibility],
});
const NOTHING = { layers: [], groups: [], visibility: [] };
const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' };
const DENIED = { error: 'capability_denied', detail: 'visibility' };

/** Ann, and an agent of hers that is bounded to the group crew and to an hour. */
async function bounded() {
  const at = await openCrew();
  const { ann, crew } = at;
  await ann.call('memory_write_warm', note);
  const both = scope(['crew'], ['private', 'group']);
  const id = await registered(ann, 'ann', { memory_read: both, memory_write: both, ttl_seconds: 3_600 });
  return { ...at, ann, crew, id, lead: await at.as(agentAs(id)) };
}

describe('an agent below one that is bounded', () => {
  it.each([
    ['only what it reads', { memory_read: scope(['crew']) }, 'rw'],
    ['only what it writes', { memory_write: scope(['crew']) }, 'rw'],
    ['that it reads nothing', { memory_read: NOTHING }, 'w'],
    ['that it writes nothing', { memory_write: NOTHING }, 'r'],
    ['nothing', {}, 'rw'],
  ])('an agent that is registered with %s has the rest from its parent [SOC-85] [CAP-8]', async (_, stated, has) => {
    await using at = await bounded();
    const id = await registered(at.lead, at.id, stated);
    await at.crew.join(id);
    const bot = await at.as(agentAs(id));
    const reads = await bot.call('memory_read_warm', { group: 'crew' });
    const writes = await bot.call('memory_write_warm', note);
    expect(`${reads.isError ? '' : 'r'}${writes.isError ? '' : 'w'}`).toBe(has);
    for (const { isError, data } of [reads, writes]) if (isError) expect(data).toStrictEqual(DENIED);
  });

  it('a client that asks for more than the parent has is told the dimension, what it asked and what is allowed [CAP-2] [SOC-86]', async () => {
    await using at = await bounded();
    const spec = { parent_entity_id: at.id, agent_type: 'custom', display_name: 'Bot' };
    const asked = async (capabilities: object) =>
      (await at.lead.call('agent_register', { ...spec, capabilities })).data;
    expect(await asked({ memory_read: scope(['crew', 'x']) })).toMatchObject({
      error: 'capability_exceeds_parent',
      dimension: 'memory_read',
    });
    expect(await asked({ memory_write: scope(['*']) })).toMatchObject({ dimension: 'memory_write' });
    expect(await asked({ ttl_seconds: 3_601 })).toMatchObject({
      dimension: 'ttl_seconds',
      asked: 3_601,
      allowed: 3_600,
    });
    const { data: parent } = await at.ann.call('agent_list');
    expect((await asked({ ttl_seconds: 3_600 })).expires_at).toBe(parent.agents[0].expires_at);
    expect((await asked({})).expires_at).toBe(parent.agents[0].expires_at);
  });
});

describe('the stores of entities', () => {
  it('a claude-code agent reads the private store of its parent only as far as the parent names it [SOC-87] [SOC-30]', async () => {
    await using at = await bounded();
    const { data: own } = await at.ann.call('memory_write_warm', {
      type: 'note',
      visibility: 'private',
      content: 'Of Ann.',
    });
    const reader = async (capabilities: object) => {
      const id = await registered(at.ann, 'ann', capabilities, { agent_type: 'claude-code' });
      return (await at.as(agentAs(id))).call('memory_read_warm', { item_id: own.item_id });
    };
    expect((await reader({})).data).toStrictEqual(DENIED);
    expect((await reader({ memory_write: scope([], ['private']) })).data).toStrictEqual(DENIED);
    const { data } = await reader({ memory_read: scope([], ['private']) });
    expect(data.items[0].content).toBe('Of Ann.');
  });

  it('every tool that reaches a store is denied by the store itself, also for a client whose tools are all permitted [SOC-95] [SOC-96] [CAP-13]', async () => {
    await using at = await bounded();
    const outside = await at.as(agentAs(await registered(at.ann, 'ann')));
    const { data: mine } = await outside.call('memory_write_warm', {
      type: 'note',
      visibility: 'private',
      content: 'Mine.',
    });
    const item_id = 'group:crew#1';
    for (const [tool, args] of [
      ['memory_read_warm', { item_id }],
      ['memory_read_warm', { group: 'crew' }],
      ['memory_write_warm', note],
      ['memory_share', { item_id, group_id: 'second' }],
      ['memory_share', { item_id: mine.item_id, group_id: 'crew' }],
      ['memory_validate', { item_id }],
      ['memory_assess', { item_id, verdict: 'wrong', basis: 'user' }],
    ] as const)
      expect([tool, (await outside.call(tool, args)).data]).toStrictEqual([tool, DENIED]);
    const { data: found } = await outside.call('memory_search', { query: 'Found', groups: ['crew'] });
    expect(found.items ?? []).toStrictEqual([]);
    const { data } = await at.ann.call('memory_read_warm', { group: 'crew' });
    expect(data.items).toHaveLength(1);
  });

  it('the model of an agent is denied the same store by the same check, and is sent none of its words [SOC-95] [CAP-13]', async () => {
    const bot = defineAgent({ name: 'bot', model: 'main', instructions: 'Work.', tools: groupTools });
    let n = 0;
    await using at = await openServed({
      agents: [bot],
      model: () => (n++ === 0 ? { calls: [{ tool: 'memory_read_warm', args: { group: 'crew' } }] } : { text: 'Done.' }),
    });
    await at.office.human('ann');
    const ann = await at.as('human:ann');
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    await crew.join('ann', 'owner');
    await ann.call('memory_write_warm', { ...note, content: 'canary-1842' });
    const id = await registered(ann, 'ann');
    await (await at.office.entity(id).send(bot, 'Read it.')).text();
    expect(at.prompts()[1]).toContain('capability_denied');
    expect(at.prompts().join()).not.toContain('canary-1842');
  });
});

describe('the rights that an answer shows', () => {
  it('what an agent gains while the cell of its maker has failed is shown as waiting, and not as effective, until that one is back [SOC-79] [SOC-109]', async () => {
    await using at = await bounded();
    const id = await registered(at.lead, at.id);
    await at.crew.join(id);
    await failEntity(at.world, at.id);
    await at.office.group('second').open({ owner: 'ann' });
    await at.crew.leave(id);
    await at.crew.join(id);
    const shown = async () => (await at.ann.call('agent_capabilities', { agent_id: id })).data;
    const during = await shown();
    expect(during.effective.memory_read.groups).toStrictEqual([]);
    expect(during.waiting.memory_read.groups).toStrictEqual(['crew']);
    const bot = await at.as(agentAs(id));
    expect((await bot.call('memory_write_warm', note)).data).toStrictEqual(DENIED);
    await at.office.entity(at.id).revive();
    expect((await bot.call('memory_write_warm', note)).isError).toBe(false);
    const after = await shown();
    expect([after.effective.memory_read.groups, after.waiting]).toStrictEqual([['crew'], undefined]);
  });
});
