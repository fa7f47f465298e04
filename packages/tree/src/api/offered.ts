/** The tools that a program is offered: those of the node whose session it works for. */
import type { AgentWorld, Tool } from '@reprise/agent';
import type { SessionInfo } from '@reprise/contracts';
import { CellReader } from '@reprise/org';
import { key } from '@reprise/org/contracts';
import { type NodeRow, TREE, type TreeState, type treeTables, useOfMemory } from '../pure/index.js';
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
