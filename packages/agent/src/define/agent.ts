/**
 * Agents: data, and functions that are recorded when they run. What is recorded of an agent is made by `store-agent.ts`;
 * nothing that an author writes here is ever replayed in a replay.
 */
import { CONTEXT_LANES, RepriseError, type Value } from '@reprise/contracts';
import { ADOPTIONS, type RunLimits } from '../contracts/config.js';
import { TOOLSETS_MAX } from '../contracts/toolset.js';
import type { ContextSource } from '../tools/build.js';
import { type Duration, durationMs } from '../tools/duration.js';
import { jsonSchemaOf, type Schema } from '../tools/schema.js';
import type { DepsOf, Tool } from '../tools/tool.js';
import { requireToolset, type Toolset } from '../tools/toolset.js';
import { type ChosenCompaction, type CompactionChoice, chosenCompaction } from './compaction-choice.js';
import { LIMITS_DEFAULT, type Limits, saidLimits } from './limits.js';
import { type ChosenLoop, chosenLoop, type LoopChoice } from './loop-policies.js';
import { type ModelChoices, requireModelChoices } from './model-choices.js';

/** What an author writes to define an agent. */
export interface AgentSpec<T extends readonly Tool[], R> {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** The alias of a model; which model stands behind it is said when the world is opened. */
  readonly model: string;
  /** What the model is told about its task. */
  readonly instructions: string;
  /** What it may call. */
  readonly tools?: T;
  /** What it may call besides: tools that somebody else offers, such as MCP servers. */
  readonly toolsets?: readonly Toolset[];
  /** What the model is shown besides the conversation. */
  readonly context?: readonly ContextSource[];
  /** What a run returns: its last answer is JSON that this schema takes. Any text when absent. */
  readonly returns?: Schema<R>;
  /** The JSON Schema of what a run returns, where the schema's library does not tell it. */
  readonly returnsJsonSchema?: object;
  /** What a run may use. */
  readonly limits?: Limits;
  /** How loops are found and what is done about them; `coding` when absent. */
  readonly loop?: LoopChoice;
  /** After an answer without calls the run is over (`complete`), or open for more input, for so long at most. */
  readonly afterAnswer?: 'complete' | 'wait' | { readonly wait: Duration };
  /** The agents that it may spawn. */
  readonly spawns?: readonly AnyAgent[];
  /** When sessions take a changed definition: `next_run` when absent. */
  readonly adopt?: (typeof ADOPTIONS)[number];
  /** Settings of the model. */
  readonly options?: ModelChoices;
  /** How many tokens the model's window holds, where the model does not say it. */
  readonly contextWindow?: number;
  /** How room is made in that window; when absent, by a summary at a pressure of 85 percent. */
  readonly compaction?: CompactionChoice;
  /** How long what runs has to stop when it is cancelled; five seconds when absent. */
  readonly cancelGrace?: Duration;
}

/**
 * An agent. Made by {@link defineAgent}.
 *
 * @typeParam T its tools
 * @typeParam R what its runs return
 */
