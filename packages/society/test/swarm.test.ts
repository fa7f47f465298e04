import { AGENT_POLICY } from '@reprise/agent';
import type { PolicyRule } from '@reprise/contracts';
import { type KeyVault, memoryVault } from '@reprise/society';
import { defineAgent, defineTool, isRepriseError, memory, openWorld, type RepriseError } from 'reprise';
import { script, scriptBy } from 'reprise/providers';
import { type SwarmManifest, society } from 'reprise/society';
import { skill, team } from 'reprise/specialists';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look at one market.' });
const writer = defineAgent({ name: 'writer', model: 'main', instructions: 'Write the report.' });
const boss = defineAgent({ name: 'boss', model: 'main', instructions: 'Lead the others.' });

const worker = (slot: string, count: number, rest: Partial<SwarmManifest['agents'][number]> = {}) => ({
  slot,
  agentType: 'swarm-worker' as const,
  capabilities: { tools: [] as string[] },
  count,
  ...rest,
});

/** A world with a person, whose model answers by what it is asked. */
async function office(
  answer: Parameters<typeof scriptBy>[0],
  {
    agents = [scout, writer, boss],
    root = {},
    keys = memoryVault(),
    policy = AGENT_POLICY,
    until,
  }: {
    readonly agents?: readonly never[] | object;
    readonly root?: object;
    readonly keys?: KeyVault;
    readonly policy?: readonly PolicyRule[];
    /** The model answers nothing before. */
    readonly until?: Promise<void>;
  } = {},
) {
  const part = society({ root, keys });
  const store = memory();
  const scripted = scriptBy(answer);
  const generate: typeof scripted.generate = async (...request) => {
    await until;
    return scripted.generate(...request);
  };
  const options = {
    ...{ models: { main: { ...scripted, generate } }, agents: agents as (typeof scout)[], parts: [part] },
    policy: [...policy],
  };
  const world = await openWorld({ store, ...options });
  return { part, world, options, ann: await world.part(part).human('ann') };
}

const reports = ({ system, last }: { readonly system: string; readonly last: string }) => ({
  text: system.includes('report') ? `Three markets: ${last.split('A market.').length - 1}` : 'A market.',
});

const pipeline: SwarmManifest = {
  goal: 'Compare three markets',
  strategy: 'pipeline',
  agents: [worker('scout', 3), worker('writer', 1)],
  culture: { broadcast_eagerness: 'moderate' },
};

/** The refusal of a promise. */
async function refusalOf(asked: Promise<unknown>): Promise<RepriseError['details']> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isRepriseError(error)) throw error;
  return error.details;
}

