/** A hot context and a group whose cells fail and are revived: what they were told meanwhile counts once they are back. */
import { type AgentWorld, defineAgent, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { script } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { failEntity, failingSociety } from '../../../conformance/society/failing.js';
import { agentOf } from './support/office.js';

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [] });

/** A hot context fails of a progress that no other test writes. */
function breakable(): ReturnType<typeof failingSociety> {
  const part = failingSociety();
  const reducers = (part.reducers ?? []).map((one) => ({
    ...one,
    reduce: (...given: Parameters<ReducerDefinition['reduce']>) => {
      const [, { name, value }] = given;
      const { patch } = value as { readonly patch?: { readonly progress_ppm?: number } };
      if (name === 'society/WriteL1@1' && patch?.progress_ppm === BREAKS) throw new Error('a defect of this test');
      return one.reduce(...given);
    },
  }));
  return { ...part, reducers };
}

const BREAKS = 123_456;

/** Ann with an agent, whose cell and whose hot context can be made to fail. */
async function openScene() {
  const part = breakable();
  const models = { main: script({ text: 'Done.' }, { text: 'Done.' }) };
  const world = await openWorld({ store: memory(), models, agents: [worker], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const id = await agentOf(ann);
  const bot = office.entity(id);
  const failHot = async () => {
    const { version } = await bot.l1();
    const broken = bot.writeL1({ agent: { task: { progress: BREAKS / 1_000_000 } } }, version);
    await expect(broken).rejects.toMatchObject({ code: 'request_rejected' });
  };
  const failAgent = () => failEntity(world, id);
  const reviveHot = () => world.kernel.revive(['society/L1@1', id]);
  return { world, office, ann, id, bot, failHot, failAgent, reviveHot };
}

const keysOf = async (world: AgentWorld, id: string, table: string) =>
  (await world.kernel.table(['society/L1@1', id], table)).map(([key]) => key);

describe('a hot context whose cell had failed', () => {
  it.each([
    ['while its agent lives', async ({ reviveHot }: Awaited<ReturnType<typeof openScene>>) => reviveHot()],
    [
      'while the cell of its agent has failed as well, which is revived afterwards',
      async ({ failAgent, reviveHot, bot }: Awaited<ReturnType<typeof openScene>>) => {
        await failAgent();
        await reviveHot();
        await bot.revive();
      },
    ],
  ])(
    'a hot context knows the groups, the sessions and the capabilities of its agent when it is revived %s [SOC-136]',
    async (_, back) => {
      const at = await openScene();
      await using world = at.world;
      for (const name of ['before', 'meanwhile']) await at.office.group(name).open({ owner: 'ann' });
      await at.office.group('before').join(at.id);
      await (await at.bot.send(worker, 'Begin.', { session: 'first' })).text();
      await at.failHot();
      await at.office.group('before').leave(at.id);
      await at.office.group('meanwhile').join(at.id);
      await (await at.bot.send(worker, 'Begin.', { session: 'second' })).text();
      await at.ann.capabilities(at.id, { capabilities: { tools: ['memory_*'] } });
      await back(at);
      expect(await keysOf(world, at.id, 'groups')).toStrictEqual(['meanwhile']);
      expect(await keysOf(world, at.id, 'sessions')).toStrictEqual([`${at.id}/first`, `${at.id}/second`]);
      const { capabilities } = (await at.bot.l1()).agent as { readonly capabilities: unknown };
      expect(capabilities).toStrictEqual({ tools: ['memory_*'] });
      await world.verify();
    },
  );

  it('the groups of an agent hear of its end when its hot context had failed before, was revived, and the cell of the agent fails then [SOC-136] [SOC-126]', async () => {
    const at = await openScene();
    await using world = at.world;
    const crew = at.office.group('crew');
    await crew.open({ owner: 'ann' });
    await crew.join('ann', 'owner');
    const ben = await at.office.human('ben');
    await crew.join('ben');
    await at.failHot();
    await crew.join(at.id);
    await at.reviveHot();
    await at.failAgent();
    await at.ann.use('agent_deactivate', { agent_id: at.id });
    const { events } = await ben.use('events_poll', {});
    const heard = events.flatMap(({ event, payload }) =>
      event === 'agent.status_changed' ? [(payload as { readonly new_status: string }).new_status] : [],
    );
    expect(heard).toContain('deactivated');
    await world.verify();
  });
});
