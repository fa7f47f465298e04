/** Waits for entities, swarms and their sessions when a cell of the society fails: each ends, and the world works on. */
import type { Served } from '@reprise/agent';
import { formatAddress } from '@reprise/contracts';
import { defineAgent, isRepriseError, memory, openWorld } from 'reprise';
import { script, scriptBy } from 'reprise/providers';
import { groupTools } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { defectiveSociety } from './support/failing.js';

/** Entities with the name Broken fail when the gate has judged a call, and swarms by broadcast when a task ends. */
const defective = () =>
  defectiveSociety(({ reducer, event, state }) => {
    const { display_name, strategy } = state as { readonly display_name?: string; readonly strategy?: string };
    if (reducer === 'society/Swarm@1') return event === 'society/Worked@1' && strategy === 'broadcast';
    return event === 'society/Checked@1' && display_name === 'Broken';
  });

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

async function office(models: Parameters<typeof openWorld>[0]['models']) {
  const part = defective();
  const world = await openWorld({ store: memory(), models, agents: [bot, scout], parts: [part] });
  const ann = await world.part(part).human('ann');
  return { world, office: world.part(part), ann };
}

async function broken(at: Awaited<ReturnType<typeof office>>) {
  const { agent_id } = await at.ann.register({ agent_type: 'custom', display_name: 'Broken', capabilities: {} });
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

describe('a swarm whose cell fails', () => {
  it('a failed swarm ends ended() and events(), at the fault and after it [RED-39]', async () => {
    const at = await office({ main: scriptBy(() => ({ text: 'A market.' })) });
    await using world = at.world;
    const agents = [{ slot: 'scout', agent_type: 'swarm-worker' as const, capabilities: { tools: [] }, count: 2 }];
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