describe('a swarm', () => {
  it('a swarm runs its slots as stages of a pipeline, and joins the outputs of one for the next [SOC-14] [SOC-17]', async () => {
    const { world, ann } = await office(reports);
    await using _ = world;
    const swarm = await ann.createSwarm(pipeline, { id: 'markets' });
    const end = await swarm.ended({ within: '20s' });
    expect(end).toMatchObject({ status: 'archived', synthesis: 'Three markets: 3' });
    expect(end.results.map(({ status }) => status)).toStrictEqual(['ok', 'ok', 'ok', 'ok']);
    expect(end.agents.map(({ status }) => status)).toStrictEqual(Array(4).fill('deactivated'));
    await world.verify();
  });

  it('a pipeline passes outputs on lane by lane between stages of equal counts [SOC-17]', async () => {
    const { world, ann } = await office(({ system, last }) => ({
      text: system.includes('report') ? `One market: ${last.includes('A market.')}` : 'A market.',
    }));
    await using _ = world;
    const agents = [worker('scout', 2), worker('writer', 2)];
    const end = await (await ann.createSwarm({ ...pipeline, agents })).ended({ within: '20s' });
    expect(end.synthesis?.split('One market: true').length).toBe(3);
    expect(end.status).toBe('archived');
  });

  it('a broadcast asks all agents together, and joins what they found without a model [SOC-19]', async () => {
    const { world, ann } = await office(reports);
    await using _ = world;
    const swarm = await ann.createSwarm({ ...pipeline, strategy: 'broadcast', agents: [worker('scout', 3)] });
    const end = await swarm.ended({ within: '20s' });
    expect(end.synthesis?.split('A market.').length).toBe(4);
    const ended = [];
    for await (const event of swarm.events()) if (event.type === 'task_complete') ended.push(event.agent_id);
    expect(ended.length).toBe(3);
    expect(new Set(ended).size).toBe(3);
  });

  it('a hierarchical swarm lets only its coordinator delegate, and brings it what the workers report [SOC-18]', async () => {
    const hierarchical: SwarmManifest = {
      swarmId: 'research',
      goal: 'Compare three markets',
      strategy: 'hierarchical',
      coordinatorAgentId: { slot: 'boss' },
      agents: [
        worker('boss', 1, { capabilities: { tools: ['swarm_task'] } }),
        worker('scout', 2, { capabilities: { tools: ['swarm_task'] } }),
      ],
    };
    const swarm_task = (args: object) => ({ tool: 'swarm_task', args: { swarm_id: 'research', ...args } });
    const { world, ann } = await office(({ system, last, messages }) => {
      const asked = messages.filter(({ role }) => role === 'tool').length;
      if (!system.includes('Lead'))
        return asked === 0
          ? { calls: [swarm_task({ action: 'delegate', slot: 'scout', task: 'My own.' })] }
          : { text: last.includes('not_authorized') ? 'A market.' : 'Delegated!' };
      const delegate = swarm_task({ action: 'delegate', slot: 'scout', task: 'Look at one.' });
      if (asked === 0) return { calls: [delegate, delegate] };
      if (asked === 2) return { calls: [swarm_task({ action: 'collect' })] };
      const found = last.split('A market.').length - 1;
      return { calls: [swarm_task({ action: 'finish', result: `Found ${found}.` })] };
    });
    await using _ = world;
    const end = await (await ann.createSwarm(hierarchical)).ended({ within: '20s' });
    expect(end).toMatchObject({ status: 'archived', synthesis: 'Found 2.' });
    expect(end.results.map(({ status }) => status)).toStrictEqual(['cancelled', 'ok', 'ok']);
    await world.verify();
  });

  it('a coordinator that names a slot gives its tasks to all workers of it, also to those that were not asked first [SOC-69]', async () => {
    const swarm_task = (args: object) => ({ tool: 'swarm_task', args: { swarm_id: 'research', ...args } });
    const delegate = swarm_task({ action: 'delegate', slot: 'scout', task: 'Look at one.' });
    const collect = swarm_task({ action: 'collect' });
    const steps = [delegate, collect, delegate, collect, delegate, collect, swarm_task({ action: 'finish' })];
    const { world, ann } = await office(({ system, messages }) => {
      const call = steps[messages.filter(({ role }) => role === 'tool').length];
      return system.includes('Lead') && call !== undefined ? { calls: [call] } : { text: 'A market.' };
    });
    await using _ = world;
    const swarm = await ann.createSwarm({
      swarmId: 'research',
      goal: 'Compare three markets',
      strategy: 'hierarchical',
      coordinatorAgentId: { slot: 'boss' },
      agents: [worker('boss', 1, { capabilities: { tools: ['swarm_task'] } }), worker('scout', 2)],
    });
    const { results } = await swarm.ended({ within: '20s' });
    const [, one, two, three] = results.map(({ agent_id }) => agent_id);
    expect(new Set([one, two]).size).toBe(2);
    expect(three).toBe(one);
    await world.verify();
  });

  it('a hierarchical swarm fails when its coordinator is lost, and keeps what was found [SOC-18]', async () => {
    const { world, ann } = await office(() => ({ fail: 'provider_error_terminal/bad_request' }));
    await using _ = world;
    const agents = [worker('boss', 1), worker('scout', 1)];
    const swarm = await ann.createSwarm({
      ...pipeline,
      strategy: 'hierarchical',
      coordinatorAgentId: { slot: 'boss' },
      agents,
    });
    expect((await swarm.ended({ within: '20s' })).status).toBe('failed');
  });
});

