/** Trees as clients outside follow them. */
import type { AgentWorld, Organization } from '@reprise/agent';
import { present } from '@reprise/contracts';
import { CellReader, shownParts } from '@reprise/org';
import { key } from '@reprise/org/contracts';
import { type NodeRow, TREE, type TreeState } from '../pure/index.js';
import { stateOf } from '../views/index.js';

/** Trees, their nodes, and what links content of them. */
export function followedTrees({ kernel }: AgentWorld): Organization {
  const cellOf = (name: string) => new CellReader<TreeState>(kernel, [TREE, name]);
  return {
    kind: 'tree',
    reducer: TREE,
    linkedFrom: ['nodes', 'asks', 'drafts'],
    about: async (name) => {
      const cell = cellOf(name);
      const state = await cell.state();
      if (state === undefined) return undefined;
      const root = (await cell.row('nodes', key(1))) as unknown as NodeRow | undefined;
      const { status, labels, running, asks, limits, budget, spent, started, ended } = state;
      return { ...present({ goal: root?.goal }), status, labels, running, asks, limits, budget, spent, started, ended };
    },
    parts: (name, after) => shownParts(cellOf(name), [['nodes', shownNode]], after),
  };
}

function shownNode(row: NodeRow): object {
  const { n: node, type, parent, goal, agent, status, paused, session, returns, result, code, spent, prompt_ref } = row;
  const { mark, word: state } = stateOf(row);
  const about = { node, type, parent, goal, agent, status, paused, mark, state, session, returns };
  return { ...about, prompt: prompt_ref, result, code, spent };
}