export interface Agent<T extends readonly Tool[] = readonly Tool[], R = unknown> {
  readonly type: 'agent';
  readonly name: string;
  readonly model: string;
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

/** What a run returns, as it is checked and as a model is told. */
export interface Returns<R> {
  readonly schema: Schema<R>;
  readonly jsonSchema: Value;
}

/** Any agent, where its types do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: an agent's tools and return type are its own business
export type AnyAgent = Agent<any, any>;

/** What the runs of an agent return. */
export type ReturnOf<A> = A extends Agent<infer _T, infer R> ? R : never;

/** What the tools and context sources of agents need under `deps`, together. */
export type AgentDeps<A extends readonly AnyAgent[]> = DepsOf<A[number]['tools']>;

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CANCEL_GRACE_MS = 5_000;
/** As the recorded configuration bounds it, and what follows. */
const CANCEL_GRACE_MS_MAX = 600_000;
const CONTEXT_SOURCES_MAX = 16;
const SPAWNS_MAX = 32;

/**
 * Defines an agent.
 *
 * @throws RepriseError `invalid_definition`, `invalid_argument` for a span of time that is none
 * @example
 * const hello = defineAgent({ name: 'hello', model: 'main', instructions: 'Be brief.' })
 */
export function defineAgent<const T extends readonly Tool[] = readonly [], R = string>(
  spec: AgentSpec<T, R>,
): Agent<T, R> {
  const where = `agent ${String(spec?.name)}`;
  const { name, model, instructions, options = {}, adopt = 'next_run', contextWindow = null } = spec;
  const tools = spec.tools ?? ([] as unknown as T);
  const { context = [], spawns = [], toolsets = [] } = spec;
  require(NAME.test(String(name)), where, 'a name of 1 to 64 of a–z A–Z 0–9 _ -', name);
  require(typeof model === 'string' && model !== '' && model.length <= 128, where, 'the alias of a model', model);
  require(typeof instructions === 'string', where, 'instructions as text', typeof instructions);
  require(ADOPTIONS.includes(adopt), where, `adopt: ${ADOPTIONS.join(', ')}`, adopt);
  const window = contextWindow === null || (Number.isSafeInteger(contextWindow) && contextWindow > 0);
  require(window, where, 'contextWindow as a number of tokens', contextWindow);
  requireDifferent(where, 'tools', tools);
  requireToolsets(where, toolsets, tools);
  requireContext(where, context);
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

function returnsOf<R>(spec: AgentSpec<readonly Tool[], R>, where: string): Returns<R> | null {
  const { returns: schema, returnsJsonSchema } = spec;
  if (schema === undefined) return null;
  require(typeof schema?.['~standard']?.validate ===
    'function', `${where} returns`, 'a Standard Schema', typeof schema);
  return { schema, jsonSchema: jsonSchemaOf(schema, `${where} returns`, returnsJsonSchema) };
}

function afterAnswerOf(choice: NonNullable<AgentSpec<[], unknown>['afterAnswer']>, where: string) {
  if (choice === 'complete') return choice;
  if (choice === 'wait') return { wait_ms: null };
  const wait_ms = durationMs(choice?.wait, `${where} afterAnswer.wait`);
  require(wait_ms > 0, `${where} afterAnswer.wait`, 'a span of time above zero', choice.wait);
  return { wait_ms };
}

/** None at all is a grace as well. */
function graceOf(grace: Duration, where: string): number {
  const ms = grace === 0 ? 0 : durationMs(grace, `${where} cancelGrace`);
  require(ms <= CANCEL_GRACE_MS_MAX, `${where} cancelGrace`, `at most ${CANCEL_GRACE_MS_MAX} ms`, grace);
  return ms;
}

function requireContext(where: string, sources: readonly ContextSource[]): void {
  require(sources.length <=
    CONTEXT_SOURCES_MAX, where, `at most ${CONTEXT_SOURCES_MAX} context sources`, sources.length);
  requireDifferent(where, 'context sources', sources);
  for (const { name, lane, load } of sources) {
    const whole = NAME.test(String(name)) && CONTEXT_LANES.includes(lane) && typeof load === 'function';
    require(whole, `${where} context ${String(name)}`, `{name, lane: ${CONTEXT_LANES.join(' | ')}, load}`, lane);
  }
}

/** Tools of a toolset are called `<toolset>__<tool>`; a tool of the agent's own by such a name could be either. */
function requireToolsets(where: string, toolsets: readonly Toolset[], tools: readonly Tool[]): void {
  require(toolsets.length <= TOOLSETS_MAX, where, `at most ${TOOLSETS_MAX} toolsets`, toolsets.length);
  requireDifferent(where, 'toolsets', toolsets);
  for (const toolset of toolsets) {
    requireToolset(toolset, `${where} toolset ${String(toolset.name)}`);
    const own = tools.find(({ name }) => name.startsWith(`${toolset.name}__`));
    require(own === undefined, where, `no tool of a name that begins with ${toolset.name}__`, own?.name);
  }
}

function requireDifferent(where: string, what: string, named: readonly { readonly name: string }[]): void {
  const names = named.map(({ name }) => name);
  require(new Set(names).size === names.length, where, `${what} with different names`, names.join(', '));
}

function require(holds: boolean, where: string, expected: string, actual: unknown): void {
  if (!holds) throw new RepriseError('invalid_definition', 'this is not an agent', { where, expected, actual });
}
