/**
 * Agents: data and functions. `store-agent.ts` makes the recorded form of an agent; a replay never runs the functions
 * that an author writes here.
 */
import {
  type ArgumentCheck,
  CONTEXT_LANES,
  checkOf,
  fieldsOf,
  hintOf,
  isFields,
  isFilled,
  isFunction,
  isTextWithin,
  isWhole,
  kindOfThing,
  RepriseError,
  unknownFields,
  type Value,
} from '@reprise/contracts';
import { ADOPTIONS, type RunLimits } from '../contracts/config.js';
import { type Duration, durationMs } from '../contracts/duration.js';
import { TOOLSETS_MAX } from '../contracts/toolset.js';
import { jsonSchemaOf, refuseZod3, type Schema } from '../tools/schema/schema.js';
import type { DepsOf, Tool } from '../tools/tool/tool.js';
import type { ContextSource } from '../tools/toolset/build.js';
import { requireToolset, type Toolset } from '../tools/toolset/toolset.js';
import { type ChosenCompaction, type CompactionChoice, chosenCompaction } from './compaction-choice.js';
import { LIMITS_DEFAULT, type Limits, saidLimits } from './limits.js';
import { type ChosenLoop, chosenLoop, type LoopChoice } from './loop-policies.js';
import { type ModelChoices, requireModelChoices } from './model-choices.js';

const require: ArgumentCheck = checkOf('invalid_definition', 'invalid agent');

/** The parts of an agent that an author writes. */
export interface AgentSpec<T extends readonly Tool[], R> {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** The alias of a model; the options of the world map each alias to a model. */
  readonly model: string;
  /** The instructions that the model is given about its task. */
  readonly instructions: string;
  /** The agent's own tools, besides those of its toolsets. */
  readonly tools?: T;
  /** Toolsets: further tools that an outside service offers, such as an MCP server. */
  readonly toolsets?: readonly Toolset[];
  /** Texts that the model is given besides the conversation. */
  readonly context?: readonly ContextSource[];
  /** The schema of a run's return value: the last answer is JSON that fits it. Any text when absent. */
  readonly returns?: Schema<R>;
  /** The JSON Schema of the return value, where the schema's library does not provide it. */
  readonly returnsJsonSchema?: object;
  /** The limits of a run. */
  readonly limits?: Limits;
  /** How loops are detected, and the actions against them; `coding` when absent. */
  readonly loop?: LoopChoice;
  /**
   * After an answer without calls the run is over (`complete`), or waits for more input for a limited time (`wait`).
   */
  readonly afterAnswer?: 'complete' | 'wait' | { readonly wait: Duration };
  /** The agents that this agent may spawn. */
  readonly spawns?: readonly AnyAgent[];
  /** When sessions adopt a changed definition: `next_run` when absent. */
  readonly adopt?: (typeof ADOPTIONS)[number];
  /** Settings of the model, such as its temperature. */
  readonly options?: ModelChoices;
  /** How many tokens the model's window holds, where the model's client does not state it. */
  readonly contextWindow?: number;
  /** How the session compacts that window; when absent, by a summary at a pressure of 85 percent. */
  readonly compaction?: CompactionChoice;
  /** How much time running work has to stop when it is cancelled; five seconds when absent. */
  readonly cancelGrace?: Duration;
}

/**
 * An agent. Made by {@link defineAgent}.
 *
 * @typeParam T the agent's tools
 * @typeParam R the return type of its runs
 * @typeParam M the alias of its model
 */
export interface Agent<T extends readonly Tool[] = readonly Tool[], R = unknown, M extends string = string> {
  readonly type: 'agent';
  readonly name: string;
  readonly model: M;
  readonly instructions: string;
  readonly tools: T;
  readonly toolsets: readonly Toolset[];
  readonly context: readonly ContextSource[];
  readonly returns: Returns<R> | null;
  readonly limits: RunLimits;
  readonly loop: ChosenLoop | null;
  readonly afterAnswer: 'complete' | { readonly wait_ms: number | null };
  readonly spawns: readonly AnyAgent[];
  readonly adopt: (typeof ADOPTIONS)[number];
  readonly options: ModelChoices;
  readonly contextWindow: number | null;
  readonly compaction: ChosenCompaction | null;
  readonly cancelGraceMs: number;
}

/** The return value of a run: the schema that checks it, and the JSON Schema for the model. */
export interface Returns<R> {
  readonly schema: Schema<R>;
  readonly jsonSchema: Value;
}

/** Any agent, where its types do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: an agent's tools and return type are its own business
export type AnyAgent = Agent<any, any>;

/**
 * Refuses anything but agents that {@link defineAgent} made: callers may be untyped.
 *
 * @throws RepriseError `invalid_definition`
 */
export function requireAgents(agents: readonly AnyAgent[], where: string): void {
  require(Array.isArray(agents), where, 'a list of agents', typeof agents);
  for (const [i, agent] of agents.entries()) {
    require(fieldsOf(agent).type === 'agent', `${where}[${i}]`, 'an agent that defineAgent made', kindOfThing(agent));
  }
}

