/** Trees as a part of a world. */
import type { AgentWorld, AnyAgent, PartHost, Tool, WorldPart } from '@reprise/agent';
import {
  type Address,
  type ArgumentCheck,
  checkOf,
  type PolicyRule,
  requireKnownOptions,
  type SessionInfo,
} from '@reprise/contracts';
import type { PendingItem } from '@reprise/kernel';
import { CellReader, callRules, memoryPart, textsPart } from '@reprise/org';
import { key } from '@reprise/org/contracts';
import { agentsAdapter } from '../adapters/agents.js';
import { checkAdapter, type FileCapture } from '../adapters/check.js';
import type { PromptWords } from '../adapters/words.js';
import { TREE_AGENTS_MAX } from '../pure/contracts/bounds.js';
import {
  checkPlan,
  launchPlan,
  type NodeRow,
  peoplePlan,
  questionPlan,
  supplyPlan,
  TREE,
  type TreeState,
  treeReducer,
  type treeTables,
  useOfMemory,
} from '../pure/index.js';
import { requireNodeAgent } from '../tools/node-agent.js';
import { nodeToolCatalog, nodeTools } from '../tools/node-tools.js';
import { followedTrees } from './followed.js';
import { launchRows, treeRows } from './projections.js';
import { type Trees, treesOf } from './trees.js';

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of trees');

/** The agents of trees, and what their nodes may use. */
export interface TreesOptions {
  /** The agents that a node may have; the first is the default. */
  readonly agents: readonly AnyAgent[];
  /** Reads files that are results, such as `files(folder)` of `reprise/tree/serve`; without it no result is a file. */
  readonly files?: FileCapture;
  /** Texts in place of those of the tree, in every prompt. They are recorded with each tree. */
  readonly prompts?: PromptWords;
  /** Gives programs the tools of their nodes: `bridge(…)` of `reprise/tree/serve`. */
  readonly bridge?: NodeBridge;
  /**
   * The cell of the app that answers its agents' own owner tools. The tree passes their calls on to it, and brings
   * the policy rules for both ways.
   */
  readonly calls?: Address;
}

/** What gives programs the tools of their nodes. */
export interface NodeBridge {
  offer(tools: (session: SessionInfo) => Promise<readonly Tool[]>): void;
  close(): Promise<void>;
}

/** The rules of trees: what a tree itself does. Which cells reach a tree follows from the senders of its events. */
const POLICY: readonly PolicyRule[] = [
  { effect: 'tree.check@1', decision: 'allow' },
  { effect: 'tree.agents@1', decision: 'allow' },
  { effect: 'human.ask@1', who: `cell:${TREE}/*`, decision: 'allow' },
];

const OPTIONS: Readonly<Record<keyof TreesOptions, true>> = {
  agents: true,
  files: true,
  prompts: true,
  bridge: true,
  calls: true,
};

/**
 * Trees of agents as a part of a world.
 *
 * @throws RepriseError `invalid_argument`; `invalid_definition` for an agent with a tool of its own under the name of a
 *   node's tool
 * @example
 * const forest = trees({ agents: [worker] })
 * await using world = await openWorld({ store: sqlite('work.db'), models, parts: [forest] })
 * const tree = await world.part(forest).start('survey', { goal: 'What does this code do?' })
 * console.log((await tree.result()).text)
 */
export function trees(options: TreesOptions): WorldPart<Trees> {
  requireKnownOptions(options, OPTIONS, 'trees');
  const { agents, files, bridge } = options;
  require(Array.isArray(agents) && agents.length > 0, 'agents', 'at least one agent', agents);
  require(agents.length <= TREE_AGENTS_MAX, 'agents', `at most ${TREE_AGENTS_MAX} agents`, agents.length);
  for (const agent of agents) requireNodeAgent(agent);
  const names = agents.map(({ name }) => name);
  require(new Set(names).size === names.length, 'agents', 'agents with different names', names.join(', '));
  return {
    name: 'trees',
    uses: [textsPart, memoryPart()],
    reducers: [treeReducer],
    plans: [launchPlan, checkPlan, questionPlan, peoplePlan, supplyPlan],
    adapters: (host: PartHost) => [checkAdapter(files), agentsAdapter(host, options)],
    policy: [...POLICY, ...callRules(TREE, options.calls)],
    agents,
    tools: nodeToolCatalog(),
    views: [treeRows, launchRows],
    organizations: (world) => [followedTrees(world)],
    titleOf: titleOf,
    started: async (world: AgentWorld) => {
      bridge?.offer((session) => toolsOfSession(world, session, files !== undefined));
      return bridge === undefined ? undefined : () => bridge.close();
    },
    handle: (world) => treesOf(world, options),
  };
}

/** The title of a question to people: its tree and the node that asks. */
function titleOf({ cell, value }: PendingItem): string | undefined {
  if (cell[0] !== TREE) return undefined;
  const { session } = value as { readonly session?: SessionInfo };
  const node = session?.labels.node;
  return node === undefined ? `tree ${cell[1]}` : `tree ${cell[1]}: #${node} asks`;
}

/** The tools of a session's node; empty for a session of no tree. */
async function toolsOfSession(
  world: AgentWorld,
  { key: session }: SessionInfo,
  files: boolean,
): Promise<readonly Tool[]> {
  const found = await nodeOf(world, session);
  if (found === undefined) return [];
  const { row, state } = found;
  const { limits, budget, memory } = state;
  const terms = {
    returns: row.returns,
    makes: row.depth < limits.depth && row.gen < limits.generations,
    unit: budget.unit,
    files,
    ...useOfMemory(memory),
  };
  return nodeTools(terms);
}

/** The node of a session: sessions are named after their tree, and the tree knows them. */
async function nodeOf(
  { kernel }: AgentWorld,
  session: string,
): Promise<{ readonly row: NodeRow; readonly state: TreeState } | undefined> {
  const tree = session.slice(0, Math.max(0, session.lastIndexOf('/')));
  if (tree === '') return undefined;
  const cell = new CellReader<TreeState, typeof treeTables>(kernel, [TREE, tree]);
  const state = await cell.state();
  const n = await cell.row('sessions', session);
  const row = n === undefined ? undefined : await cell.row('nodes', key(n));
  return state === undefined || row === undefined ? undefined : { row, state };
}
