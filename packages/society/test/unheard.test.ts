/** Narrowings of an agent whose cell had failed, one of which it cannot carry out at once when it is revived. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice } from './support/office.js';

describe('an agent that is asked for two narrowings after its revival, and waits for its maker with the first', () => {
  it('the agent keeps nothing of what the second one took [SOC-76] [SOC-112] [SOC-114]', async () => {
    await using scene = await openOffice({ failing: true });
    const ann = await scene.office.human('ann');
    const boss = scene.office.entity(await agentOf(ann));
    const bot = scene.office.entity(await agentOf(boss));
    await boss.capabilities(bot.id, { capabilities: { tools: ['memory_*'], max_parallel_ops: 2 } });
    const tools = async () =>
      (await scene.world.kernel.rights(`cell:society/Entity@1/${bot.id}`)).effective?.exercise.may.tool;
    await failEntity(scene.world, bot.id);
    await boss.capabilities(bot.id, { capabilities: { tools: ['memory_get', 'memory_search'], max_parallel_ops: 9 } });
    await boss.capabilities(bot.id, { capabilities: { tools: ['memory_get'] } });
    expect(await tools()).toStrictEqual(['memory_get']);
    await bot.revive();
    expect(await tools()).toStrictEqual(['memory_get']);
    expect((await bot.state())?.declared).toMatchObject({ tools: ['memory_get'], max_parallel_ops: 9 });
    const { declared } = await scene.world.kernel.rights(`cell:society/Entity@1/${bot.id}`);
    expect(declared?.holds ?? []).toStrictEqual([]);
    expect((await scene.world.verify()).unverified).toBe(0);
  });
});
