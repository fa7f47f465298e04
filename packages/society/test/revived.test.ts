/** Entities, groups and swarms whose cells failed together, and are revived one after the other. */
import { defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { describe, expect, it } from 'vitest';
import { GROUP, SWARM } from '../src/pure/index.js';
import { defectiveSociety } from './support/failing.js';

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
const NOTE = { type: 'note', visibility: 'group', group: 'crew', content: 'Found.' } as const;
const ENTITY = 'society/Entity@1';

/** Ann with two agents that are members of her group; a cell fails at the event that is named while it is. */
async function openScene() {
  const defect = { at: '' };
  const part = defectiveSociety(({ reducer, event }) => `${reducer} ${event}` === defect.at);
  const models = { main: scriptBy(() => ({ text: 'A market.' })) };
  const world = await openWorld({ store: memory(), models, agents: [scout], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const crew = office.group('crew');
  await crew.open({ owner: 'ann', culture: { broadcast_eagerness: 'moderate' } });
  await crew.join('ann');
  const register = async () => {
    const spec = { agentType: 'custom', displayName: 'Bot', capabilities: {} } as const;
    const agent = office.entity((await ann.register(spec)).agent_id);
    await crew.join(agent.id);
    await agent.answerTo('memory_write_warm', NOTE);
    return agent;
  };
  const [left, stays] = [await register(), await register()];
  const failing = async (where: string, act: () => Promise<unknown>) => {
    defect.at = where;
    await act().catch(() => undefined);
    defect.at = '';
    const [reducer] = where.split(' ');
    expect((await world.trouble()).map((one) => one.where[0])).toContain(reducer);
  };
  return { world, office, ann, crew, left, stays, failing };
}

type Agent = Awaited<ReturnType<typeof openScene>>['left'];

const mayWrite = async (agent: Agent) => !(await agent.answerTo('memory_write_warm', NOTE)).is_error;

describe('a member that is revived while the cell of its group has failed', () => {
  it('a member reaches nothing of the group until the group is revived; then it does, unless it has left [SOC-106]', async () => {
    const at = await openScene();
    await using world = at.world;
    for (const agent of [at.left, at.stays])
      await at.failing(`${ENTITY} society/Checked@1`, () => agent.use('agent_list', {}));
    await at.crew.leave(at.left.id);
    await at.failing(`${GROUP} society/Wrote@1`, () => at.ann.answerTo('memory_write_warm', NOTE));
    for (const agent of [at.left, at.stays]) await agent.revive();
    expect([await mayWrite(at.left), await mayWrite(at.stays)]).toStrictEqual([false, false]);
    await world.kernel.revive([GROUP, 'crew']);
    expect([await mayWrite(at.left), await mayWrite(at.stays)]).toStrictEqual([false, true]);
  });

  it('a member that was told of no emergency, because its cell and then that of its group had failed, is told once both are back [SOC-106] [SOC-47]', async () => {
    const at = await openScene();
    await using world = at.world;
    await at.failing(`${ENTITY} society/Checked@1`, () => at.stays.use('agent_list', {}));
    await at.crew.emcon(true);
    await at.failing(`${GROUP} society/ReadNews@1`, () => at.ann.answerTo('events_poll', {}));
    await at.stays.revive();
    await world.kernel.revive([GROUP, 'crew']);
    const { value } = await at.stays.answerTo('memory_write_warm', NOTE);
    expect(value).toMatchObject({ code: 'emcon' });
  });
});

describe('a swarm whose cell has failed and is revived', () => {
  const agents = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: {}, count: 2 }];
  const manifest = { swarmId: 's', goal: 'Look.', strategy: 'hierarchical', agents } as const;

  async function formed() {
    const at = await openScene();
    await at.left.createSwarm({ ...manifest, coordinatorAgentId: at.left.id } as never);
    const workers = (await at.left.agents()).items.map(({ agent_id }) => at.office.entity(agent_id));
    for (const worker of workers) await worker.use('agent_list', {});
    const fail = () => at.failing(`${SWARM} society/SwarmCall@1`, () => at.left.use('swarm_status', { swarm_id: 's' }));
    return { ...at, workers, fail };
  }

  it('agents of a revived swarm stand still when its creator was suspended meanwhile, and act again with it [SOC-106] [CAP-7]', async () => {
    const at = await formed();
    await using _world = at.world;
    await at.fail();
    await at.ann.setStatus(at.left.id, 'suspend');
    await at.world.kernel.revive([SWARM, 's']);
    const statuses = () => Promise.all(at.workers.map(async (worker) => (await worker.state())?.status));
    expect(await statuses()).toStrictEqual(['suspended', 'suspended']);
    await at.ann.setStatus(at.left.id, 'resume');
    expect(await statuses()).toStrictEqual(['active', 'active']);
  });

  it('a revived swarm fails with its creator when that one was deactivated meanwhile [SOC-106] [SOC-63]', async () => {
    const at = await formed();
    await using _world = at.world;
    await at.fail();
    await at.ann.setStatus(at.left.id, 'deactivate');
    await at.world.kernel.revive([SWARM, 's']);
    const { status, code } = await at.ann.use('swarm_status', { swarm_id: 's' });
    expect([status, code]).toStrictEqual(['failed', 'creator/deactivated']);
  });

  it('an agent of a swarm whose cell fails while that of the swarm has failed is suspended by the creator once the swarm is revived [SOC-76] [SOC-77]', async () => {
    const at = await formed();
    await using _world = at.world;
    const [worker] = at.workers as [Agent];
    await at.fail();
    await at.failing(`${ENTITY} society/Checked@1`, () => worker.use('agent_list', {}));
    await at.world.kernel.revive([SWARM, 's']);
    expect(await at.left.setStatus(worker.id, 'suspend')).toMatchObject({ status: 'suspended', cell: 'failed' });
    await worker.revive();
    expect((await worker.state())?.status).toBe('suspended');
  });

  it('an agent of a swarm that was suspended while its own cell had failed is suspended once it is revived [SOC-106] [SOC-77]', async () => {
    const at = await formed();
    await using _world = at.world;
    const [worker] = at.workers as [Agent];
    await at.failing(`${ENTITY} society/Checked@1`, () => worker.use('agent_list', {}));
    await at.left.setStatus(worker.id, 'suspend');
    await worker.revive();
    expect((await worker.state())?.status).toBe('suspended');
    expect((await at.left.setStatus(worker.id, 'resume')).status).toBe('active');
  });
});