describe('the creation of a swarm', () => {
  it('a swarm is refused, with nothing made, when a slot exceeds what its creator may hand on [SOC-14] [CAP-2]', async () => {
    const { world, ann } = await office(reports, { root: { tools: ['read_file', 'swarm_create', 'agent_list'] } });
    await using _ = world;
    const agents = [worker('scout', 1), worker('writer', 1, { capabilities: { tools: ['write_file'] } })];
    const asked = await refusalOf(ann.createSwarm({ ...pipeline, swarmId: 'wide', agents }));
    expect(asked).toMatchObject({
      reason: 'capability_exceeds_parent',
      actual: { path: 'agents.1.capabilities.tools' },
    });
    expect(await world.kernel.state(['society/Swarm@1', 'wide'])).toBeUndefined();
    expect((await ann.agents()).items).toStrictEqual([]);
  });

  it('a swarm is refused for an agent that no part of the world knows, naming where it stands [SOC-15]', async () => {
    const { world, ann } = await office(reports);
    await using _ = world;
    const agents = [worker('scout', 1), worker('research', 1, { agent: 'skill:research' })];
    const asked = await refusalOf(ann.createSwarm({ ...pipeline, swarmId: 'skilled', agents }));
    expect(asked).toMatchObject({ reason: 'agent_undefined', actual: { path: 'agents.1.agent' } });
    expect(await world.kernel.state(['society/Swarm@1', 'skilled'])).toBeUndefined();
  });

  it('a slot takes a skill of a team of the world [SOC-15]', async () => {
    const Grep = defineTool({
      name: 'Grep',
      description: 'Searches.',
      args: z.strictObject({}),
      run: () => 'src/login.ts',
    });
    const research = skill({
      name: 'research',
      description: 'Finds things',
      tools: ['Grep'],
      body: 'Search, then report.',
    });
    const dev = team({
      name: 'dev',
      skills: [research],
      tools: [Grep],
      coordinator: { model: 'main', identity: 'You coordinate.' },
    });
    const part = society();
    const main = script({ calls: [{ tool: 'Grep', args: {} }] }, { text: 'Login is in src/login.ts.' });
    await using world = await openWorld({ store: memory(), models: { main }, parts: [dev, part] });
    const ann = await world.part(part).human('ann');
    const agents = [worker('finder', 1, { agent: 'skill:research', capabilities: { tools: ['Grep'] } })];
    const end = await (await ann.createSwarm({ ...pipeline, agents })).ended({ within: '20s' });
    expect(end).toMatchObject({ status: 'archived', synthesis: 'Login is in src/login.ts.' });
  });

  it('a swarm is refused with a budget in money where a model has no price, and runs without one', async () => {
    const { world, ann } = await office(reports);
    await using _ = world;
    const asked = await refusalOf(ann.createSwarm({ ...pipeline, budgetUsd: 1 }));
    expect(asked).toMatchObject({ reason: 'no_price', actual: { path: 'agents.0.agent' } });
    expect(asked.hint).toContain('price: { in, out }');
    expect((await (await ann.createSwarm(pipeline)).ended({ within: '20s' })).status).toBe('archived');
  });

  it('a swarm is refused for two slots of one name, too many agents, an unknown coordinator and two budgets [SOC-15]', async () => {
    const { world, ann } = await office(reports);
    await using _ = world;
    const wrong: readonly (readonly [Partial<SwarmManifest>, string])[] = [
      [{ agents: [worker('scout', 1), worker('scout', 1)] }, 'agents.1.slot'],
      [{ agents: [worker('scout', 64), worker('writer', 1)] }, 'agents'],
      [{ coordinatorAgentId: { slot: 'nowhere' } }, 'coordinator_agent_id.slot'],
      [{ strategy: 'hierarchical' }, 'coordinator_agent_id'],
      [{ budgetUsd: 1, budgetTokens: 1 }, 'budget_tokens'],
    ];
    for (const [change, where] of wrong) {
      const { reason, actual } = await refusalOf(ann.createSwarm({ ...pipeline, ...change }));
      expect([reason, JSON.stringify(actual)]).toStrictEqual([
        'invalid_arguments',
        expect.stringContaining(`["${where}:`),
      ]);
    }
  });
});

describe('given a vault that makes no key', () => {
  const away: KeyVault['make'] = async () => {
    throw new Error('the vault is away');
  };

  it('a swarm and a registration are refused with key_not_made and the same cause, and nothing is left of the swarm [SOC-14] [SOC-139]', async () => {
    const { part, world, ann } = await office(reports, { keys: { ...memoryVault(), make: away } });
    await using _ = world;
    const ofSwarm = await refusalOf(ann.createSwarm({ ...pipeline, swarmId: 'markets' }));
    const ofAgent = await refusalOf(ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} }));
    for (const refused of [ofSwarm, ofAgent])
      expect(refused?.actual).toStrictEqual({ code: 'key_not_made', cause: 'adapter_error/threw' });
    expect((await ann.agents()).items).toStrictEqual([]);
    expect((await world.part(part).audit()).problems).toStrictEqual([]);
    await world.verify();
  });
});

describe('given a policy that lets no cell of an agent be made', () => {
  const policy: PolicyRule[] = [
    { send: 'society/Entity@1/ann#*', decision: 'allow' },
    { send: 'society/Entity@1/*', decision: 'deny' },
    ...AGENT_POLICY,
  ];

  it('a swarm and a registration are refused with the same dimension and cause, and nothing is left of the swarm [SOC-14] [CAP-2]', async () => {
    const { part, world, ann } = await office(reports, { policy });
    await using _ = world;
    const ofSwarm = await refusalOf(ann.createSwarm({ ...pipeline, swarmId: 'markets' }));
    const ofAgent = await refusalOf(ann.register({ agentType: 'custom', displayName: 'Bot', capabilities: {} }));
    const actual = { code: 'capability_exceeds_parent', dimension: 'rights', cause: 'policy_denied' };
    for (const refused of [ofSwarm, ofAgent]) expect(refused?.actual).toStrictEqual(actual);
    expect(await world.kernel.state(['society/Swarm@1', 'markets'])).toBeUndefined();
    expect((await ann.agents()).items).toStrictEqual([]);
    expect((await world.part(part).audit()).problems).toStrictEqual([]);
    await world.verify();
  });
});

