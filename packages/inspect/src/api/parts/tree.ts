/** `GET /api/tree?name&at`: the chart of a tree. */
import { frameOf } from '@reprise/operators/page';
import { partsOf } from '@reprise/operators/sessions';
import { whyOf } from '@reprise/operators/words';
import {
  blockedBy,
  type NodeView,
  openAsks,
  stateOf,
  stateOfTree,
  TreeRecords,
  type TreeView,
  usedSoFar,
} from '@reprise/tree';
import { absent } from '../../ask/found.js';
import { AT, TEXT } from '../../ask/parameters.js';
import { type Asked, question } from '../../ask/question.js';
import type { TreeNodeRow, TreeReport } from '../../contract/index.js';
import { firstLine } from './texts.js';

/** The records of trees by server: read once. */
const kept = new WeakMap<object, TreeRecords>();

export const tree = question({ name: TEXT, at: AT }, async (asked, { name, at }): Promise<TreeReport> => {
  const { store, past, signal } = asked;
  const frame = await frameOf(store, at);
  const { trees } = await partsOf(store, { at: frame, signal });
  // To look for a tree that is not there would read the whole journal.
  if (!trees.includes(name)) throw absent('the world has no such tree at this frame', 'name', name);
  const records = kept.get(past) ?? new TreeRecords();
  kept.set(past, records);
  const found = (await records.at(store, frame)).trees.get(name);
  if (found === undefined) throw absent('the world has no such tree at this frame', 'name', name);
  const writer = at === undefined ? (await store.status?.())?.writer : undefined;
  const { mark, word } = stateOfTree(found, writer === 'died' || writer === 'closed');
  const nodes: TreeNodeRow[] = [];
  for (const node of found.nodes.values()) nodes.push(await rowOf(asked, found, node));
  const asks = openAsks(found).map(({ ask, asker }) => ({
    ...{ n: ask, asker },
    question: found.nodes.get(ask)?.goal ?? '',
  }));
  return { frame, name, mark, state: word, goal: found.goal, nodes, asks };
});

async function rowOf({ store }: Asked, tree: TreeView, node: NodeView): Promise<TreeNodeRow> {
  const { mark, word } = stateOf(node);
  const { n, parent, goal, agent, session, budget, made, changed, result } = node;
  return {
    ...{ n, parent, goal, mark, state: word, agent, session, budget, made, changed },
    blocked_by: blockedBy(tree, node),
    ...usedSoFar(node),
    why: whyOf(tree, node) ?? null,
    result: result === null ? null : await firstLine(store.content, result),
  };
}
