/** Sessions that an agent opened while the cell of its maker had failed. */
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, agentWith, hangingTool, openOffice } from './support/office.js';

/** An agent whose maker's cell has failed, in the middle of a session that it opened since. */
async function unheard() {
  const { tool, state } = hangingTool();
  const worker = agentWith([tool]);
  const steps = [{ calls: [{ tool: 'hang', args: {} }] }, { text: 'Over.' }] as never;
  const scene = await openOffice({ failing: true, agents: [worker], steps });
  const boss = scene.office.entity(await agentOf(await scene.office.human('ann')));
  const bot = scene.office.entity(await agentOf(boss));
  await failEntity(scene.world, boss.id);
  await bot.send(worker, 'Go.');
  while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
  const session = () => scene.world.kernel.state(['aos.agent/SessionReducer@1', `${bot.id}/worker`]);
  return { scene, boss, bot, session };
}

describe('an agent that opens a session while the cell of its maker has failed, and then fails itself', () => {
  it('a revived maker pauses the session of an agent that it suspends [SOC-77] [SOC-108]', async () => {
    const { scene, boss, bot, session } = await unheard();
    await using _ = scene;
    await boss.revive();
    await failEntity(scene.world, bot.id);
    await boss.setStatus(bot.id, 'suspend');
    expect(await session()).toMatchObject({ lifecycle: 'Paused' });
  });

  it.each([
    ['suspend', { lifecycle: 'Paused' }],
    ['deactivate', { status: 'Closed' }],
  ] as const)(
    'a maker that is revived behind a failed agent and has to %s it stops the session of which it never heard [SOC-125]',
    async (act, stopped) => {
      const { scene, boss, bot, session } = await unheard();
      await using _ = scene;
      await failEntity(scene.world, bot.id);
      await boss.revive();
      await boss.setStatus(bot.id, act);
      expect(await session()).toMatchObject(stopped);
      expect((await scene.world.verify()).unverified).toBe(0);
    },
  );
});