/** The return type of an agent's runs. */
export type ReturnOf<A> = A extends Agent<infer _T, infer R> ? R : never;

/** The aliases of the models that some agents name. */
export type ModelsOf<A extends readonly AnyAgent[]> = A[number]['model'];

/** The `deps` that the tools and context sources of some agents need together. */
export type AgentDeps<A extends readonly AnyAgent[]> = DepsOf<A[number]['tools']>;

/** The options of an agent. A misspelled option, such as `limit`, would otherwise be ignored. */
const SPEC_FIELDS: Readonly<Record<keyof AgentSpec<[], unknown>, true>> = {
  name: true,
  model: true,
  instructions: true,
  tools: true,
  toolsets: true,
  context: true,
  returns: true,
  returnsJsonSchema: true,
  limits: true,
  loop: true,
  afterAnswer: true,
  spawns: true,
  adopt: true,
  options: true,
  contextWindow: true,
  compaction: true,
  cancelGrace: true,
};

/** What other libraries call an option. */
const ELSEWHERE = {
  system: 'instructions',
  prompt: 'instructions',
  systemPrompt: 'instructions',
  output: 'returns',
  outputType: 'returns',
  outputSchema: 'returns',
  responseFormat: 'returns',
  handoffs: 'spawns',
  subagents: 'spawns',
};

/** Options that stand within another one. */
const INSIDE: Readonly<Record<string, string>> = {
  temperature: 'options: { temperature }',
  maxTokens: 'options: { maxTokens }',
  maxOutputTokens: 'options: { maxTokens }',
  toolChoice: 'options: { toolChoice }',
  reasoningEffort: 'options: { reasoningEffort }',
  reasoning: 'options: { reasoningEffort }',
  stop: 'options: { stop }',
  metadata: 'options: { metadata }',
  topP: 'options: { provider: { top_p } }',
  seed: 'options: { provider: { seed } }',
  maxSteps: 'limits: { steps }',
  maxTurns: 'limits: { turns }',
  maxIterations: 'limits: { steps }',
  budget: 'limits: { usd }',
  timeout: 'limits: { wall }',
};

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CANCEL_GRACE_MS = 5_000;
/** The bounds of the recorded configuration, and the bounds derived from them. */
const CANCEL_GRACE_MS_MAX = 600_000;
const CONTEXT_SOURCES_MAX = 16;
const SPAWNS_MAX = 32;

/**
 * Defines an agent.
 *
 * @throws RepriseError `invalid_definition`, `invalid_argument` for an invalid duration
 * @example
 * const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' })
 */
export function defineAgent<const T extends readonly Tool[] = readonly [], R = string, const M extends string = string>(
  spec: AgentSpec<T, R> & { readonly model: M },
): Agent<T, R, M> {
  require(isFields(spec), 'defineAgent(spec)', 'an object with name, model and instructions', kindOfThing(spec));
  const where = typeof spec.name === 'string' ? `agent ${spec.name}` : 'agent';
  requireKnownFields(spec, where);
  for (const [option, value] of Object.entries(spec))
    require(value !== null || option === 'contextWindow', `${where} ${option}`, 'a value, or nothing', 'null');
  const { name, model, instructions, options = {}, adopt = 'next_run', contextWindow = null } = spec;
  const tools = spec.tools ?? ([] as unknown as T);
  const { context = [], spawns = [], toolsets = [] } = spec;
  const named = typeof name === 'string' && NAME.test(name);
  require(named, `${where} name`, 'a name of 1 to 64 of a–z A–Z 0–9 _ -', kindOfThing(name));
  requireModel(model, where);
  require(typeof instructions === 'string', `${where} instructions`, 'instructions as text', kindOfThing(instructions));
  require(ADOPTIONS.includes(adopt), where, `adopt: ${ADOPTIONS.join(', ')}`, adopt);
  const window = contextWindow === null || isWhole(contextWindow, 1);
  require(window, where, 'contextWindow as a number of tokens', contextWindow);
  requireTools(where, tools);
  requireToolsets(where, toolsets, tools);
  requireContext(where, context);
  requireAgents(spawns, `${where} spawns`);
  require(spawns.length <= SPAWNS_MAX, where, `at most ${SPAWNS_MAX} agents to spawn`, spawns.length);
  requireDifferent(where, 'agents to spawn', spawns);
  requireModelChoices(options, where);
  return Object.freeze({
    type: 'agent',
    name,
    model,
    instructions,
    tools,
    toolsets,
    context,
    returns: returnsOf(spec, where),
    limits: { ...LIMITS_DEFAULT, ...saidLimits(spec.limits ?? {}, where) },
    loop: chosenLoop(spec.loop ?? 'coding', where),
    afterAnswer: afterAnswerOf(spec.afterAnswer ?? 'complete', where),
    spawns,
    adopt,
    options,
    contextWindow,
    compaction: chosenCompaction(spec.compaction ?? {}, where),
    cancelGraceMs: graceOf(spec.cancelGrace ?? CANCEL_GRACE_MS, where),
  });
}

