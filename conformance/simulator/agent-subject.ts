/**
 * Sessions under the simulator: a real client of a model whose answers are drawn, tools that must not run twice, people
 * who steer, approve and cancel. Every request that leaves is held to the rules of its wire format.
 */
import { createHash } from 'node:crypto';
import { type AgentWorld, agentApp, defineAgent, defineTool, openAgentWorld, type Tool } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import { memory, type World } from '@reprise/kernel';
import { llmGenerateAdapter, openAiCompatible, validateRequest } from '@reprise/providers';
import {
  type Choices,
  NEVER_REFUSED_AS,
  type SimulatedProcess,
  type SimulationAct,
  type SimulationPlay,
  type SimulationRun,
  type SimulationSubject,
} from '@reprise/testkit';
import * as z from 'zod';

const SESSIONS = ['one', 'two'] as const;
const hash = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());

const of = z.strictObject({ of: z.int() });
const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  args: of,
  delivery: 'idempotent',
  run: ({ of: n }) => `${n} is fine`,
});
const pay = defineTool({ name: 'pay', description: 'Pays.', args: of, run: ({ of: n }) => `paid ${n}` });
const sign = defineTool({
  name: 'sign',
  description: 'Signs.',
  args: of,
  approval: 'always',
  run: ({ of: n }) => `signed ${n}`,
});
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Scout.', tools: [look] });
const clerk = defineAgent({
  name: 'clerk',
  model: 'main',
  instructions: 'Serve.',
  tools: [look, pay, sign],
  spawns: [scout],
  limits: { steps: 8 },
});

/** Worlds of agents. */
export const agentSubject: SimulationSubject = {
  name: 'agents',
  app: agentApp,
  store: () => memory({ hash }),
  sometimes: [
    'a tool that may happen once was interrupted, and the model told',
    'a run was cancelled while it worked',
    'a run was steered',
    'an approval was decided',
    'a child was made',
    'a model answered with something that is no answer',
    'a model asked for several calls',
  ],
  begin: (run) => new AgentPlay(run),
};

class AgentPlay implements SimulationPlay {
  readonly acts: readonly SimulationAct[];
  readonly #worlds = new WeakMap<World, AgentWorld>();
  #calm = false;
  #n = 0;

