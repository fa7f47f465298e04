/** What entities above did to an agent while its cell, or that of its maker, had failed: it is carried out, and leaves no rows. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { familyOf } from './support/family.js';

const ENTITY = 'society/Entity@1';

/** A family, and what the tests ask of it. */
async function family() {
  const scene = await familyOf();
  const { world, bot } = scene;
  return {
    ...scene,
    fail: (...ones: readonly { readonly id: string }[]) =>
      ones.reduce((before, { id }) => before.then(() => failEntity(world, id)), Promise.resolve()),
    tools: async () => (await world.kernel.rights(`cell:${ENTITY}/${bot.id}`)).effective?.exercise.may.tool,
    holds: async () => (await world.kernel.rights(`cell:${ENTITY}/${bot.id}`)).declared?.holds ?? [],
    rows: async (of: { readonly id: string }, table: string) =>
      (await world.kernel.table([ENTITY, of.id], table, {})).map(([key]) => key),
  };
}

describe('narrowings of a failed agent by two entities above it, the first of which waits for its maker', () => {
  it('a revived agent carries out the narrowing of the second entity, too, and is held to nothing any more [SOC-118]', async () => {
    await using at = await family();
    await at.boss.capabilities(at.bot.id, { capabilities: { tools: ['memory_*'], max_parallel_ops: 2 } });
    await at.fail(at.bot);
    await at.boss.capabilities(at.bot.id, {
      capabilities: { tools: ['memory_get', 'memory_search'], max_parallel_ops: 9 },
    });
    await at.ann.capabilities(at.bot.id, { capabilities: { tools: ['memory_get'] } });
    await at.bot.revive();
    expect(await at.tools()).toEqual(['memory_get']);
    expect((await at.bot.state())?.declared).toMatchObject({ tools: ['memory_get'], max_parallel_ops: 9 });
    expect(await at.holds()).toEqual([]);
    for (const one of [at.ann, at.boss]) expect(await at.rows(one, 'unheard')).toEqual([]);
    expect((await at.world.verify()).unverified).toBe(0);
  });
});

describe('an agent that is revived while its maker has failed', () => {
  it('a narrowing by the maker is carried out when the maker is revived, too [SOC-114]', async () => {
    await using at = await family();
    await at.fail(at.bot);
    await at.boss.capabilities(at.bot.id, { capabilities: { tools: ['memory_*'] } });
    await at.fail(at.boss);
    await at.bot.revive();
    await at.boss.revive();
    expect((await at.bot.state())?.declared).toMatchObject({ tools: ['memory_*'] });
    expect(await at.holds()).toEqual([]);
  });

  it('a suspension that the maker kept for it holds when the maker is revived, too [SOC-114]', async () => {
    await using at = await family();
    await at.fail(at.bot);
    await at.ann.setStatus(at.bot.id, 'suspend');
    await at.fail(at.boss);
    await at.bot.revive();
    await at.boss.revive();
    expect((await at.bot.state())?.status).toBe('suspended');
    expect((await at.boss.agents()).items.map(({ status }) => status)).toEqual(['suspended']);
  });

  it('a narrowing by an entity further up is carried out when both are revived, the agent first [SOC-114]', async () => {
    await using at = await family();
    await at.fail(at.bot, at.boss);
    await at.ann.capabilities(at.bot.id, { capabilities: { tools: ['memory_*'] } });
    await at.bot.revive();
    await at.boss.revive();
    expect((await at.bot.state())?.declared).toMatchObject({ tools: ['memory_*'] });
    expect(await at.holds()).toEqual([]);
  });

  it.each([
    ['the agent first', ['bot', 'boss']],
    ['its maker first', ['boss', 'bot']],
  ] as const)(
    'an end that an entity further up asked for is carried out when both are revived, %s [SOC-114]',
    async (_, order) => {
      await using at = await family();
      await at.fail(at.bot, at.boss);
      await at.ann.setStatus(at.bot.id, 'deactivate');
      for (const one of order) await at[one].revive();
      expect((await at.bot.state())?.status).toBe('deactivated');
      expect((await at.boss.agents()).items.map(({ status }) => status)).toEqual(['deactivated']);
      await at.boss.setStatus(at.bot.id, 'reactivate');
      expect(await at.holds()).toEqual([]);
    },
  );
});

describe('a failed agent that an entity further up ended', () => {
  it('a maker brings an agent back with all that it had: nobody holds the agent to its end any more [SOC-114]', async () => {
    await using at = await family();
    await at.fail(at.bot);
    await at.ann.setStatus(at.bot.id, 'deactivate');
    await at.bot.revive();
    await at.boss.setStatus(at.bot.id, 'reactivate');
    expect(await at.holds()).toEqual([]);
    expect(await at.bot.answerTo('agent_list', {} as never)).toMatchObject({ is_error: false });
  });
});

describe('an agent that is removed', () => {
  it('the entities above keep no row of what they took from it, and a revived one is held to nothing [SOC-119]', async () => {
    await using at = await family();
    await at.fail(at.bot);
    for (const one of [at.ann, at.boss]) await one.capabilities(at.bot.id, { capabilities: { tools: ['memory_*'] } });
    await at.boss.setStatus(at.bot.id, 'deactivate', { grace: '60s' });
    await at.clock.advance(60_000);
    await at.world.pump();
    const rows = async () =>
      (
        await Promise.all([at.ann, at.boss].flatMap((one) => ['holds', 'unheard'].map((table) => at.rows(one, table))))
      ).flat();
    expect(await rows()).toEqual([]);
    expect(await at.rows(at.boss, 'failed')).toEqual([]);
    await at.bot.revive();
    expect((await at.bot.state())?.status).toBe('removed');
    expect(await at.holds()).toEqual([]);
    expect([...(await rows()), ...(await at.rows(at.ann, 'failed'))]).toEqual([]);
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('an end of a failed agent that was removed already is refused, and keeps no row [SOC-119]', async () => {
    await using at = await family();
    await at.fail(at.bot);
    await at.boss.setStatus(at.bot.id, 'deactivate', { grace: '60s' });
    await at.clock.advance(60_000);
    await at.world.pump();
    for (const one of [at.ann, at.boss]) {
      const { value, is_error } = await one.answerTo('agent_deactivate', { agent_id: at.bot.id } as never);
      expect([is_error, (value as { code?: string }).code]).toEqual([true, 'illegal_transition']);
      expect(await at.rows(one, 'holds')).toEqual([]);
    }
  });
});
