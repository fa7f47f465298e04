/** The end of a node: once, whatever it was. What it means for others is passed on by `work.ts`. */

import type { Actor } from '@reprise/contracts';
import { key, placeInLine } from '@reprise/org/contracts';
import type { Given, NodeRow, NodeStatus, WorkItem } from '../../contracts/index.js';
import type { Delivery } from '../delivery/delivery.js';
import { dropDraft } from '../delivery/drafts.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { stopRun } from './runs.js';

interface NodeEnd {
  readonly status: Extract<NodeStatus, 'complete' | 'failed' | 'cancelled'>;
  readonly code?: string;
  readonly result?: Given;
  /** The actor that stopped it; absent for every other end. */
  readonly by?: Actor;
}

/** Ends a node, and its run. Its children, dependents and parent learn of it from the table `work`. */
export function endNode(delivery: Delivery, n: number, end: NodeEnd): void {
  if (endAlone(delivery, n, end)) passOnLater(delivery, n);
}

export function passOnLater(delivery: Delivery, n: number): void {
  addWork(delivery, 'ended', n, { at: key(n) });
}

/** Leaves something to be passed on (run/work): under keys that are passed on in the order of nodes. */
export function addWork(
  { ctx }: Delivery,
  what: WorkItem['do'],
  n: number,
  { at = `${key(n)}.${what}`, stage = 'children' }: { at?: string; stage?: WorkItem['stage'] } = {},
): void {
  ctx.table('work').set(at, { do: what, n, stage, after: null });
}

/**
 * Ends a node, and its run: the caller passes its end on.
 *
 * @returns whether it had not ended before
 */
export function endAlone(delivery: Delivery, n: number, { status, code, result, by }: NodeEnd): boolean {
  const row = delivery.nodes.change(n);
  if (isEnded(row)) return false;
  delivery.changes++;
  leaveLine(delivery, row);
  row.status = status;
  row.code = code ?? null;
  row.result = result ?? null;
  if (by !== undefined) row.stopped_by = by;
  dropDraft(delivery, n);
  row.paused = false;
  row.unfinished = null;
  row.answering = false;
  stopRun(delivery, row);
  return true;
}

export function leaveLine(delivery: Delivery, row: NodeRow): void {
  delivery.ctx.table('ready').delete(placeOf(row));
  delivery.ctx.table('held').delete(key(row.n));
}

export function enterLine(delivery: Delivery, row: NodeRow): void {
  delivery.ctx.table('ready').set(placeOf(row), row.n);
}

/** Where a node stands in line: among those that may begin, or among those that are held by a pause. */
export function lineOf(delivery: Delivery, row: ReadNode): 'ready' | 'held' | null {
  if (delivery.ctx.table('ready').get(placeOf(row)) !== undefined) return 'ready';
  return delivery.ctx.table('held').get(key(row.n)) !== undefined ? 'held' : null;
}

/** Where a node stands: a run that continues with its answers before all that would begin, since what it needs is set aside. */
function placeOf({ n, run, priority }: ReadNode): string {
  const place = placeInLine(priority, n);
  return run === 'none' ? place : `-${place}`;
}

/** A node that was to be synthesized, and has not begun, waits again: it has an open child. */
export function waitAgain(delivery: Delivery, row: NodeRow): void {
  if (row.status !== 'pending' || row.phase !== 'synthesis' || row.run !== 'none' || row.open === 0) return;
  leaveLine(delivery, row);
  row.gen--;
  row.phase = row.gen > 0 ? 'synthesis' : 'work';
  row.status = 'waiting_children';
}
