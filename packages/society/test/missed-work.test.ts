/** Work that ends while the cell that waits for it has failed. */
import { defineAgent, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, agentWith, hangingTool, openOffice } from './support/office.js';

const SESSION = 'aos.agent/SessionReducer@1';

/** An agent of Ann whose session works until its tool is stopped. */
async function working(agentType: 'custom' | 'claude-code' = 'custom') {
  const { tool, state } = hangingTool();
  const worker = agentWith([tool]);
  const steps = [{ calls: [{ tool: 'hang', args: {} }] }, { text: 'Over.' }] as never;
  const scene = await openOffice({ failing: true, agents: [worker], steps });
  const ann = await scene.office.human('ann');
  const bot = scene.office.entity(await agentOf(ann, {}, { agentType }));
  const run = await bot.send(worker, 'Go.');
  while (state.hanging < 1) await new Promise((resolve) => setImmediate(resolve));
  const session = [SESSION, `${bot.id}/worker`] as const;
  const command = (type: string) =>
    scene.world.kernel.request([...session], {
      name: 'aos.agent/HostCommand@1',
      value: { command_id: type, command: { type, ...(type === 'Cancel' ? { scope: 'all' } : {}) } },
    });
  const row = async () => (await scene.world.kernel.table(['society/Entity@1', bot.id], 'sessions', {}))[0]?.[1];
  return { ...scene, ann, bot, run, command, row };
}

describe('an agent whose session goes on while its cell has failed', () => {
  it('a revived agent knows that the run of its session has ended [SOC-123]', async () => {
    await using at = await working();
    await failEntity(at.world, at.bot.id);
    await at.command('Cancel');
    await at.run.result();
    expect(await at.row()).toMatchObject({ running: true });
    await at.bot.revive();
    expect(await at.row()).toMatchObject({ open: true, running: false });
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('an agent that lives for its session ends when the session closed meanwhile, once it is revived [SOC-123]', async () => {
    await using at = await working('claude-code');
    await failEntity(at.world, at.bot.id);
    await at.command('Close');
    await at.run.result().catch(() => undefined);
    await at.bot.revive();
    expect(await at.row()).toMatchObject({ open: false, running: false });
    expect((await at.bot.state())?.status).toBe('deactivated');
    expect((await at.world.verify()).unverified).toBe(0);
  });
});

const HOUR = 3_600_000;
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look at one market.' });

/** A swarm whose cell fails of the first news of its agents' work, in the first hour. */
async function failingSwarm() {
  const clock = new VirtualClock();
  const until = clock.wall() + HOUR;
  const change = (one: ReducerDefinition): ReducerDefinition => ({
    ...one,
    reduce: (draft, event, ctx) => {
      const isEnd = event.name === 'society/Worked@1' && (event.value as { readonly status: string }).status === 'ok';
      if (isEnd && ctx.now < until) throw new Error('a defect of the first hour');
      return one.reduce(draft, event, ctx);
    },
  });
  const part = society();
  const reducers = (part.reducers ?? []).map((one) => (one.name === 'society/Swarm@1' ? change(one) : one));
  const models = { main: scriptBy(() => ({ text: 'A market.' })) };
  const failing = { ...part, reducers };
  const world = await openWorld({
    store: memory(),
    clock,
    models,
    agents: [scout],
    parts: [failing],
    onError: () => {},
  });
  return { world, office: world.part(failing), clock, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('a swarm whose agents work on while its cell has failed', () => {
  it('a revived swarm knows what its agents have done meanwhile, and ends with their results [SOC-124]', async () => {
    await using at = await failingSwarm();
    const ann = await at.office.human('ann');
    const agents = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: {}, count: 2 }];
    const swarm = await ann.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents });
    while ((await at.world.trouble()).length === 0) await new Promise((resolve) => setImmediate(resolve));
    await at.world.pump();
    await at.clock.advance(HOUR);
    await swarm.revive();
    await at.world.pump();
    const tasks = (await at.world.kernel.table([...swarm.address], 'tasks', {})).map(([, task]) => task);
    expect(tasks.map((task) => (task as { readonly status: string }).status)).toEqual(['ok', 'ok']);
    expect((await at.world.verify()).unverified).toBe(0);
  });
});
