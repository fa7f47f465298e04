/**
 * Sessions under the simulator: a real client of a model whose answers are drawn, tools that must not run twice, people
 * who steer, approve and cancel. Every request that leaves is held to the rules of its wire format.
 */
import {
  type AgentWorld,
  agentApp,
  type CommandReceipt,
  type Decision,
  defineAgent,
  defineTool,
  openAgentWorld,
  type Run,
  type Session,
  type Tool,
} from '@reprise/agent';
import { isRepriseError, type JournalRecord, RepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { llmGenerateAdapter, validateRequest } from '@reprise/providers';
import type {
  Choices,
  SimulatedProcess,
  SimulationAct,
  SimulationPlay,
  SimulationRun,
  SimulationSubject,
} from '@reprise/testkit/simulator';
import * as z from 'zod';
import { quickMemory } from '../../../../../conformance/quick-memory.js';
import { NEVER_REFUSED_AS } from '../../../src/simulator/clients.js';
import { chatModel, said } from './chat-model.js';
import { drawSalts } from './salts.js';

const SESSIONS = ['one', 'two'] as const;

const of = z.strictObject({ of: z.int() });
const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  args: of,
  guarantee: 'idempotent',
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
  steps: 350,
  clientWeight: 12,
  store: quickMemory,
  sometimes: [
    'a tool that may happen once was interrupted, and the model told',
    'a run was cancelled while it worked',
    'an approval was given',
    'an approval was denied',
    'a child was made',
    'a model answered with something that is no answer',
    'a model asked for several calls',
  ],
  begin: (run) => {
    drawSalts(run.random);
    return new AgentPlay(run);
  },
};

/** Something that was asked of a session. */
interface Asked {
  /** Under which id it is journaled. */
  readonly id: string;
  /** Asks for it, and says in words what came of it. */
  asking(world: AgentWorld): Promise<string>;
}

/** Asks a session for something under an id. */
type Asking = (session: Session, options: { readonly id: string }) => Promise<Run | CommandReceipt>;

const SEND: Asking = (session, { id }) => session.send(wordsOf(id), { id });

class AgentPlay implements SimulationPlay {
  readonly acts: readonly SimulationAct[];
  readonly #worlds = new WeakMap<World, AgentWorld>();
  readonly #asked: Asked[] = [];
  /** Sessions that have had an input. */
  readonly #begun = new Set<string>();
  /** Calls that wait for a decision. */
  readonly #waiting = new Set<string>();
  #calm = false;
  #n = 0;

