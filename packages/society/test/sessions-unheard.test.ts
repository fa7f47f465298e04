/** Sessions that an agent opened while the cell of its maker had failed. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, agentWith, hangingTool, openOffice } from './support/office.js';

describe('an agent that opens a session while the cell of its maker has failed, and then fails itself', () => {
  it('a revived maker pauses the session of an agent that it suspends [SOC-77] [SOC-108]', async () => {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    const steps = [{ calls: [{ tool: 'hang', args: {} }] }, { text: 'Over.' }] as never;
    await using scene = await openOffice({ failing: true, agents: [worker], steps });
    const ann = await scene.office.human('ann');
    const boss = scene.office.entity(await agentOf(ann));
    const bot = scene.office.entity(await agentOf(boss));
    await failEntity(scene.world, boss.id);
    await bot.send(worker, 'Go.');
    while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
    await boss.revive();
    await failEntity(scene.world, bot.id);
    await boss.setStatus(bot.id, 'suspend');
    const session = await scene.world.kernel.state(['aos.agent/SessionReducer@1', `${bot.id}/worker`]);
    expect(session).toMatchObject({ lifecycle: 'Paused' });
  });

  it.each([
    ['suspend', { lifecycle: 'Paused' }],
    ['deactivate', { status: 'Closed' }],
  ] as const)(
    'a maker that is revived behind a failed agent and has to %s it stops the session of which it never heard [SOC-125]',
    async (act, stopped) => {
      const { tool, state } = hangingTool();
      const worker = agentWith([tool]);
      const steps = [{ calls: [{ tool: 'hang', args: {} }] }, { text: 'Over.' }] as never;
      await using scene = await openOffice({ failing: true, agents: [worker], steps });
      const ann = await scene.office.human('ann');
      const boss = scene.office.entity(await agentOf(ann));
      const bot = scene.office.entity(await agentOf(boss));
      await failEntity(scene.world, boss.id);
      await bot.send(worker, 'Go.');
      while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
      await failEntity(scene.world, bot.id);
      await boss.revive();
      await boss.setStatus(bot.id, act);
      const session = await scene.world.kernel.state(['aos.agent/SessionReducer@1', `${bot.id}/worker`]);
      expect(session).toMatchObject(stopped);
      expect((await scene.world.verify()).unverified).toBe(0);
    },
  );
});
