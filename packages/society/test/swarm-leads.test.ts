/** Swarms whose creator, coordinator or members are revoked or suspended, and those with a budget of tokens. */
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { type ScriptStep, scriptBy } from 'reprise/providers';
import { type Entity, type SwarmManifest, society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SwarmState } from '../src/index.js';

/** A tool that waits until it is released. */
function waitingTool() {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = { waiting: 0, stopped: 0 };
  const tool = defineTool({
    name: 'wait',
    description: 'Waits.',
    args: z.strictObject({}),
    run: async (_, { signal }) => {
      state.waiting++;
      await Promise.race([released, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      if (signal.aborted) state.stopped++;
      return 'done';
    },
  });
  return { tool, state, release };
}

/** A world with Ann, whose scouts call a tool that waits and then speak. */
async function openScene(
  usage: { readonly tokens_in: number; readonly tokens_out: number } = { tokens_in: 0, tokens_out: 0 },
  other: (said: string, request: number) => ScriptStep | undefined = () => undefined,
) {
  const { tool, state, release } = waitingTool();
  const asked = { requests: 0 };
  const main = scriptBy(({ messages }) => {
    asked.requests++;
    const step = other(JSON.stringify(messages), asked.requests);
    if (step !== undefined) return step;
    const isAnswered = messages.some(({ role }) => role === 'tool');
    return isAnswered ? { text: 'A market.', usage } : { calls: [{ tool: 'wait', args: {} }], usage };
  });
  const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.', tools: [tool] });
  const part = society();
  const world = await openWorld({ store: memory(), models: { main }, agents: [scout], parts: [part] });
  const office = world.part(part);
  const ann = await office.human('ann');
  const agentBelow = async (capabilities = {}): Promise<Entity> => {
    const spec = { agentType: 'custom' as const, displayName: 'Lead', capabilities };
    return office.entity((await ann.register(spec)).agent_id);
  };
  const swarmAt = async (id: string) => (await world.kernel.state(['society/Swarm@1', id])) as unknown as SwarmState;
  return { world, office, ann, agentBelow, swarmAt, asked, tool: state, release };
}

const scouts = (count: number) => [
  { slot: 'scout', agentType: 'swarm-worker' as const, capabilities: { tools: ['wait'] }, count },
];

const markets: SwarmManifest = { swarmId: 'markets', goal: 'Compare', strategy: 'broadcast', agents: scouts(2) };

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('a swarm whose lead is revoked', () => {
  it('a swarm fails with its creator: what runs ends, its agents are deactivated, its group is archived [SOC-63]', async () => {
    const { world, ann, agentBelow, swarmAt, tool } = await openScene();
    await using _ = world;
    const lead = await agentBelow();
    const swarm = await lead.createSwarm(markets);
    await until(() => tool.waiting === 2);
    await ann.setStatus(lead.id, 'deactivate');
    await until(() => tool.stopped === 2);
    expect(await swarmAt('markets')).toMatchObject({ status: 'failed', code: 'creator/deactivated' });
    const states = await Promise.all(
      swarm.created.agents.map(({ agent_id }) => world.kernel.state(['society/Entity@1', agent_id])),
    );
    expect(states).toMatchObject([{ status: 'deactivated' }, { status: 'deactivated' }]);
    expect(await world.kernel.state(['society/Group@1', 'markets'])).toMatchObject({ standing: 'archived' });
    await world.verify();
  });

  it('a coordinator that existed before delegates, collects and finishes by its own calls [SOC-15] [SOC-18]', async () => {
    const { world, ann, agentBelow, release } = await openScene();
    await using _ = world;
    release();
    const boss = await agentBelow();
    const swarm = await ann.createSwarm({ ...markets, strategy: 'hierarchical', coordinatorAgentId: boss.id });
    const task = (args: object) => boss.use('swarm_task', { swarm_id: 'markets', ...args } as never);
    for (let n = 0; n < 2; n++) await task({ action: 'delegate', slot: 'scout', task: 'Look at one.' });
    expect(await task({ action: 'collect' })).toMatchObject({
      reports: [{ status: 'ok' }, { status: 'ok' }],
      waiting: 0,
    });
    await task({ action: 'finish', result: 'Compared.' });
    expect(await swarm.status()).toMatchObject({ status: 'archived', synthesis: 'Compared.' });
    expect(await world.kernel.state(boss.address)).toMatchObject({ status: 'active' }); // it is no agent of the swarm
    await world.verify();
  });

  it('a swarm fails with a coordinator that existed before, and with no other member of its group [SOC-63]', async () => {
    const { world, ann, office, agentBelow, swarmAt, tool } = await openScene();
    await using _ = world;
    const [boss, other] = [await agentBelow(), await agentBelow()];
    await ann.createSwarm({ ...markets, strategy: 'hierarchical', coordinatorAgentId: boss.id });
    await office.group('markets').join(other.id);
    await boss.use('swarm_task', { swarm_id: 'markets', action: 'delegate', slot: 'scout', task: 'Look.' } as never);
    await until(() => tool.waiting === 1);
    await ann.setStatus(other.id, 'deactivate');
    expect(await swarmAt('markets')).toMatchObject({ status: 'executing' });
    await ann.setStatus(boss.id, 'deactivate');
    expect(await swarmAt('markets')).toMatchObject({ status: 'failed', code: 'coordinator/deactivated' });
    await until(() => tool.stopped === 1);
    await world.verify();
  });
});

describe('a swarm one of whose members is suspended', () => {
  it('the work of a suspended member stands still, nothing of it is cancelled, and it goes on when it is resumed [SOC-36] [WORK-11]', async () => {
    const { world, ann, swarmAt, asked, tool, release } = await openScene();
    await using _ = world;
    const swarm = await ann.createSwarm({ ...markets, agents: scouts(1) });
    const [member] = swarm.created.agents;
    await until(() => tool.waiting === 1);
    await ann.setStatus(member?.agent_id ?? '', 'suspend');
    release();
    await world.pump();
    expect([asked.requests, tool.stopped]).toStrictEqual([1, 0]); // the tool came to its end, no step follows
    expect(await swarmAt('markets')).toMatchObject({ status: 'executing' });
    await ann.setStatus(member?.agent_id ?? '', 'resume');
    expect(await swarm.ended({ within: '20s' })).toMatchObject({ status: 'archived', synthesis: 'A market.' });
    expect(asked.requests).toBe(2);
    await world.verify();
  });
});

describe('a swarm with a budget of tokens', () => {
  /** Runs a swarm each of whose agents asks its model twice, for 5,000 tokens each time. */
  async function ended(manifest: Partial<SwarmManifest>, other?: Parameters<typeof openScene>[1]) {
    const { world, ann, asked, swarmAt, release } = await openScene({ tokens_in: 4_000, tokens_out: 1_000 }, other);
    await using _ = world;
    release();
    const swarm = await ann.createSwarm({ ...markets, ...manifest });
    await swarm.ended({ within: '20s' });
    const { status, code, spent, reserved } = await swarmAt('markets');
    await world.verify();
    return { status, code, requests: asked.requests, used: spent.tokens, reserved };
  }

  it('a swarm whose budget is used up fails, and its agents ask their model no further [SOC-15] [SOC-70]', async () => {
    const slot = scouts(1)[0] as (typeof markets)['agents'][0];
    const agents = ['a', 'b', 'c'].map((name) => ({ ...slot, slot: name, agent: 'scout' }));
    const pipeline = { strategy: 'pipeline', agents } as const;
    const enough = await ended({ ...pipeline, budgetTokens: 31_000 });
    expect(enough).toStrictEqual({ status: 'archived', code: null, requests: 6, used: 30_000, reserved: 0 });
    const short = await ended({ ...pipeline, budgetTokens: 15_000 });
    expect(short).toStrictEqual({
      ...{ status: 'failed', code: 'budget_exhausted', requests: 3, used: 15_000, reserved: 0 },
    });
  });

  it('agents that work at once share what is left, so that all together do not use more [SOC-64]', async () => {
    const atOnce = { agents: scouts(4), strategy: 'broadcast' } as const;
    const short = await ended({ ...atOnce, budgetTokens: 20_000 });
    expect(short).toStrictEqual({
      ...{ status: 'failed', code: 'budget_exhausted', requests: 4, used: 20_000, reserved: 0 },
    });
    const enough = await ended({ ...atOnce, budgetTokens: 50_000 });
    expect(enough).toMatchObject({ status: 'archived', requests: 8, used: 40_000, reserved: 0 });
  });

  it('a call that the provider refused uses nothing of the budget: the agent is tried once more', async () => {
    const refused = (_: string, request: number): ScriptStep | undefined =>
      request === 1 ? { fail: 'provider_error_terminal/refused' } : undefined;
    const one = { agents: scouts(1), onMemberFailure: 'restart', budgetTokens: 15_000 } as const;
    expect(await ended(one, refused)).toMatchObject({ status: 'archived', code: null, requests: 3, used: 10_000 });
  });

  it('an agent whose share is too small fails alone, and is not tried again with what is left of it', async () => {
    const usage = { tokens_in: 4_000, tokens_out: 1_000 };
    const greedy = (said: string): ScriptStep | undefined =>
      said.includes('scout 0 of') ? { calls: [{ tool: 'wait', args: {} }], usage } : undefined;
    const four = { agents: scouts(4), onMemberFailure: 'restart', budgetTokens: 50_000 } as const;
    expect(await ended(four, greedy)).toMatchObject({ status: 'archived', code: null, requests: 8, reserved: 0 });
    const all = { ...four, onMemberFailure: 'abort' } as const;
    expect(await ended(all, greedy)).toMatchObject({ status: 'failed', code: 'budget_exhausted', reserved: 0 });
  });

  it('an agent for which nothing is left waits in line for what others give back, and does not end the swarm [SOC-64] [SOC-70]', async () => {
    const use = (tokens_in: number) => ({ text: 'A market.', usage: { tokens_in, tokens_out: 0 } });
    const steps = (said: string): ScriptStep | undefined => {
      if (said.includes('alpha 0 of')) return use(20_000); // all of its share
      return /omega [01] of/.test(said) ? use(1_000) : undefined;
    };
    const { world, ann, swarmAt, tool, release } = await openScene({ tokens_in: 1_000, tokens_out: 0 }, steps);
    await using _ = world;
    const slot = scouts(2)[0] as (typeof markets)['agents'][0];
    const agents = ['alpha', 'omega'].map((name) => ({ ...slot, slot: name, agent: 'scout' }));
    const lanes = { strategy: 'pipeline', agents, budgetTokens: 40_000 } as const;
    const swarm = await ann.createSwarm({ ...markets, ...lanes });
    await until(() => tool.waiting === 1);
    while ((await swarmAt('markets')).spent.tokens === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await swarmAt('markets')).toMatchObject({
      status: 'executing',
      spent: { tokens: 20_000 },
      reserved: 20_000,
    });
    release();
    expect(await swarm.ended({ within: '20s' })).toMatchObject({ status: 'archived' });
    expect(await swarmAt('markets')).toMatchObject({ code: null, spent: { tokens: 24_000 }, reserved: 0 });
    await world.verify();
  });
});
