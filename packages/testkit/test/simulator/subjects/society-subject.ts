/**
 * Societies under the simulator: people register agents, give and take capabilities, open groups, write and judge items,
 * lead swarms whose models' answers are drawn, end and bring back agents; and processes die. In the calm the audit finds
 * nothing, every swarm is over, and each request for an agent or an item made one.
 */
import { createHash } from 'node:crypto';
import { type AgentWorld, agentApp, appOf, defineAgent, openAgentWorld } from '@reprise/agent';
import { isRepriseError, type JournalRecord } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { llmGenerateAdapter } from '@reprise/providers';
import {
  type Capabilities,
  type Entity,
  type KeyVault,
  type Society,
  type SwarmManifest,
  type SwarmState,
  society,
} from '@reprise/society';
import type { SimulationAct, SimulationPlay, SimulationRun, SimulationSubject } from '@reprise/testkit/simulator';
import { quickMemory } from '../../../../../conformance/quick-memory.js';
import { FOUND, NEVER_REFUSED_AS } from '../../../src/simulator/clients.js';
import { chatModel, said } from './chat-model.js';
import { drawSalts } from './salts.js';

const PEOPLE = ['ann', 'ben'] as const;
const GROUPS = ['crew', 'board'] as const;
const SWARMS = ['s1', 's2'] as const;
const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
const STRATEGIES = ['broadcast', 'pipeline', 'hierarchical'] as const;
const OVER: ReadonlySet<string> = new Set(['archived', 'disbanded', 'failed']);
const AGENTS_MAX = 10;

const agents = ['worker', 'boss'].map((name) =>
  defineAgent({ name, model: 'main', instructions: name === 'boss' ? 'Lead.' : 'Work.', limits: { steps: 6 } }),
);
const [worker] = agents as [(typeof agents)[0]];

/** A society in a world. */
export const societySubject: SimulationSubject = {
  name: 'societies',
  app: appOf([society()], agentApp),
  steps: 900,
  clientWeight: 24,
  store: quickMemory,
  sometimes: [
    'an agent was registered below an agent',
    'an agent was registered again under its id',
    'an item was written again under its id',
    'an agent was deactivated',
    'an agent came back',
    'an agent was judged',
    'a swarm was formed',
    'a swarm came to a result',
    'a swarm had a budget',
  ],
  begin: (run) => {
    drawSalts(run.random);
    return new SocietyPlay(run);
  },
};

/** A request that is sent again and again under one id, and what it was answered with. */
interface Repeated {
  readonly ask: (office: Society) => Promise<string>;
  answer?: string;
}

class SocietyPlay implements SimulationPlay {
  readonly acts: readonly SimulationAct[];
  readonly #worlds = new WeakMap<World, { readonly world: AgentWorld; readonly office: Society }>();
  readonly #vault: KeyVault;
  /** The agents that were answered with, each with the person above it. */
  readonly #known = new Map<string, string>();
  readonly #items: string[] = [];
  readonly #registrations: Repeated[] = [];
  readonly #writes: Repeated[] = [];
  /** Whether people and groups are there, and what each process does to have them there. */
  #hasBegun = false;
  readonly #begins = new WeakMap<Society, Promise<void>>();
  #calm = false;
  #n = 0;

