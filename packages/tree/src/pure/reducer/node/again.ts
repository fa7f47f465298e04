/** Trying ended nodes again, and what failed because of them. */

import type { EventValue } from '@reprise/kernel/define';
import { pair } from '@reprise/org/contracts';
import type { NodeRow, treeCommands } from '../../contracts/index.js';
import { childrenOf, numbers } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { circleThrough, waitsForNeeds } from '../delivery/reach.js';
import { Refused } from '../delivery/refused.js';
import { unitOf } from '../delivery/spending.js';
import { addWork, leaveLine, waitAgain } from './end-node.js';
import { refuseUnknownAgent, takeStock } from './make.js';

type Retry = EventValue<typeof treeCommands, 'tree/Retry@1'>;

export function retry(delivery: Delivery, { node: n, agent, fresh, budget }: Retry): void {
  const row = delivery.nodes.change(n);
  if (!isEnded(row)) throw new Refused('not_ended');
  // A run that is being stopped must be over first, those of a serial's steps as well.
  const steps = row.type === 'serial' ? childrenOf(delivery, n) : [];
  if (row.type === 'ask' || [row, ...steps].some(({ run }) => run !== 'none')) throw new Refused('illegal_transition');
  for (const above of delivery.nodes.upFrom(row.parent)) if (isEnded(above)) throw new Refused('ancestor_ended');
  refuseCircle(delivery, row);
  refuseUnknownAgent(delivery, agent);
  if (agent !== undefined) row.agent = agent;
  if (agent !== undefined || fresh === true) row.session = null;
  const usual = budget ?? delivery.state.budget.node;
  if (usual !== null) row.budget = row.spent[unitOf(delivery)] + usual;
  if (n === 1) Object.assign(delivery.state, { status: 'running', ended: null });
  reopen(delivery, row);
}

/**
 * Refuses to try a node again that, or what failed because of it, would then wait for itself: while a node has ended, nothing
 * waits for it, so others may have been made that need it, and that it needs itself.
 */
function refuseCircle(delivery: Delivery, row: ReadNode): void {
  const again = triedWith(delivery, row);
  for (const n of again) {
    const path = circleThrough(delivery, n, again);
    if (path !== undefined) throw new Refused('would_deadlock', { path: [...path] });
  }
}

/** The nodes that are tried again with one: itself, the steps of a serial, and what failed because of them. */
function triedWith(delivery: Delivery, row: ReadNode): ReadonlySet<number> {
  if (failsAtOnce(delivery, row.n, new Set())) return new Set();
  const again = new Set([row.n, ...(row.type === 'serial' ? numbers(delivery, 'children', row.n) : [])]);
  for (const n of again) {
    for (const dependent of numbers(delivery, 'dependents', n)) {
      const { code, parent } = delivery.nodes.at(dependent);
      const isBelowOpen = parent !== null && (again.has(parent) || !isEnded(delivery.nodes.at(parent)));
      const isTried = code === 'blocked_failed' && isBelowOpen && !failsAtOnce(delivery, dependent, again);
      if (isTried) again.add(dependent);
    }
  }
  return again;
}

/** Whether a need of a node has failed that is not tried again with it. */
function failsAtOnce(delivery: Delivery, n: number, again: ReadonlySet<number>): boolean {
  return numbers(delivery, 'needs', n).some((need) => {
    const row = delivery.nodes.at(need);
    if (again.has(need) || !isEnded(row) || row.status === 'complete') return false;
    return delivery.ctx.table('needs').get(pair(n, need))?.on_failure !== 'continue';
  });
}

/** Makes an ended node pending again: its parent has an open child, and its dependents wait for it. */
function reopen(delivery: Delivery, row: NodeRow): void {
  if (row.parent !== null) reopenParent(delivery, delivery.nodes.change(row.parent));
  const hasRun = row.launch > 0;
  const children = childrenOf(delivery, row.n);
  Object.assign(row, { status: 'pending', code: null, result: null, wrong: 0, unfinished: null });
  delete row.stopped_by;
  if (hasRun) row.attempt++;
  // Children that it has not been run again for: that is what it is tried again for.
  if (row.since > 0 && hasRun) row.gen++;
  row.since = 0;
  row.phase = row.gen > 0 ? 'synthesis' : 'work';
  delivery.changes++;
  addWork(delivery, 'again', row.n, { stage: 'dependents' });
  if (row.type === 'serial') reopenSerial(delivery, row, children);
  else takeStock(delivery, row);
}

/** A serial does not run: its steps that are not complete are tried again; when all are, it is done anew. */
function reopenSerial(delivery: Delivery, row: NodeRow, steps: readonly Readonly<NodeRow>[]): void {
  Object.assign(row, { status: 'waiting_children', phase: 'work', gen: 0 });
  const failed = steps.filter(({ status }) => status !== 'complete');
  for (const { n } of failed.length > 0 ? failed : steps) reopen(delivery, delivery.nodes.change(n));
}

function reopenParent(delivery: Delivery, parent: NodeRow): void {
  parent.open++;
  parent.since++;
  waitAgain(delivery, parent);
}

/** A dependent of a node that is tried again: it waits, or is tried again when it failed for that reason. */
export function retryDependent(delivery: Delivery, row: NodeRow, need: number): void {
  if (isEnded(delivery.nodes.at(need))) return; // it has ended again meanwhile
  if (waitsForNeeds(row)) {
    leaveLine(delivery, row);
    takeStock(delivery, row);
    delivery.changes++;
  } else if (row.code === 'blocked_failed' && (row.parent === null || !isEnded(delivery.nodes.at(row.parent)))) {
    reopen(delivery, row);
  }
}