  constructor(private readonly run: SimulationRun) {
    const { choices } = run;
    const waiting = this.#waiting;
    const act = (name: string, weight: number, execute: (world: AgentWorld) => unknown): SimulationAct => ({
      name,
      weight,
      execute: (world) => this.#kept(async () => execute(this.#worlds.get(world) as AgentWorld)),
    });
    const command = (name: string, weight: number, asking: Asking): SimulationAct =>
      act(name, weight, (world) => this.#ask(world, asking));
    this.acts = [
      command('sends', 5, SEND),
      command('steers', 2, (session, { id }) => session.steer(wordsOf(id), { id })),
      command('follows up', 1, (session, { id }) => session.followUp(wordsOf(id), { id })),
      command('pauses', 1, (session, { id }) => session.pause({ id })),
      command('resumes', 2, (session, { id }) => session.resume({ id })),
      command('compacts', 1, (session, { id }) => session.compact({ id })),
      command('spawns', 1, (session, { id }) => session.spawn(scout, 'Look.', { id })),
      act('cancels', 1, (world) => this.#cancel(world)),
      act('asks again', 3, (world) => this.#again(world)),
      act('snapshot', 1, (world) => world.kernel.snapshot()),
      {
        ...act('decides', 0, (world) => this.#decide(world, choices.once(3) ? { deny: 'no' } : { approve: true })),
        get weight() {
          return waiting.size > 0 ? 12 : 1;
        },
      },
    ];
  }

  /** The sessions, and the calls that wait for a person. */
  read(frame: readonly JournalRecord[]): void {
    for (const record of frame) {
      if (record.kind !== 'fact') continue;
      const { call_id, for: what } = record.value as { readonly call_id: string; readonly for?: string };
      if (record.name === 'aos.agent/InputAccepted@1' && record.from !== null) this.#begun.add(record.from[1]);
      if (record.name === 'aos.agent/ToolCallWaiting@1' && what === 'approval') this.#waiting.add(call_id);
      if (record.name === 'aos.agent/ToolCallSettled@1') this.#waiting.delete(call_id);
    }
  }

  async open(...[process, store]: Parameters<SimulationPlay['open']>): Promise<World> {
    const { outside, random, choices } = this.run;
    const main = chatModel((body) => this.#answer(body));
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
    for (const item of await world.pending()) await this.#kept(() => world.decide(item, { approve: true }));
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

  #ask(world: AgentWorld, asking: Asking): Promise<unknown> {
    const { choices } = this.run;
    const key = choices.pick(SESSIONS);
    const id = `c${this.#n++}`;
    // A session begins with an input; now and then something else is asked of one that is not there.
    const really = this.#begun.has(key) || choices.once(8) ? asking : SEND;
    const asked: Asked = {
      id: `${key}/${id}`,
      asking: (now) => inWords(() => really(now.session(key, clerk), { id })),
    };
    this.#asked.push(asked);
    return this.#answered(world, asked);
  }

  /** Repeats the request at the current owner of the world. */
  #again(world: AgentWorld): unknown {
    return this.#asked.length === 0 ? undefined : this.#answered(world, this.run.choices.pick(this.#asked));
  }

  #answered(world: AgentWorld, { id, asking }: Asked): Promise<unknown> {
    return this.run.clients.command({ id }, () => asking(world));
  }

  async #cancel(world: AgentWorld): Promise<void> {
    const { choices, sometimes } = this.run;
    const [key, scope] = [choices.pick(SESSIONS), choices.pick(['run', 'run', 'turn', 'all'] as const)];
    if ((await world.session(key, clerk).state())?.run == null) return;
    await this.#ask(world, (session, { id }) => session.cancel({ id, scope }));
    sometimes.happened('a run was cancelled while it worked');
  }

  async #decide(world: AgentWorld, decision: Decision): Promise<void> {
    const items = await world.pending();
    if (items.length === 0) return;
    const [item, id] = [this.run.choices.pick(items), `c${this.#n++}`];
    const { status } = await world.decide(item, decision, { id });
    if (status !== 'applied') return;
    if (this.run.journal.frameOf('operator', id) === undefined)
      this.run.broken(`${id} decided, and that is not durable`);
    this.run.sometimes.happened('deny' in decision ? 'an approval was denied' : 'an approval was given');
  }

  #counted(process: SimulatedProcess, tool: Tool): Tool {
    const { run } = tool;
    if (run === undefined) return tool;
    return {
      ...tool,
      run: (args, context) =>
        this.run.outside.execute(process, tool.name, context, async () => {
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
      { weight: 3, say: () => said({ content: 'Fine.' }) },
      { weight: 12, say: () => said({ content: null, tool_calls: this.#calls(choices) }) },
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
      const name = choices.pick(['look', 'pay', 'pay', 'sign', 'sign', 'sign', 'spawn_agent', 'nothing']);
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

function wordsOf(id: string): string {
  return `Please do ${id}.`;
}

/** What came of a command. A session that is not there journals nothing. */
async function inWords(asking: () => Promise<Run | CommandReceipt>): Promise<string> {
  try {
    const told = await asking();
    if ('stream' in told) return told.id;
    if (told.status === 'accepted' || told.code !== 'session_absent') return JSON.stringify(told);
  } catch (error) {
    if (!isRepriseError(error, 'request_rejected')) throw error;
    return `rejected: ${error.message}`;
  }
  throw new RepriseError('cell_absent', 'there is no such session yet');
}
