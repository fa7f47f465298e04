/**
 * Ten scenarios of an agent, each with what its run ends with and which events tell of it: the same for every provider.
 * What a provider says is a list of fixtures, and the agent never learns which protocol it came by.
 */
import type { LLMock } from '@copilotkit/aimock';
import { AGENT_POLICY, type AgentWorld, type AnyAgent, defineAgent, defineTool, type Run } from 'reprise';
import * as z from 'zod';

/** A scenario. */
export interface Scenario {
  readonly name: string;
  /** What the provider answers; `held` until the scenario lets it. */
  readonly says: (mock: LLMock, held: Promise<void>) => void;
  readonly agents: readonly [AnyAgent, ...AnyAgent[]];
  readonly policy?: typeof AGENT_POLICY;
  /** Before the run. */
  readonly prepare?: (world: AgentWorld) => Promise<unknown>;
  /** While it runs. */
  readonly meanwhile?: (run: Run, letGo: () => void) => Promise<unknown>;
  /** What its run ends with. */
  readonly stop: object;
  readonly text: string | RegExp;
  /** How many requests reach the provider. */
  readonly requests: number;
  /** How many of them were answered; all when not said. */
  readonly answered?: number;
  /** The types of the run's events, in order. */
  readonly events: readonly string[];
  /** Something that the newest request holds, as the provider read it. */
  readonly told?: RegExp;
}

const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});
const list = defineTool({
  name: 'list',
  description: 'Lists everything.',
  args: z.strictObject({}),
  run: () => 'one line of many\n'.repeat(20_000),
});

const adder = defineAgent({ name: 'adder', model: 'main', instructions: 'Add.', tools: [add] });
const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) });
const asks = (...toolCalls: ReturnType<typeof call>[]) => ({ toolCalls });

/** A call first, and then an answer. */
const thenSays = (first: object, content: string) => (mock: LLMock) => {
  mock.on({ hasToolResult: false }, first as never).on({ hasToolResult: true }, { content });
};

const BEGIN = ['input.accepted', 'lifecycle', 'turn.started'];
const STEP = ['llm_step.requested', 'llm_step.completed'];
const DONE = ['tool.requested', 'tool.completed'];
const END = ['lifecycle'];

