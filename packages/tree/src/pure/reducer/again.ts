/** Trying ended nodes again, and what failed because of them. */
import type { EventValue } from '@reprise/kernel/define';
import type { NodeRow, treeCommands } from '../contracts/index.js';
import { type Delivery, tableOf } from './delivery.js';
import { leaveLine } from './end-node.js';
import { key } from './keys.js';
import { agentNames, takeStock } from './make.js';
import { isEnded } from './nodes.js';
import { numbers } from './reach.js';
import { Refused } from './refused.js';
import { unitOf } from './spending.js';

type Retry = EventValue<typeof treeCommands, 'tree/Retry@1'>;

/** Tries an ended node again. */
export function retry(delivery: Delivery, { node: n, agent, fresh, budget }: Retry): void {
  const row = delivery.nodes.change(n);
  if (!isEnded(row)) throw new Refused('not_ended');
  if (row.type === 'ask' || row.run !== 'none') throw new Refused('illegal_transition');
  for (let at = row.parent; at !== null; at = delivery.nodes.at(at).parent) {
    if (isEnded(delivery.nodes.at(at))) throw new Refused('ancestor_ended');
  }
  if (agent !== undefined && tableOf(delivery, 'agents').get(agent) === undefined) {
    throw new Refused('unknown_agent', { agents: agentNames(delivery) });
  }
  if (agent !== undefined) row.agent = agent;
  if (agent !== undefined || fresh === true) row.session = null;
  const usual = budget ?? delivery.state.budget.node;
  if (usual !== null) row.budget = row.spent[unitOf(delivery)] + usual;
  if (n === 1) Object.assign(delivery.state, { status: 'running', ended: null });
  reopen(delivery, row);
}

/** Makes an ended node pending again: its parent has an open child, and its dependents wait for it. */
function reopen(delivery: Delivery, row: NodeRow): void {
  if (row.parent !== null) reopenParent(delivery, delivery.nodes.change(row.parent));
  const hasRun = row.launch > 0;
  const children = numbers(delivery, 'children', row.n).map((n) => delivery.nodes.at(n));
  const made = children.some(({ type }) => type !== 'ask');
  Object.assign(row, { status: 'pending', code: null, result: null, wrong: 0, unfinished: null });
  if (hasRun) row.attempt++;
  if (made && row.phase !== 'synthesis') row.gen++;
  row.phase = made ? 'synthesis' : 'work';
  delivery.changes++;
  tableOf(delivery, 'work').set(`${key(row.n)}.again`, { do: 'again', n: row.n, stage: 'dependents', after: null });
  if (row.type === 'serial') reopenSerial(delivery, row, children);
  else takeStock(delivery, row);
}

/** A serial does not run: its steps that are not complete are tried again. */
function reopenSerial(delivery: Delivery, row: NodeRow, steps: readonly Readonly<NodeRow>[]): void {
  Object.assign(row, { status: 'waiting_children', phase: 'work', gen: 0 });
  for (const { n, status } of steps) if (status !== 'complete') reopen(delivery, delivery.nodes.change(n));
}

/** A parent that was to be synthesized, and has not begun, waits for its child again. */
function reopenParent(delivery: Delivery, parent: NodeRow): void {
  parent.open++;
  parent.since++;
  if (parent.status !== 'pending' || parent.phase !== 'synthesis' || parent.run !== 'none') return;
  leaveLine(delivery, parent);
  parent.gen--;
  parent.phase = parent.gen > 0 ? 'synthesis' : 'work';
  parent.status = 'waiting_children';
}

/** A dependent of a node that is tried again: it waits, or is tried again when it failed for that reason. */
export function retryDependent(delivery: Delivery, row: NodeRow, need: number): void {
  if (delivery.nodes.at(need).status === 'complete') return;
  if (row.status === 'pending' && row.launch === 0) {
    leaveLine(delivery, row);
    row.unmet++;
    delivery.changes++;
  } else if (row.code === 'blocked_failed' && (row.parent === null || !isEnded(delivery.nodes.at(row.parent)))) {
    reopen(delivery, row);
  }
}
