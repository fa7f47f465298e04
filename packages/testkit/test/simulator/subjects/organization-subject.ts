/**
 * Organizations under the simulator: trees and projects in one world, with models whose answers are drawn, people who
 * plan, stop, retry and cancel, and processes that die. In the calm every tree ends, and no project works without end.
 */
import { type AgentWorld, agentApp, appOf, defineAgent, openAgentWorld } from '@reprise/agent';
import { isRepriseError, type JournalRecord } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { llmGenerateAdapter } from '@reprise/providers';
import { skill, team } from '@reprise/specialists';
import type {
  Choices,
  SimulationAct,
  SimulationPlay,
  SimulationRun,
  SimulationSubject,
} from '@reprise/testkit/simulator';
import { trees } from '@reprise/tree';
import { quickMemory } from '../../../../../conformance/quick-memory.js';
import { FOUND, NEVER_REFUSED_AS } from '../../../src/simulator/clients.js';
import { chatModel, said } from './chat-model.js';
import { drawSalts } from './salts.js';

const KEYS = ['one', 'two'] as const;
const SKILLS = ['worker', 'planner'] as const;
const BRIEF = 'Do what the task says, as well as you can, and say at the end what you did. '.repeat(3);

const grower = defineAgent({ name: 'grower', model: 'main', instructions: 'Grow.', limits: { steps: 6 } });
const grove = trees({ agents: [grower] });
const dev = team({
  name: 'dev',
  skills: SKILLS.map((name) =>
    skill({
      name,
      description: `Is a ${name}`,
      tools: name === 'planner' ? ['plan_write', 'memory_query'] : ['result_read'],
      body: 'Work.',
    }),
  ),
  tools: [],
  coordinator: { model: 'main', identity: 'You coordinate.', limits: { steps: 6 } },
  planners: ['planner'],
  agents: { maxConcurrent: 2, defaultTimeout: '10m' },
});
const PARTS = [grove, dev];

/** Trees and projects in one world. */
export const organizationSubject: SimulationSubject = {
  name: 'organizations',
  app: appOf(PARTS, agentApp),
  steps: 280,
  clientWeight: 12,
  store: quickMemory,
  sometimes: [
    'a node made children',
    'a task was planned by an agent',
    'a specialist was spawned',
    'a memory was stored',
    'a project was cancelled',
  ],
  begin: (run) => {
    drawSalts(run.random);
    return new OrganizationPlay(run);
  },
};

class OrganizationPlay implements SimulationPlay {
  readonly acts: readonly SimulationAct[];
  readonly #worlds = new WeakMap<World, AgentWorld>();
  readonly #said: { readonly at: readonly [string, string]; readonly id: string }[] = [];
  #calm = false;
  #n = 0;