/** The scenarios. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'no-tool',
    agents: [adder],
    says: (mock) => void mock.on({}, { content: 'Hello.' }),
    stop: { kind: 'Completed' },
    text: 'Hello.',
    requests: 1,
    events: [...BEGIN, ...STEP, ...END],
  },
  {
    name: 'single-tool',
    agents: [adder],
    says: thenSays(asks(call('a', 'add', { a: 2, b: 3 })), 'It is 5.'),
    stop: { kind: 'Completed' },
    text: 'It is 5.',
    requests: 2,
    events: [...BEGIN, ...STEP, ...DONE, ...STEP, ...END],
    told: /"5"/,
  },
  {
    name: 'multi-tool',
    agents: [adder],
    says: thenSays(
      { content: 'I add.', ...asks(call('a', 'add', { a: 1, b: 2 }), call('b', 'add', { a: 3, b: 4 })) },
      '3 and 7.',
    ),
    stop: { kind: 'Completed' },
    text: '3 and 7.',
    requests: 2,
    events: [...BEGIN, ...STEP, 'tool.requested', ...DONE, 'tool.completed', ...STEP, ...END],
    told: /"3".*"7"/,
  },
  {
    name: 'bounded-output',
    agents: [defineAgent({ name: 'lister', model: 'main', instructions: 'List.', tools: [list] })],
    says: thenSays(asks(call('a', 'list', {})), 'Many lines.'),
    stop: { kind: 'Completed' },
    text: 'Many lines.',
    requests: 2,
    events: [...BEGIN, ...STEP, 'tool.requested', 'tool.bounded', 'tool.completed', ...STEP, ...END],
  },
  {
    name: 'cancel',
    agents: [adder],
    says: (mock) => void mock.on({}, { content: 'one two three four five six seven eight nine' }, { latency: 25 }),
    meanwhile: async (run) => {
      for await (const event of run.stream()) if (event.type === 'delta') break;
      await run.cancel();
    },
    stop: { kind: 'Cancelled' },
    text: /^one/,
    requests: 1,
    events: [
      ...BEGIN,
      'llm_step.requested',
      'host.accepted',
      'lifecycle',
      'llm_step.completed',
      'host.applied',
      ...END,
    ],
  },
  {
    name: 'loop',
    agents: [
      defineAgent({
        name: 'looper',
        model: 'main',
        instructions: 'Loop.',
        tools: [add],
        loop: { repeats: 2, actions: ['fail'] },
      }),
    ],
    says: (mock) => void mock.on({}, asks(call('a', 'add', { a: 1, b: 1 }))),
    stop: { kind: 'Failed', code: 'validation_error/loop_detected' },
    text: '',
    requests: 2,
    events: [...BEGIN, ...STEP, ...DONE, ...STEP, ...DONE, 'loop.detected', ...END],
  },
  {
    name: 'policy-deny',
    agents: [adder],
    policy: [{ effect: 'tool.call@1#add', decision: 'deny' }, ...AGENT_POLICY],
    says: thenSays(asks(call('a', 'add', { a: 2, b: 3 })), 'I may not.'),
    stop: { kind: 'Completed' },
    text: 'I may not.',
    requests: 2,
    events: [...BEGIN, ...STEP, 'tool.requested', 'effect.denied', 'tool.failed', ...STEP, ...END],
    told: /refused and did not happen \(policy_denied\)/,
  },
  {
    name: 'cap-deny',
    agents: [adder],
    prepare: (world) =>
      world.kernel.command('sys/SetRights@1', {
        holder: 'cell:aos.agent/SessionReducer@1/s',
        exercise: { may: { effect: ['llm.generate@2'] } },
      }),
    says: thenSays(asks(call('a', 'add', { a: 2, b: 3 })), 'I cannot.'),
    stop: { kind: 'Completed' },
    text: 'I cannot.',
    requests: 2,
    events: [...BEGIN, ...STEP, 'tool.requested', 'effect.denied', 'tool.failed', ...STEP, ...END],
    told: /refused and did not happen \(cap_denied\)/,
  },
  {
    name: 'adapter-failure',
    agents: [adder],
    says: (mock) => void mock.on({}, { error: { message: 'Down.', type: 'api_error' }, status: 500 }),
    stop: { kind: 'Failed', code: 'provider_error_retryable/server' },
    text: '',
    requests: 4,
    answered: 0,
    events: [...BEGIN, 'llm_step.requested', 'llm_step.failed', ...END],
  },
  {
    name: 'parent-child',
    agents: [
      defineAgent({
        name: 'lead',
        model: 'main',
        instructions: 'Lead.',
        spawns: [defineAgent({ name: 'scout', model: 'main', instructions: 'Scout.' })],
      }),
    ],
    says: (mock, held) => {
      mock
        .on({ systemMessage: 'Scout.' }, () => held.then(() => ({ content: 'Found it.' })))
        .on({ turnIndex: 0 }, asks(call('s', 'spawn_agent', { agent: 'scout', task: 'Look.' })))
        .on({ turnIndex: 1 }, asks(call('w', 'wait_agents', { children: ['c1'] })))
        .on({ turnIndex: 2 }, { content: 'The scout found it.' });
    },
    meanwhile: async (run, letGo) => {
      for await (const event of run.events()) if (event.type === 'tool.waiting') break;
      letGo();
    },
    stop: { kind: 'Completed' },
    text: 'The scout found it.',
    requests: 4,
    events: [
      ...BEGIN,
      ...STEP,
      'tool.requested',
      'child.spawned',
      'tool.completed',
      ...STEP,
      'tool.requested',
      'tool.waiting',
      'lifecycle',
      'child.settled',
      'tool.completed',
      'lifecycle',
      ...STEP,
      ...END,
    ],
    told: /Found it\./,
  },
];
