/** The trees of a world: starting them, and listing them. */
import { type AgentWorld, type AnyAgent, putText } from '@reprise/agent';
import {
  aText,
  type Capability,
  fieldsOf,
  hintOf,
  type KnownOptions,
  oneOf,
  present,
  RepriseError,
  requireFields,
  requireKnownOptions,
  textsByName,
  wholeFrom,
} from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import { SCOPE } from '@reprise/org';
import { suppliesOf } from '../adapters/agents.js';
import { TREE_AGENT_BYTES_MAX, TREE_LABELS_BYTES_MAX, TREE_START_BYTES_MAX } from '../pure/contracts/bounds.js';
import {
  PEOPLE,
  TREE_LIMITS,
  type TreeAgent,
  type TreeLimits,
  type TreeStart,
  type TreeStatus,
  useOfMemory,
} from '../pure/index.js';
import { type Budget, recordedBudget, unitOf } from './budget.js';
import { goalAndPrompt } from './goal.js';
import type { TreesOptions } from './part.js';
import { type RecordedTree, treeRows } from './projections.js';
import { limitsOf, noFiles, recordedRights } from './recorded.js';
import { type By, TreeRequests } from './requests.js';
import { recordedReturns, type TreeReturns } from './returns.js';
import { Tree } from './tree.js';

/** A tree that is to be started. */
export interface TreeSpec<R> {
  /** At most 500 bytes; of a longer text the first line is the goal, and all of it the prompt. */
  readonly goal: string;
  /** The task of the root; the goal when absent. */
  readonly prompt?: string;
  /** The agent of the root; the first of the part when absent. */
  readonly agent?: AnyAgent;
  /** The type of the result, or a Standard Schema of it; text when absent. */
  readonly returns?: TreeReturns<R>;
  readonly limits?: Partial<TreeLimits>;
  readonly budget?: Budget;
  /** What becomes of questions to people: they are asked, the default is taken, or the call fails. Default `human`. */
  readonly asks?: (typeof PEOPLE)[number];
  /**
   * A store of memories that its nodes search by `memory_query`, and with `write` add to by `memory_store`. What a node
   * stores comes from it, and at last from the task of the tree.
   */
  readonly memory?: { readonly scope: string; readonly write?: boolean };
  /** Stated with every session and question of the tree. */
  readonly labels?: Readonly<Record<string, string>>;
  /** What the root and all below it may do, for example `{ may: { tool: ['read_*'] } }`; all when absent. */
  readonly rights?: Capability;
}

/** Selects trees of a list. */
interface TreeQuery {
  readonly status?: TreeStatus;
  /** Trees with all of these labels. */
  readonly label?: Readonly<Record<string, string>>;
  /** The length of a page; 100 when absent, 1,000 at most. */
  readonly limit?: number;
  /** Begins behind a page: its `next`. */
  readonly after?: string;
}

/** A tree in a list. Times are in journal milliseconds. */
export interface TreeRow extends Readonly<Omit<RecordedTree, 'seq'>> {
  readonly name: string;
}

/** The trees of a world. */
export interface Trees {
  /**
   * Starts a tree. The same start again changes nothing.
   *
   * @param name 1 to 100 of a–z 0–9 . _ -; it is the key of the tree's cell
   * @throws RepriseError `invalid_argument`; `request_rejected` when the tree was started with something else
   */
  start<R = string>(name: string, spec: TreeSpec<R>, by?: By): Promise<Tree<R>>;
  /** The handle of a tree, whether or not it was started. */
  tree(name: string): Tree<unknown>;
  /** Trees, the last changed first. */
  all(query?: TreeQuery): Promise<{ readonly items: readonly TreeRow[]; readonly next?: string }>;
}

const NAME = /^[a-z0-9._-]{1,100}$/;

const SPEC_FIELDS: KnownOptions<TreeSpec<unknown>> = {
  goal: true,
  prompt: true,
  agent: true,
  returns: true,
  limits: true,
  budget: true,
  asks: true,
  labels: textsByName,
  memory: true,
  rights: true,
};

/** Makes the handle of the part. */
export function treesOf(world: AgentWorld, options: TreesOptions): Trees {
  const { agents, files } = options;
  const partsOf = (name: string) => ({ world, name: requireName(name), agents, files: files !== undefined });
  return {
    async start<R = string>(name: string, spec: TreeSpec<R>, by: By = {}) {
      requireFields(spec, 'trees.start(spec)', 'a tree, such as { goal }');
      const schema = typeof spec.returns === 'string' ? undefined : spec.returns;
      const tree = new Tree<R>(partsOf(name), schema);
      const start = await startOf(world, options, spec);
      const sent = await new TreeRequests(world.kernel, name).send('tree/Start@1', start, by);
      if (typeof sent === 'string') throw notStarted(name, sent);
      return tree;
    },
    tree: (name) => new Tree(partsOf(name)),
    all: (query = {}) => allTrees(world, query),
  };
}