/** Before all else: with a misspelled option, the one that it was meant for is missing. */
function requireKnownFields(spec: unknown, where: string): void {
  const [unknown] = unknownFields(spec, SPEC_FIELDS);
  if (unknown === undefined) return;
  throw new RepriseError('invalid_definition', `unknown option "${unknown}" of defineAgent`, {
    where,
    expected: Object.keys(SPEC_FIELDS).join(', '),
    actual: unknown,
    ...(Object.hasOwn(INSIDE, unknown)
      ? { hint: `Did you mean \`${INSIDE[unknown]}\`?` }
      : hintOf(unknown, SPEC_FIELDS, ELSEWHERE)),
  });
}

function requireModel(model: unknown, where: string): void {
  if (isFilled(model) && isTextWithin(model, 128)) return;
  const alias = "Name a model here, such as model: 'main', and give it when the world is opened";
  throw new RepriseError('invalid_definition', model === undefined ? 'an agent needs a model' : 'invalid agent', {
    where: `${where} model`,
    expected: 'the alias of a model, as text of 1 to 128 characters',
    actual: kindOfThing(model),
    hint: `${alias}: openWorld({ models: { main: … } }).`,
  });
}

function returnsOf<R>(spec: AgentSpec<readonly Tool[], R>, where: string): Returns<R> | null {
  const { returns: schema, returnsJsonSchema } = spec;
  if (schema === undefined) return null;
  refuseZod3(schema, `${where} returns`);
  require(typeof schema?.['~standard']?.validate ===
    'function', `${where} returns`, 'a schema, such as z.strictObject({ … })', kindOfThing(schema));
  return { schema, jsonSchema: jsonSchemaOf(schema, `${where} returns`, returnsJsonSchema) };
}

function afterAnswerOf(choice: NonNullable<AgentSpec<[], unknown>['afterAnswer']>, where: string) {
  if (choice === 'complete') return choice;
  if (choice === 'wait') return { wait_ms: null };
  require(isFields(choice), `${where} afterAnswer`, "'complete', 'wait' or { wait: duration }", kindOfThing(choice));
  const wait_ms = durationMs(choice.wait, `${where} afterAnswer.wait`);
  require(wait_ms > 0, `${where} afterAnswer.wait`, 'a duration above zero', choice.wait);
  return { wait_ms };
}

/** Zero is a valid grace. */
function graceOf(grace: Duration, where: string): number {
  const ms = grace === 0 ? 0 : durationMs(grace, `${where} cancelGrace`);
  require(ms <= CANCEL_GRACE_MS_MAX, `${where} cancelGrace`, `at most ${CANCEL_GRACE_MS_MAX} ms`, grace);
  return ms;
}

/** Refuses tools by name, as other libraries list them, and tools that were only written down. */
function requireTools(where: string, tools: readonly Tool[]): void {
  require(Array.isArray(tools), `${where} tools`, 'a list of tools', typeof tools);
  for (const [i, tool] of tools.entries()) {
    require(fieldsOf(tool).type === 'tool', `${where} tools[${i}]`, 'a tool that defineTool made', typeof tool);
  }
  requireDifferent(where, 'tools', tools);
}

function requireContext(where: string, sources: readonly ContextSource[]): void {
  require(Array.isArray(sources), `${where} context`, 'a list of context sources', typeof sources);
  require(sources.length <=
    CONTEXT_SOURCES_MAX, where, `at most ${CONTEXT_SOURCES_MAX} context sources`, sources.length);
  for (const [i, { name, lane, load }] of sources.map(fieldsOf).entries()) {
    const whole = NAME.test(String(name)) && CONTEXT_LANES.some((known) => known === lane) && isFunction(load);
    require(whole, `${where} context[${i}]`, `{name, lane: ${CONTEXT_LANES.join(' | ')}, load}`, lane);
  }
  requireDifferent(where, 'context sources', sources);
}

/** Refuses an own tool whose name begins like the names of a toolset's tools, `<toolset>__<tool>`. */
function requireToolsets(where: string, toolsets: readonly Toolset[], tools: readonly Tool[]): void {
  require(Array.isArray(toolsets), `${where} toolsets`, 'a list of toolsets', typeof toolsets);
  require(toolsets.length <= TOOLSETS_MAX, where, `at most ${TOOLSETS_MAX} toolsets`, toolsets.length);
  for (const [i, toolset] of toolsets.entries()) {
    requireToolset(toolset, `${where} toolsets[${i}]`);
    const own = tools.find(({ name }) => name.startsWith(`${toolset.name}__`));
    require(own === undefined, where, `no tool of a name that begins with ${toolset.name}__`, own?.name);
  }
  requireDifferent(where, 'toolsets', toolsets);
}

function requireDifferent(where: string, what: string, named: readonly { readonly name: string }[]): void {
  const names = named.map(({ name }) => name);
  require(new Set(names).size === names.length, where, `${what} with different names`, names.join(', '));
}
