/** Stores the recorded form of an agent: its definition as data, and its texts. */
import { hintOf, type ModelOptions, present, type Ref, RepriseError, requireKnownOptions } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { putValue } from '@reprise/kernel/store';
import { putText } from '../content/transcript.js';
import type { AgentDef } from '../contracts/agent-def.js';
import type { Adopted, AgentConfig, CompactionPolicy, ConfigPatch } from '../contracts/config.js';
import { childTools } from '../tools/tool/children.js';
import { describeTools, type Tool, toolsBytes } from '../tools/tool/tool.js';
import type { AnyAgent } from './agent.js';
import type { ChosenCompaction } from './compaction-choice.js';
import { type Limits, saidLimits } from './limits.js';
import { type ModelChoices, requireModelChoices, storeModelChoices } from './model-choices.js';
import { type Price, recordedPrice, requirePrices } from './price.js';
import { spawnable } from './spawnable.js';

/** A model, as far as sessions need to know it. */
export interface ModelInfo {
  /** How many tokens its window holds. */
  readonly contextWindow?: number;
  /** The model's price. A limit in money is refused when a model that it bounds has no price. */
  readonly price?: Price;
}

/** The models of a world, by alias. */
export type ModelInfos = Readonly<Record<string, ModelInfo>>;

/** The definition that a session adopts, and those of all agents that may be spawned from there. */
interface StoredAgent extends Adopted {
  readonly agents: readonly Adopted[];
}

const REPAIR_TEXT =
  'Your last answer is not what this run has to return. Answer again with the corrected JSON alone, without other text ' +
  'around it. What was wrong with it:';

const UNKNOWN_QUESTION = {
  question:
    'Nobody can tell whether this call happened: it was interrupted. Find out, and say what the agent is to be told as its result.',
};

/**
 * Stores an agent's definition, and those of all agents below it, as content.
 *
 * @param models the models of the world, by alias
 * @throws RepriseError `unknown_model`, `invalid_definition` before anything is stored; `duplicate_definition` when two
 * agents share a name
 */
export async function storeAgent(content: ContentStore, agent: AnyAgent, models: ModelInfos): Promise<StoredAgent> {
  const below = spawnable(agent);
  for (const one of [agent, ...below]) requireModels(models, one);
  requirePrices(models, agent);
  const own = await storeOne(content, agent, models);
  const agents: Adopted[] = [];
  for (const one of below) agents.push(one === agent ? own : await storeOne(content, one, models));
  return { ...own, agents };
}

/**
 * The definitions that a world has stored: each is stored once, and stored again after an erasure, which may have
 * removed it.
 */
export class StoredAgents {
  readonly #known = new WeakMap<AnyAgent, { readonly erased: number; readonly stored: StoredAgent }>();

  constructor(
    private readonly content: ContentStore,
    private readonly models: ModelInfos,
  ) {}

  /** The stored definition of an agent, and those below it. @throws RepriseError like {@link storeAgent} */
  async of(agent: AnyAgent): Promise<StoredAgent> {
    const erased = await this.content.erasedThrough();
    const known = this.#known.get(agent);
    if (known?.erased === erased) return known.stored;
    const stored = await storeAgent(this.content, agent, this.models);
    this.#known.set(agent, { erased, stored });
    return stored;
  }
}

function requireModels(models: ModelInfos, { name, model, compaction }: AnyAgent): void {
  requireModel(models, model, `agent ${name}`);
  if (compaction !== null && compaction.model !== null)
    requireModel(models, compaction.model, `agent ${name} compaction`);
}

async function storeCompaction(
  content: ContentStore,
  { ask, ...policy }: ChosenCompaction,
  models: ModelInfos,
): Promise<CompactionPolicy> {
  const price = policy.model === null ? {} : { price: recordedPrice(models[policy.model]?.price) };
  return { ...policy, ...price, ask_ref: await putText(content, ask) };
}

/**
 * Refuses the alias of a model that the world does not have.
 *
 * @throws RepriseError `unknown_model`
 */
export function requireModel(models: ModelInfos, alias: string, where: string): void {
  if (Object.hasOwn(models, alias)) return;
  const { hint: near } = hintOf(alias, models);
  const known = Object.keys(models);
  throw new RepriseError('unknown_model', `the world has no model "${alias}"`, {
    where,
    expected: known.length === 0 ? 'a model of `models`, which is empty' : `one of: ${known.join(', ')}`,
    actual: alias,
    hint: [near, 'List it under `models` when opening the world.'].filter((text) => text !== undefined).join(' '),
  });
}