async function startOf<R>(world: AgentWorld, options: TreesOptions, spec: TreeSpec<R>): Promise<TreeStart> {
  requireKnownOptions(spec, SPEC_FIELDS, 'start');
  const { content } = world.kernel;
  const { agents, files, calls } = options;
  const { agent: chosen = agents[0], budget = {}, asks = 'human', labels = {}, limits = {} } = spec;
  const { goal, prompt } = goalAndPrompt(spec);
  const agent = requireAgent(chosen, agents).name;
  if (!PEOPLE.includes(asks)) throw invalid('asks', PEOPLE.join(', '), asks);
  const labelled = encode({ ...labels }).length;
  if (labelled > TREE_LABELS_BYTES_MAX) throw invalid('labels', `at most ${TREE_LABELS_BYTES_MAX} bytes`, labelled);
  const { returns, schema_ref } = await recordedReturns(content, spec.returns, 'returns');
  if (returns === 'file' && files === undefined) throw noFiles();
  const host = { adopt: (one: AnyAgent) => world.adopted(one) };
  const plain: TreeAgent[] = [];
  for (const one of agents) plain.push({ name: one.name, ...(await world.adopted(one)), variants: {} } as TreeAgent);
  const unit = unitOf(budget, plain);
  const memory = recordedMemory(spec.memory);
  const supplies = await suppliesOf(content, host, options, { unit, ...useOfMemory(memory) });
  supplies.agents.forEach(requireFitting);
  const first = supplies.agents.find(({ name }) => name === agent);
  return startable({
    goal,
    prompt_ref: await putText(content, prompt),
    agent,
    ...supplies,
    returns,
    schema_ref,
    limits: { ...TREE_LIMITS, ...limitsOf(limits) },
    budget: recordedBudget(budget, unit, first),
    people: asks,
    labels: { ...labels },
    ...(calls === undefined ? {} : { calls: [...calls] }),
    ...present({ memory, rights: spec.rights && recordedRights(spec.rights, 'rights') }),
  });
}

/** The store of a tree, as it is recorded. @throws RepriseError `invalid_argument` */
function recordedMemory(given: TreeSpec<unknown>['memory']): TreeStart['memory'] {
  if (given === undefined) return undefined;
  requireKnownOptions(given, { scope: true, write: true }, 'memory');
  const { scope, write = false } = given;
  if (typeof scope !== 'string' || !SCOPE.test(scope)) {
    throw invalid('memory.scope', '1 to 200 visible ASCII characters, such as project:auth', scope);
  }
  if (typeof write !== 'boolean') throw invalid('memory.write', 'true or false', write);
  return { scope, write };
}

/** A start that fits into one event. @throws RepriseError `invalid_definition` */
function startable(start: TreeStart): TreeStart {
  const bytes = encode(start as never).length;
  if (bytes <= TREE_START_BYTES_MAX) return start;
  throw new RepriseError('invalid_definition', 'the agents of this tree are too large together', {
    where: 'agents',
    expected: `at most ${TREE_START_BYTES_MAX} bytes for all agents and labels of a tree`,
    actual: bytes,
    hint: 'Give trees fewer agents, or agents that spawn fewer of their own: those that are spawned count as well.',
  });
}

function requireName(name: unknown): string {
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw invalid('name', '1 to 100 of a–z 0–9 . _ -', name);
}

function requireAgent(agent: AnyAgent | undefined, agents: readonly AnyAgent[]): AnyAgent {
  if (agent !== undefined && agents.includes(agent)) return agent;
  const names = Object.fromEntries(agents.map((one) => [one.name, one]));
  const name = String(fieldsOf(agent).name);
  throw new RepriseError('unknown_agent', `the trees of this world have no agent "${name}"`, {
    where: 'agent',
    expected: Object.keys(names).join(', '),
    actual: name,
    ...hintOf(name, names),
  });
}

/** Refuses an agent that does not fit into one entry of a table. */
function requireFitting(agent: TreeAgent): void {
  const bytes = encode(agent as never).length;
  if (bytes <= TREE_AGENT_BYTES_MAX) return;
  throw new RepriseError('invalid_definition', `agent ${agent.name} is too large for a tree`, {
    where: `agent ${agent.name}`,
    expected: `at most ${TREE_AGENT_BYTES_MAX} bytes with the agents that it may spawn`,
    actual: bytes,
    hint: 'Let it spawn fewer agents, or make them agents of the tree.',
  });
}

async function allTrees(world: AgentWorld, query: TreeQuery): ReturnType<Trees['all']> {
  requireKnownOptions(
    query,
    {
      status: oneOf('running', 'complete', 'failed', 'cancelled'),
      label: textsByName,
      limit: wholeFrom(1),
      after: aText,
    },
    'trees.all',
  );
  const { status, label = {}, limit, after } = query;
  const view = (await world.views()).view(treeRows);
  const page = await view.query({ index: 'updated', order: 'desc', ...present({ limit, after }) });
  const items = page.rows
    .map(({ key, row: { seq: _, ...row } }) => ({ name: String(key), ...row }))
    .filter((row) => status === undefined || row.status === status)
    .filter((row) => Object.entries(label).every(([name, text]) => row.labels[name] === text));
  return { items, ...present({ next: page.cursor }) };
}

function invalid(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', `invalid option "${where}" of a tree`, { where, expected, actual });
}

function notStarted(name: string, code: string): RepriseError {
  return new RepriseError('request_rejected', `tree "${name}" was not started: ${code}`, {
    where: 'start',
    reason: code,
    hint: 'A tree of this name was started with something else: choose another name, or use trees.tree(name).',
  });
}
