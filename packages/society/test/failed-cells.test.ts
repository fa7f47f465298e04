/** Waits for entities, swarms and their sessions when a cell of the society fails: each ends, and the world works on. */
import type { Served } from '@reprise/agent';
import { formatAddress } from '@reprise/contracts';
import { defineAgent, isRepriseError, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { script, scriptBy } from 'reprise/providers';
import { groupTools, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { changedUses, defectiveSociety } from './support/failing.js';

const bot = defineAgent({ name: 'bot', model: 'main', instructions: 'Work.', tools: groupTools });
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look at one market.' });

const outcome = (asked: Promise<unknown>) =>
  asked.then(
    (value) => value,
    (error: unknown) => {
      if (!isRepriseError(error)) throw error;
      const { where, fault, frame } = error.details;
      return { code: error.code, where, fault, frame };
    },
  );

/** A society in which cells of a reducer fail of an event: all of them, or those in such a state. */
function failingAt(
  reducer: string,
  event: string,
  isMeant: (state: { readonly display_name?: string }) => boolean = () => true,
): ReturnType<typeof society> {
  return defectiveSociety((one) => one.reducer === reducer && one.event === event && isMeant(one.state as object));
}

/** Entities with the name Broken fail when the gate has judged a call. */
async function office(
  models: Parameters<typeof openWorld>[0]['models'],
  part = failingAt('society/Entity@1', 'society/Checked@1', ({ display_name }) => display_name === 'Broken'),
) {
  const world = await openWorld({ store: memory(), models, agents: [bot, scout], parts: [part] });
  return { world, office: world.part(part), ann: await world.part(part).human('ann') };
}

async function broken(at: Awaited<ReturnType<typeof office>>) {
  const { agent_id } = await at.ann.register({ agentType: 'custom', displayName: 'Broken', capabilities: {} });
  return at.office.entity(agent_id);
}

const failed = (where: readonly [string, string]) => ({
  code: 'cell_failed',
  where: formatAddress([...where]),
  fault: 'threw',
  frame: expect.any(Number),
});

describe('an entity whose cell fails', () => {
  it('a failed entity ends calls of the API that wait for it, at the fault and after it, and answers again once it is revived [RED-39]', async () => {
    const at = await office({ main: script() });
    await using world = at.world;
    const agent = await broken(at);
    const both = [outcome(agent.use('agent_list', {})), outcome(agent.use('agent_list', {}))];
    expect(await Promise.all(both)).toEqual([failed(agent.address), failed(agent.address)]);
    expect(await outcome(agent.use('agent_list', {}))).toEqual(failed(agent.address));
    expect(await world.trouble()).toMatchObject([{ where: agent.address, code: 'threw', event: 'society/Checked@1' }]);
    const told = { cell: formatAddress(agent.address), code: 'threw' };
    expect((await at.office.audit()).failed_cells).toMatchObject([told]);
    await agent.revive();
    expect(await world.trouble()).toEqual([]);
    expect((await at.office.audit()).failed_cells).toEqual([]);
    expect(await outcome(agent.use('agent_list', {}))).toEqual(failed(agent.address)); // the defect is still there
    await world.verify();
  });

  it('a failed entity answers a call over MCP with cell_failed [RED-39]', async () => {
    const at = await office({ main: script() });
    await using world = at.world;
    const agent = await broken(at);
    const [served] = world.served as readonly [Served];
    const principal = `cell:${formatAddress(agent.address)}` as const;
    const call = () =>
      outcome(
        served.call(world.kernel.as(principal), 'agent_list', {}, crypto.randomUUID(), {
          signal: new AbortController().signal,
        }),
      );
    expect([await call(), await call()]).toMatchObject([{ code: 'cell_failed' }, { code: 'cell_failed' }]);
  });

  it('a failed entity does not hold up a model that called its tool: the call is answered and the run goes on [OWN-12]', async () => {
    const at = await office({
      main: script({ calls: [{ tool: 'memory_search', args: { query: 'x' } }] }, { text: 'I go on.' }),
    });
    await using world = at.world;
    const agent = await broken(at);
    const run = await agent.send(bot, 'Search.');
    expect(await run.text()).toBe('I go on.');
    const results: unknown[] = [];
    for await (const event of run.events()) results.push(event);
    expect(JSON.stringify(results)).toContain('adapter_error/cell_failed');
    expect(await world.trouble()).toMatchObject([{ where: agent.address, waiting: 1 }]);
    await world.verify();
  });
});

const officeFailingAt = (reducer: string, event: string) =>
  office({ main: scriptBy(() => ({ text: 'A market.' })) }, failingAt(reducer, event));

/** Swarms fail when a work of theirs begins. */
const failingAtBegin = () =>
  defectiveSociety(
    ({ reducer, event, value }) =>
      `${reducer} ${event}` === 'society/Swarm@1 society/Worked@1' &&
      (value as { readonly status: string }).status === 'preparing',
  );

/** Jobs fail when they are given a slot. */
function failingJob(one: ReducerDefinition): ReducerDefinition {
  if (one.name !== 'work/Job@1') return one;
  const reduce: typeof one.reduce = (draft, given, ctx) => {
    if (given.name === 'flow/Granted@1') throw new Error('a defect');
    return one.reduce(draft, given, ctx);
  };
  return { ...one, reduce };
}

const FORMING = ['FormSwarm', 'Keyed', 'Compiled', 'RightsSet', 'Joined'].map((name) => `society/${name}@1`);
const SCOUTS = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: { tools: [] }, count: 2 }];