  constructor(private readonly run: SimulationRun) {
    this.#vault = drawnVault(run.random);
    const { choices } = run;
    const act = (name: string, weight: number, execute: (office: Society) => Promise<unknown>): SimulationAct => ({
      name,
      weight,
      execute: (world) => this.#kept(async () => execute(await this.#begun(this.#of(world).office))),
    });
    const group = (office: Society) => office.group(choices.pick(GROUPS));
    this.acts = [
      act('registers an agent', 6, (office) => this.#register(office)),
      act('registers again', 3, (office) => this.#again(office, this.#registrations, 'an agent was registered again')),
      act('changes capabilities', 4, (office) =>
        this.#above(office, (person, agent) =>
          person.capabilities(agent, { capabilities: this.#capabilities() }, { id: this.#id() }),
        ),
      ),
      act('changes a status', 5, (office) => this.#above(office, (person, agent) => this.#status(person, agent))),
      act('joins', 5, (office) => group(office).join(this.#anyone(), choices.pick(ROLES), { id: this.#id() })),
      act('leaves', 1, (office) => group(office).leave(this.#anyone(), { id: this.#id() })),
      act('ends a group', 1, (office) => group(office).end(choices.pick(['archive', 'delete']), { id: this.#id() })),
      act('writes', 6, (office) => this.#write(office)),
      act('writes again', 3, (office) => this.#again(office, this.#writes, 'an item was written again')),
      act('judges', 5, (office) => this.#judge(office)),
      act('works', 4, (office) => office.entity(this.#anyone()).send(worker, 'Work.', { id: this.#id() })),
      act('creates a swarm', 3, (office) => this.#swarm(office)),
      act('disbands a swarm', 1, (office) => this.#disband(this.#person(office), choices.pick(SWARMS))),
      { name: 'snapshot', weight: 1, execute: (world) => this.#kept(() => world.snapshot()) },
    ];
  }

  async open(...[process, store]: Parameters<SimulationPlay['open']>): Promise<World> {
    const { outside, random, choices } = this.run;
    const main = chatModel((body) => this.#answer(body));
    const part = society({ keys: this.#vault });
    const world = await openAgentWorld({
      store,
      clock: process.clock,
      random,
      agents,
      parts: [part],
      models: { main: {} },
      llm: (judge) => outside.watch(process, llmGenerateAdapter({ main }, { judge })) as never,
      recheckEvery: 1,
      snapshotEvery: choices.pick([0, 9]),
    });
    this.#worlds.set(world.kernel, { world, office: world.part(part) });
    return world.kernel;
  }

  /** No cell faults, whatever models say and people ask; an input that ended its process again and again is put aside. */
  read(frame: readonly JournalRecord[]): void {
    const { sometimes } = this.run;
    for (const record of frame) {
      if (record.kind === 'fault' && record.code !== 'exhausted')
        throw new Error(`a cell has failed: ${JSON.stringify(record)}`);
      if (record.kind !== 'fact' || record.name !== 'society/SwarmChanged@1') continue;
      const { status } = record.value as { readonly status: string };
      if (status === 'executing') sometimes.happened('a swarm was formed');
    }
  }

  /** People let go of what waits, end their swarms, and ask again for what they were answered. */
  async settle(kernel: World): Promise<void> {
    this.#calm = true;
    const { office } = this.#of(kernel);
    for (const { effect } of await kernel.openEffects()) await this.#kept(() => kernel.cancel(effect));
    for (const id of SWARMS) for (const name of PEOPLE) await this.#kept(() => this.#disband(office.entity(name), id));
    for (const one of [...this.#registrations, ...this.#writes]) await this.#kept(() => this.#sent(office, one));
  }

  /** The audit finds nothing, every swarm is over, each agent was made once and has its key as long as it needs it, no call is open. */
  async check(kernel: World): Promise<void> {
    const { office } = this.#of(kernel);
    const { agents: audited, problems } = await office.audit();
    if (problems.length > 0) throw new Error(`the audit finds ${JSON.stringify(problems)}`);
    const names = audited.map(({ display_name, parent_entity_id }) => `${parent_entity_id} ${display_name}`);
    const twice = names.find((name, n) => names.indexOf(name) < n && !name.includes('swarm'));
    if (twice !== undefined) throw new Error(`${twice} was registered twice`);
    const kept = new Set(await this.#vault.list(kernel.id));
    for (const { agent_id, key, status } of audited)
      if (key.key_ref !== null && kept.has(key.key_ref) === (status === 'removed'))
        throw new Error(`agent ${agent_id} is ${status}, and its key ${kept.has(key.key_ref) ? 'stands' : 'is gone'}`);
    for (const id of [...PEOPLE, ...audited.map(({ agent_id }) => agent_id)]) {
      if ((await kernel.state(['society/Entity@1', id])) === undefined) continue;
      const open = await kernel.table(['society/Entity@1', id], 'calls');
      if (open.length > 0) throw new Error(`${id} has calls that are never answered: ${JSON.stringify(open)}`);
    }
    for (const id of SWARMS) {
      const state = (await kernel.state(['society/Swarm@1', id])) as unknown as SwarmState | undefined;
      if (state === undefined) continue;
      const { status, reserved, synthesis_ref, budget } = state;
      if (!OVER.has(status)) throw new Error(`swarm ${id} does not end: ${status}`);
      if (reserved !== 0) throw new Error(`swarm ${id} is over and has ${reserved} set aside`);
      if (synthesis_ref !== null) this.run.sometimes.happened('a swarm came to a result');
      if (budget.tokens !== null) this.run.sometimes.happened('a swarm had a budget');
    }
  }

  /** People and groups are there before anything else is asked for: one request of a process sees to it. */
  async #begun(office: Society): Promise<Society> {
    if (this.#hasBegun) return office;
    const begins = this.#begins.get(office) ?? this.#begin(office);
    this.#begins.set(office, begins);
    await begins;
    return office;
  }

  async #begin(office: Society): Promise<void> {
    for (const name of PEOPLE) await office.human(name);
    for (const id of GROUPS) {
      await office.group(id).open({ culture: { broadcast_eagerness: 'moderate' } });
      for (const name of PEOPLE) await office.group(id).join(name, 'owner', { id: `${name} joins ${id}` });
    }
    this.#hasBegun = true;
  }

  #register(office: Society): Promise<void> {
    const { choices } = this.run;
    const [parent, name, id] = [this.#anyone(), `Agent ${this.#n}`, this.#id()];
    const spec = {
      agentType: choices.pick(['claude-code', 'autonomous', 'custom'] as const),
      displayName: name,
      capabilities: { ...this.#capabilities(), ...(choices.once(3) ? { ttl_seconds: 1 + choices.below(120) } : {}) },
    };
    const one: Repeated = {
      ask: async (by) => {
        const { agent_id } = await by.entity(parent).register(spec, { id });
        if (!isPerson(parent)) this.run.sometimes.happened('an agent was registered below an agent');
        this.#known.set(agent_id, this.#known.get(parent) ?? parent);
        return agent_id;
      },
    };
    if (this.#registrations.length < AGENTS_MAX) this.#registrations.push(one);
    return this.#sent(office, one);
  }

  #write(office: Society): Promise<void> {
    const { choices } = this.run;
    const [author, id, group] = [this.#anyone(), this.#id(), choices.pick(GROUPS)];
    const to = choices.once(3) ? { visibility: 'private' as const } : { visibility: 'group' as const, group };
    const item = { type: 'note', content: `Note ${id}.`, ...to };
    const one: Repeated = {
      ask: async (by) => {
        const { item_id } = await by.entity(author).use('memory_write_warm', item, { id });
        this.#items.push(item_id);
        return item_id;
      },
    };
    this.#writes.push(one);
    return this.#sent(office, one);
  }

  /** Sends a request, and compares its answer with the one that it got before. */
  async #sent(office: Society, one: Repeated, again?: string): Promise<void> {
    const answer = await one.ask(office);
    if (one.answer !== undefined && one.answer !== answer)
      this.run.broken(`a request was answered with ${one.answer} and again with ${answer}`);
    if (one.answer !== undefined && again !== undefined) {
      this.run.sometimes.happened(FOUND);
      this.run.sometimes.happened(`${again} under its id`);
    }
    one.answer = answer;
  }

  async #again(office: Society, all: readonly Repeated[], what: string): Promise<void> {
    if (all.length > 0) await this.#sent(office, this.run.choices.pick(all), what);
  }

  async #status(person: Entity, agent: string): Promise<void> {
    const { choices, sometimes } = this.run;
    const to = choices.pick(['deactivate', 'deactivate', 'reactivate', 'suspend', 'resume'] as const);
    const grace = to === 'deactivate' ? { grace: choices.pick([0, 60, 604_800]) * 1000 } : {};
    await person.setStatus(agent, to, { ...grace, id: this.#id() });
    if (to === 'deactivate') sometimes.happened('an agent was deactivated');
    if (to === 'reactivate') sometimes.happened('an agent came back');
  }

  async #judge(office: Society): Promise<void> {
    const { choices, sometimes } = this.run;
    if (this.#items.length === 0) return;
    const verdict = { verdict: choices.pick(['right', 'wrong', 'wrong', 'retract'] as const), basis: 'user' } as const;
    await this.#person(office).assess(choices.pick(this.#items), verdict, { id: this.#id() });
    sometimes.happened('an agent was judged');
  }

  async #swarm(office: Society): Promise<void> {
    const { choices } = this.run;
    const [strategy, swarm_id] = [choices.pick(STRATEGIES), choices.pick(SWARMS)];
    const slot = (name: string, count: number, tools: string[] = []) =>
      ({ slot: name, agentType: 'swarm-worker', capabilities: { tools }, count }) as const;
    const manifest: SwarmManifest = {
      ...{ swarmId: swarm_id, goal: 'Work.', strategy, culture: { broadcast_eagerness: 'moderate' } },
      ...(strategy === 'hierarchical' ? { coordinatorAgentId: { slot: 'boss' } } : {}),
      ...(choices.once(2) ? { budgetTokens: choices.pick([2_000, 20_000, 200_000]) } : {}),
      onMemberFailure: choices.pick(['continue', 'restart', 'abort'] as const),
      agents: [...(strategy === 'hierarchical' ? [slot('boss', 1, ['swarm_task'])] : []), slot('worker', 2)],
    };
    await this.#person(office).createSwarm(manifest, { id: this.#id() });
  }

  /** A person disbands a swarm; one who did not create it is refused. */
  async #disband(person: Entity, swarm_id: string): Promise<void> {
    const mode = this.run.choices.pick(['archive', 'delete'] as const);
    await person.use('swarm_disband', { swarm_id, mode }, { id: this.#id() });
  }

  /** What a model says: drawn; in the calm, that it is done. */
  #answer(body: string): Response {
    const { choices } = this.run;
    if (this.#calm) return said({ content: 'Done.' });
    const how = choices.weighted([
      { weight: 4, say: () => said({ content: 'Fine.' }) },
      {
        weight: 8,
        say: () => said(body.includes('Lead.') ? { content: null, tool_calls: [this.#leads()] } : { content: 'Fine.' }),
      },
      { weight: 1, say: () => new Response('{"error":{"message":"no"}}', { status: 400 }) },
      { weight: 1, say: () => new Response('<html>') },
    ]);
    return how.say();
  }

  #leads(): object {
    const { choices } = this.run;
    const args = choices.pick([
      { action: 'delegate', slot: 'worker', task: 'Look.' },
      { action: 'delegate', slot: 'worker', task: 'Look.' },
      { action: 'collect' },
      { action: 'finish', result: 'Done.' },
    ]);
    const call = { name: 'swarm_task', arguments: JSON.stringify({ swarm_id: choices.pick(SWARMS), ...args }) };
    return { id: `k${this.#n++}`, type: 'function', function: call };
  }

  #capabilities(): Capabilities {
    const { choices } = this.run;
    const scope: Capabilities['memory_write'] = {
      layers: ['l1', 'l2'],
      groups: ['*'],
      visibility: ['private', 'group'],
    };
    return {
      ...(choices.once(2) ? {} : { tools: choices.pick([['*'], ['memory_*'], ['agent_*', 'memory_*'], []]) }),
      ...(choices.once(2) ? {} : { memory_write: scope }),
      ...(choices.once(3) ? { max_parallel_ops: 1 + choices.below(4) } : {}),
    };
  }

  #person(office: Society): Entity {
    return office.entity(this.run.choices.pick(PEOPLE));
  }

  /** A person does something to an agent below; nothing, before there is one. */
  async #above(office: Society, act: (person: Entity, agent: string) => Promise<unknown>): Promise<void> {
    if (this.#known.size === 0) return;
    const [agent, person] = this.run.choices.pick([...this.#known]);
    await act(office.entity(person), agent);
  }

  #anyone(): string {
    return this.run.choices.pick([...PEOPLE, ...this.#known.keys()]);
  }

  #id(): string {
    return `a${this.#n++}`;
  }

  #of(kernel: World) {
    return this.#worlds.get(kernel) as { readonly world: AgentWorld; readonly office: Society };
  }

  async #kept(asked: () => Promise<unknown>): Promise<void> {
    try {
      await asked();
    } catch (error) {
      if (!isRepriseError(error) || NEVER_REFUSED_AS.includes(error.code)) throw error;
      if (error.code === 'delivery_faulted') throw error;
      this.run.sometimes.happened(
        `refused: ${error.code}${error.code === 'request_rejected' ? `, ${String(error.details.reason)}` : ''}`,
      );
    }
  }
}

function isPerson(id: string): boolean {
  return PEOPLE.some((name) => name === id);
}

/** A vault whose keys are drawn by the run, and outlive its processes: the same seed gives the same agents. */
function drawnVault(random: (length: number) => Uint8Array): KeyVault {
  const keys = new Map<string, { readonly world: string; readonly at: Awaited<ReturnType<KeyVault['madeAt']>> }>();
  return {
    label: 'drawn',
    async make(world, at) {
      const public_key = random(32);
      const agent_id = createHash('sha256').update(public_key).digest('hex');
      const key_ref = `ed25519.${agent_id}`;
      keys.set(key_ref, { world, at });
      return { agent_id, public_key: Buffer.from(public_key).toString('base64'), key_ref };
    },
    madeAt: async (key_ref) => keys.get(key_ref)?.at,
    sign: async () => undefined,
    encrypted: async () => undefined,
    destroy: async (world, key_ref) => keys.get(key_ref)?.world === world && keys.delete(key_ref),
    list: async (world) => [...keys].flatMap(([key_ref, key]) => (key.world === world ? [key_ref] : [])),
    register: async () => undefined,
    registered: async () => undefined,
  };
}
