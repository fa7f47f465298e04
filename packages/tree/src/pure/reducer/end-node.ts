/** The end of a node: once, whatever it was. What it means for others is passed on by `work.ts`. */
import type { Actor } from '@reprise/contracts';
import type { Given, NodeRow, NodeStatus } from '../contracts/index.js';
import { type Delivery, tableOf } from './delivery.js';
import { dropDraft } from './drafts.js';
import { key, placeInLine, placeToGoOn } from './keys.js';
import { isEnded, type ReadNode } from './nodes.js';
import { stopRun } from './runs.js';

/** How a node ends. */
interface NodeEnd {
  readonly status: Extract<NodeStatus, 'complete' | 'failed' | 'cancelled'>;
  readonly code?: string;
  readonly result?: Given;
  /** Who stopped it. */
  readonly by?: Actor;
}

/** Ends a node, and its run. Its children, dependents and parent learn of it from the table `work`. */
export function endNode(delivery: Delivery, n: number, end: NodeEnd): void {
  if (endAlone(delivery, n, end)) passOnLater(delivery, n);
}

/** Has the end of a node passed on. */
export function passOnLater(delivery: Delivery, n: number): void {
  tableOf(delivery, 'work').set(key(n), { do: 'ended', n, stage: 'children', after: null });
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

/** Takes a node out of the line. */
export function leaveLine(delivery: Delivery, row: NodeRow): void {
  tableOf(delivery, 'ready').delete(placeOf(row));
  tableOf(delivery, 'held').delete(key(row.n));
}

/** Puts a node into the line. */
export function enterLine(delivery: Delivery, row: NodeRow): void {
  tableOf(delivery, 'ready').set(placeOf(row), row.n);
}

/** Where a node stands in line: among those that may begin, or among those that are held by a pause. */
export function lineOf(delivery: Delivery, row: ReadNode): 'ready' | 'held' | null {
  if (tableOf(delivery, 'ready').get(placeOf(row)) !== undefined) return 'ready';
  return tableOf(delivery, 'held').get(key(row.n)) !== undefined ? 'held' : null;
}

function placeOf({ n, run, priority }: ReadNode): string {
  return run === 'none' ? placeInLine(priority, n) : placeToGoOn(priority, n);
}

/** A node that was to be synthesized, and has not begun, waits again: it has an open child. */
export function waitAgain(delivery: Delivery, row: NodeRow): void {
  if (row.status !== 'pending' || row.phase !== 'synthesis' || row.run !== 'none' || row.open === 0) return;
  leaveLine(delivery, row);
  row.gen--;
  row.phase = row.gen > 0 ? 'synthesis' : 'work';
  row.status = 'waiting_children';
}
