/** Agents: a definition is data, kept as content; code supplies only the handlers of its tools. */
import { type Ref, RepriseError } from '@reprise/contracts';
import { type ContentStore, putValue } from '@reprise/kernel';
import { type AgentConfig, type RunLimits, runLimits } from './contracts/session.js';
import { describeTools, type Tool } from './tool.js';
import { putText } from './transcript.js';

/** What an author writes to define an agent. */
export interface AgentSpec {
  /** Letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** The alias of a model; which model stands behind it is said when the world is opened. */
  readonly model: string;
  /** What the model is told about its task. */
  readonly instructions: string;
  /** What it may call. */
  // biome-ignore lint/suspicious/noExplicitAny: a handler's argument type is closed over by its own schema
  readonly tools?: readonly Tool<any>[];
  /** What a run may use; see {@link LIMITS_DEFAULT}. */
  readonly limits?: Partial<RunLimits>;
}

/** An agent. Made by {@link defineAgent}. */
export interface Agent extends Required<Omit<AgentSpec, 'limits'>> {
  readonly type: 'agent';
  readonly limits: RunLimits;
}

/** The limits of a run that says nothing. */
export const LIMITS_DEFAULT: RunLimits = Object.freeze({ max_steps: 50, max_tool_calls_per_step: 16 });

/**
 * Defines an agent.
 *
 * @throws RepriseError `invalid_definition`
 * @example
 * const surveyor = defineAgent({ name: 'surveyor', model: 'main', instructions: 'Survey the folder.', tools: workspace({ root: '.' }) })
 */
export function defineAgent(spec: AgentSpec): Agent {
  const where = `agent ${String(spec.name)}`;
  if (typeof spec.name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(spec.name)) {
    throw invalid(where, 'a name of 1 to 64 of a–z A–Z 0–9 _ -', spec.name);
  }
  if (typeof spec.model !== 'string' || spec.model === '' || spec.model.length > 128) {
    throw invalid(where, 'the alias of a model, 1 to 128 characters', spec.model);
  }
  if (typeof spec.instructions !== 'string') throw invalid(where, 'instructions as text', typeof spec.instructions);
  const limits = runLimits.safeParse({ ...LIMITS_DEFAULT, ...spec.limits });
  if (!limits.success) throw invalid(where, 'limits as whole numbers in range', limits.error.issues[0]?.path.join('.'));
  const tools = spec.tools ?? [];
  const names = new Set(tools.map(({ name }) => name));
  if (names.size !== tools.length)
    throw invalid(where, 'tools with different names', tools.map(({ name }) => name).join(', '));
  return Object.freeze({
    type: 'agent',
    name: spec.name,
    model: spec.model,
    instructions: spec.instructions,
    tools: [...tools],
    limits: limits.data,
  });
}

/** Keeps a definition as content. @returns what a session adopts */
export async function storeAgent(content: ContentStore, agent: Agent): Promise<{ def_ref: Ref; config: AgentConfig }> {
  const config: AgentConfig = {
    agent: agent.name,
    model: agent.model,
    system_ref: await putText(content, agent.instructions),
    tools_ref: await putValue(content, describeTools(agent.tools)),
    limits: agent.limits,
  };
  return { def_ref: await putValue(content, { type: 'aos.agent/AgentDef@1', ...config }), config };
}

function invalid(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'this is not an agent', { where, expected, actual });
}
