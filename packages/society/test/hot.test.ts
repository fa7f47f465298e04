/** The hot context of an entity. */

import type { AgentWorld } from '@reprise/agent';
import { putErasable } from '@reprise/kernel';
import { defineAgent, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { agentOf, openOffice, told } from './support/crew.js';
import { cellCall } from './support/kept.js';

async function part(world: AgentWorld, json: string) {
  const bytes = new TextEncoder().encode(json);
  return { ref: await putErasable(world.kernel.content, bytes), bytes: bytes.length };
}

describe('a hot context', () => {
  it('a hot context belongs to its entity, which names the version that it changes; the parent reads it [SOC-11] [SOC-12]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
    const bot = await agentOf(at.office, ann);
    const task = { goal: 'Find the limit', progress: 0.6 };
    const written = await bot.answerTo('memory_write_hot', { patch: { agent: { task } }, expected_version: 1 });
    expect(written).toMatchObject({ is_error: false, value: { version: 2 } });
    const stale = await told(bot, 'memory_write_hot', {
      patch: { agent: { task: { goal: null } } },
      expected_version: 1,
    });
    expect(stale).toStrictEqual({ code: 'revision_conflict', version: 2 });
    const shown = { entity_id: bot.id, version: 2, agent: { parent_entity_id: 'ann', progress_ppm: 600_000 } };
    for (const reader of [bot, ann]) {
      const { value, refs } = await reader.answerTo('memory_read_hot', { entity_id: bot.id });
      expect(value).toMatchObject(shown);
      expect(refs.map(({ label }) => label)).toStrictEqual(['goal']);
    }
    expect(await told(ben, 'memory_read_hot', { entity_id: bot.id })).toStrictEqual({ code: 'agent_unknown' });
    await world.verify();
  });

  it('a hot context refuses what is not its entity’s to write, and what is too large, and stays as it was [SOC-12]', async () => {
    const at = await openOffice();
    await using world = at.world;
    const ann = at.office.entity('ann');
    const bot = await agentOf(at.office, ann);
    const prefs = await part(world, '{}');
    const large = { ...prefs, bytes: 48 * 1024 };
    const write = async (of: typeof bot, patch: object) =>
      (await cellCall(world, of, 'memory_write_hot', { patch, expected_version: 1 })).value;
    const fields = (await write(bot, { prefs, refused: ['identity', 'agent.capabilities'] })) as object;
    expect(fields).toStrictEqual({ code: 'not_yours', fields: ['identity', 'agent.capabilities', 'prefs'] });
    expect(await write(bot, { working_memory: large })).toMatchObject({ code: 'too_large', bytes_max: 49_152 });
    expect(await told(bot, 'memory_read_hot', {})).toMatchObject({ version: 1 });
    expect(await write(ann, { prefs })).toMatchObject({ version: 2 }); // a person has no parent who would write them
    await world.verify();
  });

  it('a hot context counts the sessions of its entity, and chains its content at the start and end of each [SOC-13]', async () => {
    const filing = defineAgent({ name: 'filing', model: 'main', instructions: 'File.' });
    const society1 = society();
    await using world = await openWorld({
      store: memory(),
      models: { main: script({ text: 'Filed.' }, { text: 'Filed.' }) },
      agents: [filing],
      parts: [society1],
    });
    const office = world.part(society1);
    const ann = await office.human('ann');
    const bot = await agentOf(office, ann);
    const at = async () => (await told(bot, 'memory_read_hot', {})) as { chain_hash: string; session_count: number };
    const before = await at();
    await (await bot.send(filing, 'One', { session: 'one' })).text();
    const one = await at();
    await (await bot.send(filing, 'Two', { session: 'two' })).text();
    const two = await at();
    expect([before.session_count, one.session_count, two.session_count]).toStrictEqual([0, 1, 2]);
    expect(new Set([before.chain_hash, one.chain_hash, two.chain_hash]).size).toBe(3);
    expect(((await told(ann, 'memory_read_hot', {})) as { session_count: number }).session_count).toBe(0);
    await world.verify();
  });
});
