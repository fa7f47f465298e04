/** What a node may read of the tree: rows of all, whole texts as its place allows. */

import { type Ref, shortText, type Value } from '@reprise/contracts';
import { type CallAnswer, key } from '@reprise/org/contracts';
import type { CallOf } from '../../contracts/index.js';
import { asksOf, childrenOf, numbers } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { draftOf } from '../delivery/drafts.js';
import { isAbove, type Nodes, type ReadNode } from '../delivery/nodes.js';
import { Refused } from '../delivery/refused.js';

/** The length of one page of rows as JSON, and how many nodes are looked at for it. */
const PAGE_LENGTH = 3_300;
const LOOKED_AT_MAX = 1_024;

/** The characters of a goal in a row. */
const GOAL_LENGTH = 80;

/** A page of rows, in the order of their numbers. */
export function readTree(delivery: Delivery, { root = 1, depth = 12, after = 0 }: CallOf<'read_tree'>): Value {
  const { nodes } = delivery;
  const top = nodes.get(root);
  if (top === undefined) throw new Refused('unknown_node', { node_id: root });
  const rows: Value[] = [];
  let length = 0;
  let looked = 0;
  for (let page = nodes.page(after, 128); page.length > 0; page = nodes.page(page.at(-1)?.n ?? 0, 128)) {
    for (const row of page) {
      const isIn = (row.n === root || isAbove(nodes, root, row.n)) && row.depth < top.depth + depth;
      const told = isIn ? rowOf(delivery, row) : undefined;
      const size = told === undefined ? 0 : JSON.stringify(told).length;
      if (length + size > PAGE_LENGTH || ++looked > LOOKED_AT_MAX) return { nodes: rows, next: row.n - 1 };
      if (told !== undefined) rows.push(told);
      length += size;
    }
  }
  return { nodes: rows };
}

function rowOf(delivery: Delivery, row: ReadNode): Value {
  const { n, type, goal, status, parent, returns, agent } = row;
  const blocked = numbers(delivery, 'needs', n);
  return { id: n, type, goal: shortText(goal, GOAL_LENGTH), status, parent, blocked_by: [...blocked], returns, agent };
}

/** One node, and as much of its texts as the reader may see. */
export function readNode(delivery: Delivery, reader: ReadNode, n: number): CallAnswer {
  const row = delivery.nodes.get(n);
  if (row === undefined) throw new Refused('unknown_node', { node_id: n });
  const { code, attempt, phase, gen, result, prompt_ref } = row;
  const asks = asksOf(delivery, n).map(([ask]) => ask);
  const children = childrenOf(delivery, n).map((child) => child.n);
  const of = { code, phase, generation: gen, attempt, children, asks, has_result: result !== null };
  const refs: { label: string; ref: Ref }[] = [];
  const add = (label: string, ref: Ref | null | undefined): void => {
    if (ref !== null && ref !== undefined) refs.push({ label, ref });
  };
  if (isInLine(delivery.nodes, reader.n, n)) add('prompt', prompt_ref);
  if (maySee(delivery, reader, row)) {
    add('result', result?.ref);
    if (n !== reader.n && isAbove(delivery.nodes, n, reader.n)) add('draft', draftOf(delivery, n)?.given?.ref);
  }
  add('summary', result?.summary_ref);
  const question = row.type === 'ask' ? delivery.ctx.table('asks').get(key(n)) : undefined;
  if (question !== undefined && (question.asker === reader.n || question.route.includes(reader.n))) {
    add('question', question.text_ref);
    if (question.asker === reader.n)
      for (const { by, text_ref } of question.answers.slice(0, 4)) add(`#${by}`, text_ref);
  }
  return { value: { ...(rowOf(delivery, row) as Readonly<Record<string, Value>>), ...of }, refs };
}

/** Whether two nodes are one, or one is above the other. */
function isInLine(nodes: Nodes, a: number, b: number): boolean {
  return a === b || isAbove(nodes, a, b) || isAbove(nodes, b, a);
}

/** Whether a node may read the whole result of another: its own, one below, one that it needs, a sibling of a fork. */
function maySee(delivery: Delivery, reader: ReadNode, row: ReadNode): boolean {
  if (row.n === reader.n || isAbove(delivery.nodes, reader.n, row.n)) return true;
  if (isAbove(delivery.nodes, row.n, reader.n)) return true;
  if (numbers(delivery, 'needs', reader.n).includes(row.n)) return true;
  return reader.type === 'fork' && row.parent === reader.parent && row.status === 'complete';
}