describe('the end of a swarm', () => {
  it('a swarm that is disbanded while it forms takes back its agents, and the call that creates it is refused [SOC-14] [SOC-20]', async () => {
    const vault = memoryVault();
    let [asked, go] = [0, (): void => undefined];
    const isLate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const make: KeyVault['make'] = async (...args) => {
      if (++asked > 2) await isLate;
      return vault.make(...args);
    };
    const { part, world, ann } = await office(reports, { root: { max_parallel_ops: 3 }, keys: { ...vault, make } });
    await using _ = world;
    const refused = refusalOf(ann.createSwarm({ ...pipeline, swarmId: 'early' }));
    await vi.waitUntil(() => asked === 4, { timeout: 60_000 }); // two agents are made, and have not begun
    const { status, agents } = await world.part(part).swarm('early').disband('delete');
    expect([status, agents]).toStrictEqual(['disbanded', []]);
    expect((await refused).reason).toBe('swarm_over');
    go();
    expect((await ann.agents()).items).toStrictEqual([]);
    expect((await world.part(part).audit()).problems).toStrictEqual([]);
    const { status: again } = await (await ann.createSwarm({ ...pipeline, swarmId: 'late' })).ended({ within: '60s' });
    expect(again).toBe('archived');
    await world.verify();
  });

  it('a disband ends a swarm at any time, once, and answers the same again [SOC-20]', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { world, ann } = await office(() => ({ text: 'Too late.' }), { until: held });
    await using _ = world;
    const swarm = await ann.createSwarm({ ...pipeline, agents: [worker('scout', 2)] });
    expect((await swarm.status()).status).toBe('executing');
    const ended = await swarm.disband('archive');
    expect(ended).toMatchObject({ status: 'archived' });
    expect(ended.agents.map(({ status }) => status)).toStrictEqual(['deactivated', 'deactivated']);
    release();
    expect((await swarm.disband('archive')).results).toStrictEqual(ended.results);
    expect((await swarm.disband('delete')).status).toBe('disbanded');
    await world.verify();
  });

  it.each([
    ['continue', 'archived', ['failed', 'ok'], 2],
    ['restart', 'archived', ['failed', 'ok'], 3],
    ['abort', 'failed', ['failed', expect.any(String)], 2],
  ] as const)('a swarm follows the policy %s when a member fails', async (onMemberFailure, status, results, asked) => {
    let calls = 0;
    const { world, ann } = await office(({ system }) => {
      calls++;
      return system.includes('report') ? { text: 'Fine.' } : ({ fail: 'provider_error_terminal/bad_request' } as const);
    });
    await using _ = world;
    const agents = [worker('scout', 1), worker('writer', 1)];
    const swarm = await ann.createSwarm({
      ...pipeline,
      strategy: 'broadcast',
      agents,
      onMemberFailure,
    });
    const end = await swarm.ended({ within: '20s' });
    expect(end.status).toBe(status);
    expect(end.results.map((row) => row.status)).toStrictEqual(results);
    if (onMemberFailure !== 'abort') expect(calls).toBe(asked);
  });
});

describe('a dry fork before a swarm', () => {
  it('a dry fork before a swarm makes the same agents and results again, makes no key and asks no model [SOC-48]', async () => {
    let [calls, made] = [0, 0];
    const vault = memoryVault();
    const make: KeyVault['make'] = (of) => {
      made++;
      return vault.make(of);
    };
    const answer = (request: Parameters<typeof reports>[0]) => {
      calls++;
      return reports(request);
    };
    const { world, ann, options, part } = await office(answer, { keys: { ...vault, make } });
    await using _ = world;
    const swarm = await ann.createSwarm({ ...pipeline, swarmId: 'markets' }, { id: 'markets' });
    const end = await swarm.ended({ within: '20s' });
    expect([calls, made]).toStrictEqual([4, 4]);
    const store = memory();
    await world.fork({ into: store, at: swarm.formedAt });
    await using again = await openWorld({ store, ...options });
    await again.pump();
    const same = await again.part(part).swarm('markets').status();
    expect(same.agents).toStrictEqual(end.agents);
    expect(same.results).toStrictEqual(end.results);
    expect(same.synthesis).toBe(end.synthesis);
    expect([calls, made]).toStrictEqual([4, 4]);
  });
});