/** A change of a session's configuration, as an app writes it. */
export interface Reconfiguration {
  /** The alias of another model of the world. */
  readonly model?: string;
  /** All options of the model, in place of the current ones. */
  readonly options?: ModelChoices;
  readonly instructions?: string;
  /** The limits that change; the others stay. */
  readonly limits?: Limits;
}

const RECONFIGURATION: Readonly<Record<keyof Reconfiguration, true>> = {
  model: true,
  options: true,
  instructions: true,
  limits: true,
};

/** Stores the content of a change, and returns its recorded form. */
export async function storePatch(
  content: ContentStore,
  change: Reconfiguration,
  models: ModelInfos,
): Promise<ConfigPatch> {
  requireKnownOptions(change, RECONFIGURATION, 'reconfigure');
  const { model, options, instructions, limits } = change;
  if (options !== undefined) requireModelChoices(options, 'reconfigure');
  const window = model === undefined ? undefined : models[model]?.contextWindow;
  return present({
    model,
    price: model === undefined ? undefined : recordedPrice(models[model]?.price),
    context_window: window,
    options: options && (await storeModelChoices(content, options)),
    ...(instructions !== undefined && {
      system_ref: await putText(content, instructions),
      system_bytes: bytesIn(instructions),
    }),
    limits: limits === undefined ? undefined : (saidLimits(limits, 'reconfigure') as ConfigPatch['limits'] & object),
  });
}

async function storeOne(content: ContentStore, agent: AnyAgent, models: ModelInfos): Promise<Adopted> {
  const options: ModelOptions = await storeModelChoices(content, agent.options);
  const system = systemText(agent);
  const tools = describeTools(toolsOf(agent));
  const config: AgentConfig = {
    agent: agent.name,
    model: agent.model,
    models: Object.keys(models).sort(),
    options,
    price: recordedPrice(models[agent.model]?.price),
    system_ref: await putText(content, system),
    tools_ref: await putValue(content, tools),
    system_bytes: bytesIn(system),
    tools_bytes: toolsBytes(tools),
    ...toolsetsOf(agent),
    limits: agent.limits,
    loop: agent.loop === null ? null : { ...agent.loop.policy, steer_ref: await putText(content, agent.loop.steer) },
    context_window: agent.contextWindow ?? models[agent.model]?.contextWindow ?? null,
    compaction: agent.compaction === null ? null : await storeCompaction(content, agent.compaction, models),
    after_answer: agent.afterAnswer,
    repair_ref: agent.returns === null ? null : await putText(content, REPAIR_TEXT),
    unknown_question_ref: await putValue(content, UNKNOWN_QUESTION),
    spawns: agent.spawns.map(({ name }) => name),
    cancel_grace_ms: agent.cancelGraceMs,
  };
  return { def_ref: await putDef(content, agent, config), config };
}

/** The agent's own tools and, when it may spawn agents, the tools that control its children. */
export function toolsOf(agent: AnyAgent): readonly Tool[] {
  const { tools, spawns } = agent;
  const listed = tools as readonly Tool[];
  if (spawns.length === 0) return listed;
  const known = leading.get(agent) ?? childTools(spawns.map(({ name }: AnyAgent) => name));
  leading.set(agent, known);
  const names = new Set(listed.map(({ name }) => name));
  return [...listed, ...known.filter(({ name }) => !names.has(name))];
}

/** The tools that control children: made once for each list of agents, so that equal lists give the same tools. */
const leading = new WeakMap<AnyAgent, readonly Tool[]>();

function toolsetsOf({ toolsets }: AnyAgent): Pick<AgentConfig, 'toolsets'> {
  if (toolsets.length === 0) return {};
  return {
    toolsets: toolsets.map(({ name, onChanged, onAdded }) => ({ name, on_changed: onChanged, on_added: onAdded })),
  };
}

function putDef(content: ContentStore, agent: AnyAgent, config: AgentConfig): Promise<Ref> {
  const context = agent.context.map(({ name }) => name);
  const def: AgentDef = {
    type: 'aos.agent/AgentDef@1',
    config,
    returns: agent.returns?.jsonSchema ?? null,
    context,
  };
  return putValue(content, def);
}

function bytesIn(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** The instructions for the model; of an agent with `returns`, they also state the JSON Schema of the answer. */
function systemText({ instructions, returns }: AnyAgent): string {
  if (returns === null) return instructions;
  const schema = JSON.stringify(returns.jsonSchema); // its keys stand in canonical order
  return `${instructions}\n\nEnd with an answer that is one JSON value and nothing else. It has to fit this JSON Schema:\n${schema}`;
}