describe('a swarm whose cell fails', () => {
  it.each([...FORMING, 'sys/Reply@1', 'work/RightsStand@1'])(
    'a swarm that fails of %s while it forms answers the call that creates it, and its creator works on [RED-39] [SOC-78]',
    async (event) => {
      const at = await officeFailingAt('society/Swarm@1', event);
      await using world = at.world;
      const creating = at.ann.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents: SCOUTS, swarmId: 's' });
      const refused = { code: 'request_rejected', details: { reason: 'cell_failed', actual: { swarm_id: 's' } } };
      await expect(creating).rejects.toMatchObject(refused);
      expect(await world.trouble()).toMatchObject([{ where: ['society/Swarm@1', 's'], code: 'threw', event }]);
      await expect(at.ann.use('swarm_status', { swarm_id: 's' })).rejects.toMatchObject(refused);
      const { items } = await at.ann.agents(); // those that had begun are shown, as they are
      expect(items.filter(({ agent_type }) => agent_type !== 'swarm-worker')).toEqual([]);
    },
  );

  it('a caller that did not create a failed swarm does not learn that it exists [SOC-78]', async () => {
    const at = await officeFailingAt('society/Swarm@1', 'society/FormSwarm@1');
    await using _world = at.world;
    const creating = at.ann.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents: SCOUTS, swarmId: 's' });
    await expect(creating).rejects.toMatchObject({ details: { reason: 'cell_failed' } });
    const bob = await at.office.human('bob');
    const asked = bob.use('swarm_status', { swarm_id: 's' });
    await expect(asked).rejects.toMatchObject({ details: { reason: 'swarm_unknown' } });
  });

  it('a call at a hot context whose cell fails says so, and does not say that the agent is unknown [SOC-78]', async () => {
    const at = await officeFailingAt('society/L1@1', 'society/ReadL1@1');
    await using world = at.world;
    for (let calls = 0; calls < 2; calls++) {
      await expect(at.ann.l1()).rejects.toMatchObject({ details: { reason: 'cell_failed' } });
    }
    expect(await world.trouble()).toMatchObject([{ where: ['society/L1@1', 'ann'] }]);
  });

  it('a swarm whose job fails ends with a failed task and is not waited for [RED-39] [SPEC-45]', async () => {
    const part = society();
    const failing = { ...part, uses: changedUses(part, failingJob) };
    const at = await office({ main: scriptBy(() => ({ text: 'A market.' })) }, failing);
    await using world = at.world;
    const swarm = await at.ann.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents: SCOUTS });
    const { status, results } = await swarm.ended({ within: '30s' });
    expect(status).not.toBe('executing');
    expect(results.map((result) => result.status)).toContain('failed');
    expect((await world.trouble()).map(({ where }) => where[0])).toContain('work/Job@1');
  });

  it('a widening of an agent whose swarm fails of it is answered, taken back, and can be asked for again [SOC-79]', async () => {
    const hangs = scriptBy(() => ({ text: 'Late.', delayMs: 60_000 }));
    const works = (state: object) => (state as { readonly status?: string }).status === 'executing';
    const at = await office({ main: hangs }, failingAt('society/Swarm@1', 'society/Compiled@1', works));
    await using _world = at.world;
    const capabilities = { tools: ['memory_search'] };
    const agents = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities, count: 1 }];
    const manifest = {
      swarmId: 's',
      goal: 'Compare',
      strategy: 'hierarchical',
      coordinatorAgentId: { slot: 'scout' },
    };
    const swarm = await at.ann.createSwarm({ ...manifest, agents } as never);
    const id = (await swarm.status()).agents[0]?.agent_id ?? 'none';
    const promises = { trustFloor: 'high', automerge: true, bonusGroups: ['bonus'] } as const;
    const wider = { tools: ['memory_search', 'memory_read_warm'] };
    const widen = () => at.ann.capabilities(id, { capabilities: wider, ...promises });
    for (let times = 0; times < 2; times++)
      await expect(widen()).rejects.toMatchObject({ details: { reason: 'cell_failed', actual: { of: 'maker' } } });
    expect(await at.ann.capabilities(id)).toMatchObject({ declared: capabilities });
    const kept = { trust_floor: 'untrusted', automerge: false, bonus_groups: [] };
    expect(await at.office.entity(id).state()).toMatchObject(kept);
  });

  it('a failed swarm ends ended() and events(), at the fault and after it [RED-39]', async () => {
    const at = await office({ main: scriptBy(() => ({ text: 'A market.' })) }, failingAtBegin());
    await using world = at.world;
    const agents = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: { tools: [] }, count: 2 }];
    const swarm = await at.ann.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents });
    expect(await outcome(swarm.ended())).toEqual(failed(swarm.address));
    expect(await outcome(swarm.ended())).toEqual(failed(swarm.address));
    const all = async () => {
      for await (const _ of swarm.events());
    };
    expect(await outcome(all())).toEqual(failed(swarm.address));
    expect((await world.trouble()).map(({ where }) => where)).toEqual([swarm.address]);
    await swarm.revive();
    expect(await world.trouble()).toEqual([]);
    await world.verify();
  });
});