  constructor(private readonly run: SimulationRun) {
    const { choices } = run;
    const act = (name: string, weight: number, execute: (world: AgentWorld) => Promise<unknown>): SimulationAct => ({
      name,
      weight,
      execute: (world) => this.#kept(() => execute(this.#worlds.get(world) as AgentWorld)),
    });
    const tree = (world: AgentWorld) => world.part(grove).tree(choices.pick(KEYS));
    const project = (world: AgentWorld) => world.part(dev).project(choices.pick(KEYS));
    this.acts = [
      act('starts a tree', 4, (world) =>
        world.part(grove).start(choices.pick(KEYS), { goal: 'Grow.', limits: { nodes: 6 } }),
      ),
      act('stops a node', 1, (world) => tree(world).stop(1 + choices.below(4))),
      act('retries a node', 2, (world) => tree(world).retry(1 + choices.below(4))),
      act('says', 4, (world) => this.#say(project(world).address, world)),
      act('says again', 2, (world) => this.#sayAgain(world)),
      act('plans', 3, (world) => this.#plan(project(world).address, world)),
      act('retries a task', 2, (world) => this.#retry(project(world).address, world)),
      act('skips a task', 1, (world) => project(world).skip(1 + choices.below(4), 'drawn', this.#by())),
      act('cancels a task', 1, (world) => project(world).cancel(1 + choices.below(4), 'drawn', this.#by())),
      act('snapshot', 1, (world) => world.kernel.snapshot()),
    ];
  }

  /** An id that the run gives: the library would draw one. */
  #by(): { readonly id: string } {
    return { id: `asked-${this.#n++}` };
  }

  async open(...[process, store]: Parameters<SimulationPlay['open']>): Promise<World> {
    const { outside, random, choices } = this.run;
    const main = chatModel((body) => this.#answer(body));
    const world = await openAgentWorld({
      store,
      clock: process.clock,
      random,
      agents: [grower],
      parts: PARTS,
      models: { main: {} },
      llm: (judge) => outside.watch(process, llmGenerateAdapter({ main }, { judge })) as never,
      recheckEvery: 1,
      snapshotEvery: choices.pick([0, 9]),
    });
    this.#worlds.set(world.kernel, world);
    return world.kernel;
  }

  /** No cell faults, whatever models say and people ask; an input that ended its process again and again is put aside. */
  read(frame: readonly JournalRecord[]): void {
    for (const record of frame)
      if (record.kind === 'fault' && record.code !== 'exhausted')
        throw new Error(`a cell has failed: ${JSON.stringify(record)}`);
  }

  /** People let go of what waits for them, and end what still grows. */
  async settle(kernel: World): Promise<void> {
    this.#calm = true;
    const world = this.#worlds.get(kernel) as AgentWorld;
    for (const key of KEYS) {
      await this.#kept(() => world.part(grove).tree(key).stop(1));
      await this.#kept(async () => {
        await world.part(dev).project(key).cancel('all', 'calm', this.#by());
        this.run.sometimes.happened('a project was cancelled');
      });
    }
    for (const { effect } of await kernel.openEffects()) await this.#kept(() => kernel.cancel(effect));
  }

  /** Trees have ended, no project works without end, and no job has a slot. */
  async check(kernel: World): Promise<void> {
    const world = this.#worlds.get(kernel) as AgentWorld;
    for (const key of KEYS) {
      const tree = (await kernel.state(['tree/Tree@1', key])) as { readonly ended: number | null } | undefined;
      if (tree !== undefined && tree.ended === null) throw new Error(`tree ${key} does not end`);
      const state = await world.part(dev).project(key).state();
      if (state?.status === 'working') throw new Error(`project ${key} works without end: ${JSON.stringify(state)}`);
      if (state !== undefined && state.jobs > 0)
        throw new Error(`project ${key} has ${state.jobs} jobs that do not end`);
    }
    const slots = await kernel.table(['flow/Queue@1', 'specialists/dev'], 'running', {});
    if (slots.length > 0) throw new Error(`${slots.length} slots are not given back`);
  }

  /** Messages, plans and retries are journaled at once; what becomes of them is not waited for. */
  async #say(at: readonly [string, string], { kernel }: AgentWorld, id = `say${this.#n++}`): Promise<void> {
    const parts = [{ kind: 'text', text_ref: await kernel.content.put(words(`Please do ${id}.`)) }];
    const event = { name: 'specialists/Say@1', value: { command_id: id, parts } as never };
    const { duplicate } = await kernel.request([at[0], at[1]], event, { id });
    if (duplicate) this.run.sometimes.happened(FOUND);
    this.#said.push({ at, id });
  }

  /** The same message once more, as a client sends it that got no answer. */
  async #sayAgain(world: AgentWorld): Promise<void> {
    if (this.#said.length === 0) return;
    const { at, id } = this.run.choices.pick(this.#said);
    await this.#say(at, world, id);
  }

  #plan(at: readonly [string, string], { kernel }: AgentWorld): Promise<unknown> {
    const { choices } = this.run;
    return this.#send(at, kernel, async (content) => {
      const context_ref = await content.put(words(BRIEF));
      const tasks = Array.from({ length: 1 + choices.below(3) }, (_, i) => ({
        key: `k${i}`,
        title: `Task ${i}`,
        skill: choices.pick(SKILLS),
        depends_on: i === 0 ? [] : [{ task: `k${i - 1}`, pass: choices.pick(['none', 'summary', 'full'] as const) }],
        context_ref,
        context_bytes: BRIEF.length,
        pointers: [],
      }));
      return { name: 'specialists/Plan@1', value: { command_id: `plan${this.#n++}`, tasks } };
    });
  }

  #retry(at: readonly [string, string], { kernel }: AgentWorld): Promise<unknown> {
    const value = { command_id: `retry${this.#n++}`, task: 1 + this.run.choices.below(4) };
    return this.#send(at, kernel, async () => ({ name: 'specialists/Retry@1', value }));
  }

  async #send(
    at: readonly [string, string],
    kernel: World,
    make: (content: World['content']) => Promise<{ readonly name: string; readonly value: object }>,
  ): Promise<unknown> {
    const { name, value } = await make(kernel.content);
    return kernel.request([at[0], at[1]], { name, value: value as never });
  }

  /** What a model says: drawn by its role; in the calm, that it is done. */
  #answer(body: string): Response {
    const { choices } = this.run;
    if (this.#calm) return said({ content: 'Done.' });
    const calls = this.#callsFor(body, choices);
    const how = choices.weighted([
      { weight: 4, say: () => said({ content: 'Fine.\n\nAnd more.' }) },
      {
        weight: 10,
        say: () => (calls.length === 0 ? said({ content: 'Fine.' }) : said({ content: null, tool_calls: calls })),
      },
      { weight: 1, say: () => new Response('{"error":{"message":"no"}}', { status: 400 }) },
      { weight: 1, say: () => new Response('<html>') },
    ]);
    return how.say();
  }

  #callsFor(body: string, choices: Choices): readonly object[] {
    const call = (name: string, args: object) => ({
      id: `k${this.#n++}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    });
    const { sometimes } = this.run;
    if (body.includes('You coordinate.')) {
      const spawned = () => {
        sometimes.happened('a specialist was spawned');
        return choices.once(2)
          ? call('spawn_agent', { task_id: 1 + choices.below(4) })
          : call('spawn_agent', { task: 'Work.', skill: choices.pick(SKILLS), context: 'See [agent_result:1].' });
      };
      const stored = () => {
        sometimes.happened('a memory was stored');
        return call('memory_store', { text: 'It is so.', result_id: 1 + choices.below(3) });
      };
      const others = [
        () => call('task_graph', {}),
        () => call('task_retry', { task_id: 1 + choices.below(4) }),
        () => call('results_list', {}),
        () => call('narrative_append', { text: 'So it went.' }),
      ];
      return [choices.pick([spawned, spawned, spawned, stored, ...others])()];
    }
    if (body.includes('Your skill: planner')) {
      sometimes.happened('a task was planned by an agent');
      const task = { key: 'p', title: 'Planned', context: BRIEF, skill: 'worker' };
      return [call('plan_write', { tasks: [choices.once(3) ? { ...task, skill: 'nothing' } : task] })];
    }
    if (body.includes('Your skill: worker')) return [call('result_read', { result_id: 1 })];
    const child = { goal: 'A part', prompt: 'Do a part.' };
    const made = () => {
      sometimes.happened('a node made children');
      return [call('spawn', child), call('fork', child)];
    };
    return choices.once(2) ? made() : [call('complete', { result: 'A result.' })];
  }

  async #kept(asked: () => Promise<unknown>): Promise<void> {
    try {
      await asked();
    } catch (error) {
      if (!isRepriseError(error) || NEVER_REFUSED_AS.includes(error.code)) throw error;
      if (error.code === 'delivery_faulted') throw error;
      this.run.sometimes.happened(`refused: ${error.code}`);
    }
  }
}

function words(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
