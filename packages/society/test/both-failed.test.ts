/** Agents whose cells fail while that of their maker has failed: the maker, which is revived first, does not know of it. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, openOffice } from './support/office.js';

const statusesOf = async (maker: { agents(): Promise<{ items: readonly { status: string }[] }> }) =>
  (await maker.agents()).items.map(({ status }) => status);

describe('an agent whose cell fails while the cell of its maker has failed', () => {
  it.each([
    ['suspend', 'suspended'],
    ['deactivate', 'deactivated'],
  ] as const)(
    'an agent that its maker, once revived, has to %s carries that out when it is revived [SOC-76] [SOC-77] [SOC-114]',
    async (act, status) => {
      await using scene = await openOffice({ failing: true });
      const ann = await scene.office.human('ann');
      const boss = scene.office.entity(await agentOf(ann));
      const bot = scene.office.entity(await agentOf(boss));
      await boss.setStatus(bot.id, 'activate');
      for (const id of [boss.id, bot.id]) await failEntity(scene.world, id);
      await boss.revive();
      expect(await boss.setStatus(bot.id, act)).toMatchObject({ status, cell: 'failed' });
      expect(await statusesOf(boss)).toStrictEqual([status]);
      await bot.revive();
      expect((await bot.state())?.status).toBe(status);
      expect((await scene.world.kernel.rights(`cell:society/Entity@1/${bot.id}`)).declared?.holds).toBeUndefined();
      expect((await scene.world.verify()).unverified).toBe(0);
    },
  );
});
