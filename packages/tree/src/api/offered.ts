/** The tools that a program is offered: those of the node whose session it works for. */
import type { AgentWorld, Tool } from '@reprise/agent';
import type { SessionInfo } from '@reprise/contracts';
import { type NodeRow, type ResultType, TREE, type TreeState } from '../pure/index.js';
import { key } from '../pure/reducer/keys.js';
import { nodeTools } from '../tools/node-tools.js';

/** The tools of a session's node; empty for a session of no tree. */
export async function toolsOfSession(
  world: AgentWorld,
  { key: session }: SessionInfo,
  files: boolean,
): Promise<readonly Tool[]> {
  const found = await nodeOf(world, session);
  if (found === undefined) return [];
  const { row, state } = found;
  const { limits, budget, memory } = state;
  const terms = {
    returns: row.returns as ResultType,
    makes: row.depth < limits.depth && row.gen < limits.generations,
    unit: budget.unit,
    files,
    ...(memory === undefined ? {} : { memory: memory.write ? ('write' as const) : ('read' as const) }),
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
  const state = (await kernel.state([TREE, tree])) as unknown as TreeState | undefined;
  if (state === undefined) return undefined;
  const [known] = await kernel.table([TREE, tree], 'sessions', { from: session, limit: 1 });
  if (known?.[0] !== session) return undefined;
  const [row] = await kernel.table([TREE, tree], 'nodes', { from: key(Number(known[1])), limit: 1 });
  return row === undefined ? undefined : { row: row[1] as unknown as NodeRow, state };
}