  constructor(private readonly run: SimulationRun) {
    const act = (name: string, weight: number, perform: (world: AgentWorld) => unknown): SimulationAct => ({
      name,
      weight,
      perform: (world) => this.#kept(async () => perform(this.#worlds.get(world) as AgentWorld)),
    });
    this.acts = [
      act('sends', 4, (world) => this.#session(world).send(this.#words(), this.#id())),
      act('steers', 2, (world) => this.#steer(world)),
      act('follows up', 1, (world) => this.#session(world).followUp(this.#words(), this.#id())),
      act('decides', 4, (world) => this.#decide(world)),
      act('cancels', 1, (world) => this.#cancel(world)),
      act('pauses', 1, (world) => this.#session(world).pause(this.#id())),
      act('resumes', 2, (world) => this.#session(world).resume(this.#id())),
      act('snapshot', 1, (world) => world.kernel.snapshot()),
    ];
  }

  async open(...[process, store]: Parameters<SimulationPlay['open']>): Promise<World> {
    const { outside, random, choices } = this.run;
    const main = openAiCompatible({
      baseUrl: 'http://model.test/v1',
      model: 'm',
      fetch: async (_url, init) => this.#answer(await new Response(init?.body ?? null).text()),
      sleep: async () => undefined,
    });
    const world = await openAgentWorld({
      store,
      clock: process.clock,
      random,
      agents: [clerk],
      models: { main: {} },
      llm: (judge) => outside.watch(process, llmGenerateAdapter({ main }, { judge })) as never,
      wrapTool: (tool) => this.#counted(process, tool),
      recheckEvery: 1,
      snapshotEvery: choices.pick([0, 9]),
    });
    this.#worlds.set(world.kernel, world);
    return world.kernel;
  }

  /** Everybody approves, and what still waits is cancelled. */
  async settle(kernel: World): Promise<void> {
    this.#calm = true;
    const world = this.#worlds.get(kernel) as AgentWorld;
    for (const item of await world.open()) await this.#kept(() => world.decide(item, { approve: true }));
    for (const key of SESSIONS) await this.#kept(() => world.session(key, clerk).resume());
    for (const { effect } of await kernel.openEffects()) await this.#kept(() => kernel.cancel(effect));
  }

  /** One more request shows the whole transcript to the rules: no call without its result. */
  async check(kernel: World): Promise<void> {
    this.#calm = true;
    const world = this.#worlds.get(kernel) as AgentWorld;
    for (const key of SESSIONS) {
      const state = await world.session(key, clerk).state();
      if (state === undefined) continue;
      if (state.run !== null)
        throw new Error(`session ${key} rests in the middle of a run: ${JSON.stringify(state.run)}`);
      await (await world.session(key, clerk).send('Is all well?')).result();
    }
  }

  #session(world: AgentWorld) {
    return world.session(this.run.choices.pick(SESSIONS), clerk);
  }

  #words(): string {
    return `Please do ${this.#n}.`;
  }

  #id(): { readonly id: string } {
    return { id: `c${this.#n++}` };
  }

  async #steer(world: AgentWorld): Promise<void> {
    await this.#session(world).steer(this.#words(), this.#id());
    this.run.sometimes.happened('a run was steered');
  }

  async #cancel(world: AgentWorld): Promise<void> {
    const session = this.#session(world);
    if ((await session.state())?.run == null) return;
    await session.cancel();
    this.run.sometimes.happened('a run was cancelled while it worked');
  }

  async #decide(world: AgentWorld): Promise<void> {
    const items = await world.open();
    if (items.length === 0) return;
    const item = this.run.choices.pick(items);
    await world.decide(item, this.run.choices.once(3) ? { deny: 'no' } : { approve: true });
    this.run.sometimes.happened('an approval was decided');
  }

  #counted(process: SimulatedProcess, tool: Tool): Tool {
    const { run } = tool;
    if (run === undefined) return tool;
    return {
      ...tool,
      run: (args, context) =>
        this.run.outside.perform(process, tool.name, context, async () => {
          if (!this.#calm && this.run.choices.once(8)) throw new TypeError('a defect of the tool');
          return run(args, context);
        }),
    };
  }

  /** What the model says: drawn; in the calm, that it is done. */
  #answer(body: string): Response {
    const request = JSON.parse(body) as {
      readonly messages: readonly { readonly content: unknown }[];
      readonly tools?: readonly unknown[];
    };
    const issues = validateRequest('openai-chat', request);
    if (issues.length > 0) this.run.broken(`a request breaks the rules of its format: ${JSON.stringify(issues)}`);
    if (body.includes('It may have happened; check before you repeat it')) {
      this.run.sometimes.happened('a tool that may happen once was interrupted, and the model told');
    }
    const { choices, sometimes } = this.run;
    if (this.#calm) return said({ content: 'Done.' });
    const how = choices.weighted([
      { weight: 4, say: () => said({ content: 'Fine.' }) },
      { weight: 6, say: () => said({ content: null, tool_calls: this.#calls(choices) }) },
      { weight: 1, say: () => new Response('{"error":{"message":"busy"}}', { status: 503 }) },
      { weight: 1, say: () => new Response('{"error":{"message":"no"}}', { status: 400 }) },
      { weight: 1, say: () => new Response('<html>') },
    ]);
    const response = how.say();
    if (!response.ok) sometimes.happened('a model answered with something that is no answer');
    return response;
  }

  #calls(choices: Choices): readonly object[] {
    const count = choices.pick([1, 1, 2, 3]);
    if (count > 1) this.run.sometimes.happened('a model asked for several calls');
    return Array.from({ length: count }, (_, i) => {
      const name = choices.pick(['look', 'pay', 'sign', 'spawn_agent', 'nothing']);
      const args = name === 'spawn_agent' ? { agent: 'scout', task: 'Look.' } : { of: choices.below(3) };
      if (name === 'spawn_agent') this.run.sometimes.happened('a child was made');
      return { id: `k${this.#n++}_${i}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
    });
  }

  async #kept(asked: () => Promise<unknown>): Promise<void> {
    try {
      await asked();
    } catch (error) {
      if (!isRepriseError(error) || NEVER_REFUSED_AS.includes(error.code)) throw error;
      this.run.sometimes.happened(`refused: ${error.code}`);
    }
  }
}

function said(message: object): Response {
  const finish_reason = 'tool_calls' in message ? 'tool_calls' : 'stop';
  const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason };
  return new Response(
    JSON.stringify({ id: 'r', choices: [choice], usage: { prompt_tokens: 5, completion_tokens: 2 } }),
    {
      headers: { 'content-type': 'application/json' },
    },
  );
}
