/**
 * Agents as nodes: an agent of the app with the tools of a node, in one variant for each type of result, with and
 * without the tools that make children.
 *
 * A program (`externalAgent`) gets its tools from outside while its turn runs, so its definition stays as it is.
 */
import type { AnyAgent, PartHost, Tool } from '@reprise/agent';
import type { Adopted } from '@reprise/agent/contracts';
import { present, RepriseError } from '@reprise/contracts';
import { NODE_TOOLS, RESULT_TYPES, type TreeAgent, VARIANTS, variantOf } from '../pure/index.js';
import { nodeTools, type ToolTerms } from './node-tools.js';

/** How many calls one answer of a node may make: it may make all its children at once. */
const CALLS_PER_STEP = 64;

const STORE_TOOLS = ['memory_query', 'memory_store'] as const;

type Adopts = Pick<PartHost, 'adopt'>;

/**
 * Whether an agent is a separate program, whose only tool runs a turn of it.
 */
export function isProgram({ name, tools }: AnyAgent): boolean {
  const [turn, ...others] = tools as readonly Tool[];
  return others.length === 0 && turn?.name === `turn_${name}` && turn.entry.family === 'external';
}

/**
 * Refuses an agent that cannot be a node: one with a tool of its own under the name of a node's tool.
 *
 * @throws RepriseError `invalid_definition`
 */
export function requireNodeAgent(agent: AnyAgent, terms?: ToolTerms): void {
  const own: readonly string[] = (agent.tools as readonly Tool[]).map(({ name }) => name);
  const names = [...NODE_TOOLS, ...(terms?.memory === undefined ? [] : STORE_TOOLS)];
  const taken = names.find((name) => own.includes(name));
  if (taken === undefined) return;
  throw new RepriseError('invalid_definition', `agent ${agent.name} has a tool with a node's name, "${taken}"`, {
    where: `agent ${agent.name} tools`,
    expected: `tools of other names than ${names.join(', ')}`,
    actual: taken,
    hint: 'Rename the tool of the agent, for example with a word about what it acts on.',
  });
}

/**
 * Stores an agent in all variants, and packs their definitions for `tree/Start@1`.
 *
 * Of the agent, `returns` and `afterAnswer` do not count in a tree: a node's result is given by `complete`, and a run
 * ends with its last answer.
 *
 * @throws RepriseError `invalid_definition` as {@link requireNodeAgent}; the errors of storing an agent
 */
export async function packAgent(agent: AnyAgent, terms: ToolTerms, host: Adopts): Promise<TreeAgent> {
  requireNodeAgent(agent, terms);
  const variants = isProgram(agent) ? undefined : nodeVariants(agent, terms);
  const stored = new Map<string, { readonly adopted: Adopted; readonly agents: readonly Adopted[] }>();
  for (const name of VARIANTS) stored.set(name, await host.adopt(variants?.get(name) ?? agent));
  const { adopted, agents } = stored.get(variantOf('text', true)) ?? (await host.adopt(agent));
  return {
    name: agent.name,
    adopted,
    variants: Object.fromEntries([...stored].map(([name, one]) => [name, variantIn(one.adopted)])),
    ...(agents.length === 0 ? {} : { agents: [...agents] }),
    ...callsOf(agent),
  };
}

function callsOf({ tools }: AnyAgent): Pick<TreeAgent, 'calls'> {
  const calls = (tools as readonly Tool[]).flatMap(({ name, entry }) => (entry.kind === 'owner' ? [name] : []));
  return calls.length === 0 ? {} : { calls };
}

function variantIn({ def_ref, config }: Adopted): TreeAgent['variants'][string] {
  const { tools_ref, tools_bytes } = config;
  return present({ def_ref, tools_ref, tools_bytes });
}

/** Variants by agent and terms: the same objects each time, so that each definition is stored once. */
const made = new WeakMap<AnyAgent, Map<string, ReadonlyMap<string, AnyAgent>>>();

function nodeVariants(agent: AnyAgent, terms: ToolTerms): ReadonlyMap<string, AnyAgent> {
  const known = made.get(agent) ?? new Map<string, ReadonlyMap<string, AnyAgent>>();
  made.set(agent, known);
  const key = `${terms.unit} ${terms.files} ${terms.memory}`;
  const variants = known.get(key) ?? new Map(eachVariant(agent, terms));
  known.set(key, variants);
  return variants;
}

function* eachVariant(agent: AnyAgent, terms: ToolTerms): Generator<[string, AnyAgent]> {
  for (const returns of RESULT_TYPES)
    for (const makes of [true, false]) {
      const tools = [...(agent.tools as readonly Tool[]), ...nodeTools({ returns, makes, ...terms })];
      const limits = { ...agent.limits, max_tool_calls_per_step: CALLS_PER_STEP };
      yield [
        variantOf(returns, makes),
        Object.freeze({ ...agent, tools, limits, returns: null, afterAnswer: 'complete' }),
      ];
    }
}
