/** What suspends an agent, as its client sees it: failures of what it works with, and never an answer. */
import { defineAgent } from 'reprise';
import { describe, expect, it } from 'vitest';
import type { SocietyToolName } from '../../src/pure/index.js';
import { agentAs, openCrew, registered } from './support.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [] });
const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' };

/** An agent of Ann in a group, with one below it that a suspension would stop as well; its model fails when it is told to. */
async function openScene() {
  const state: { fails: false | 'provider_error_terminal/bad_request' | 'provider_error_terminal/quota' } = {
    fails: false,
  };
  const model = () => (state.fails === false ? { text: 'Done.' } : { fail: state.fails });
  const at = await openCrew({ agents: [worker], model });
  const { ann, crew } = at;
  const id = await registered(ann, 'ann', { tools: ['memory_*', 'agent_*', 'swarm_*', 'events_poll'] });
  await crew.join(id);
  const bot = await at.as(agentAs(id));
  const below = await registered(bot, id, { autonomous: false });
  await bot.call('memory_write_hot', { patch: { active: { n: 0 } }, expected_version: 1 });
  const statuses = async () => {
    const { data: own } = await ann.call('agent_list');
    const { data: others } = await ann.call('agent_list', { entity_id: id });
    return [...own.agents, ...others.agents].map(({ status }: { status: string }) => status);
  };
  const runs = async (times: number) => {
    for (let n = 0; n < times; n++)
      await (await at.office.entity(id).send(worker, 'Go.')).text().catch(() => undefined);
  };
  return { ...at, ann, id, bot, below, state, statuses, runs };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** Each: a refusal, and the call that gets it. */
const REFUSED: readonly (readonly [string, SocietyToolName, (at: Scene) => object])[] = [
  ['revision_conflict', 'memory_write_hot', () => ({ patch: {}, expected_version: 99 })],
  [
    'revision_conflict',
    'agent_capabilities',
    ({ below }) => ({ agent_id: below, capabilities: {}, expected_revision: 9 }),
  ],
  ['emcon', 'memory_write_warm', () => note],
  ['item_unknown', 'memory_validate', () => ({ item_id: 'group:crew#99' })],
  ['agent_unknown', 'agent_deactivate', () => ({ agent_id: 'e'.repeat(64) })],
  ['swarm_unknown', 'swarm_status', () => ({ swarm_id: 'none' })],
  ['capability_denied', 'memory_read_warm', () => ({ group: 'elsewhere' })],
  ['capability_denied', 'group_emcon', () => ({ group_id: 'crew', on: false })],
  ['duplicate_command', 'memory_write_hot', () => ({ patch: {}, expected_version: 1, command_id: 'used' })],
  [
    'capability_exceeds_parent',
    'agent_register',
    ({ id }) => ({
      ...{ parent_entity_id: id, agent_type: 'custom', display_name: 'X' },
      capabilities: { tools: ['group_emcon'] },
    }),
  ],
];

describe('given an agent with one below it that it must watch', () => {
  it.each(REFUSED)(
    'ten answers %s to %s suspend neither an agent nor the one below it [SOC-82]',
    async (code, tool, args) => {
      await using at = await openScene();
      const { data: hot } = await at.bot.call('memory_read_hot');
      const first = { patch: { ephemeral: { a: 1 } }, expected_version: hot.version, command_id: 'used' };
      const used = await at.bot.call('memory_write_hot', first);
      expect(used).toMatchObject({ isError: false });
      if (code === 'emcon') await at.ann.call('group_emcon', { group_id: 'crew', on: true });
      for (let n = 0; n < 10; n++) {
        const { isError, data } = await at.bot.call(tool, args(at));
        expect([isError, data.error]).toStrictEqual([true, code]);
      }
      expect(await at.statuses()).toStrictEqual(['active', 'registered']);
    },
  );

  it('five runs whose model fails suspend an agent and the one below it, a client is told why, and both act again after ten minutes [SOC-82] [SOC-35] [CAP-7]', async () => {
    await using at = await openScene();
    const below = await at.as(agentAs(at.below));
    await below.call('memory_read_hot');
    at.state.fails = 'provider_error_terminal/bad_request';
    await at.runs(4);
    expect(await at.statuses()).toStrictEqual(['active', 'active']);
    await at.runs(1);
    expect(await at.statuses()).toStrictEqual(['suspended', 'suspended']);
    for (const { call } of [at.bot, below])
      expect((await call('memory_read_hot')).data).toMatchObject({ error: 'agent_not_active', status: 'suspended' });
    const { data: events } = await at.ann.call('events_poll');
    expect(events.events.at(-1)).toMatchObject({
      event: 'agent.status_changed',
      payload: { agent_id: at.id, old_status: 'active', new_status: 'suspended' },
    });
    await at.clock.advance(599_000);
    expect(await at.statuses()).toStrictEqual(['suspended', 'suspended']);
    await at.clock.advance(1_000);
    expect(await at.statuses()).toStrictEqual(['active', 'active']);
    const { data: hot } = await at.bot.call('memory_read_hot');
    expect(hot.active).toStrictEqual({ n: 0 });
  });

  it('one run whose model refuses it for a limit suspends an agent and the one below it at once, and both act again after ten minutes [SOC-127] [SOC-35]', async () => {
    await using at = await openScene();
    const below = await at.as(agentAs(at.below));
    await below.call('memory_read_hot');
    at.state.fails = 'provider_error_terminal/quota';
    await at.runs(1);
    expect(await at.statuses()).toStrictEqual(['suspended', 'suspended']);
    for (const { call } of [at.bot, below])
      expect((await call('memory_read_hot')).data).toMatchObject({ error: 'agent_not_active', status: 'suspended' });
    at.state.fails = false;
    await at.clock.advance(600_000);
    expect(await at.statuses()).toStrictEqual(['active', 'active']);
    expect((await at.bot.call('memory_read_hot')).isError).toBe(false);
  });
});
