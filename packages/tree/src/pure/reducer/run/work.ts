/**
 * What is still to be passed on after an end, a pause, a resume or a restriction: to children, to dependents, to the parent. One
 * delivery passes on to so many nodes; the rest follows in frames that come before any other input.
 */
import { pair, pairsOf, secondOf } from '@reprise/org/contracts';
import type { NodeRow, WorkItem } from '../../contracts/node.js';
import { askEnded } from '../ask/asker.js';
import { passUpAll } from '../ask/route.js';
import { childrenOf } from '../delivery/around.js';
import { type Delivery, isFull } from '../delivery/delivery.js';
import { isAbove, isEnded, type ReadNode } from '../delivery/nodes.js';
import { isPaused } from '../delivery/standing.js';
import { retryDependent } from '../node/again.js';
import { endAlone, endNode, enterLine, passOnLater } from '../node/end-node.js';
import { takeStock } from '../node/make.js';
import { restrictRun } from '../node/rights.js';
import { sendCommand } from '../node/runs.js';
import { checkResult, synthesize } from './run-end.js';

const PAGE = 32;

/** Passes on what is to be passed on. @returns whether some of it is left, because this delivery is full */
export function passOnWork(delivery: Delivery): boolean {
  const work = delivery.ctx.table('work');
  for (let first = work.first(); first !== undefined; first = work.first()) {
    if (isFull(delivery)) return true;
    const [at, item] = first;
    // How far it has come is stored only when this delivery is full: what a cascade writes is bounded.
    let next: Progress = item;
    while (next !== undefined && !isFull(delivery)) {
      delivery.changes++;
      next = WORK[item.do](delivery, { ...item, ...next });
    }
    if (next === undefined) work.delete(at);
    else work.set(at, { ...item, ...next });
  }
  return false;
}

/** How far it has come; undefined when it is done. */
type Progress = Pick<WorkItem, 'stage' | 'after'> | undefined;

const WORK: Readonly<Record<WorkItem['do'], (delivery: Delivery, item: WorkItem) => Progress>> = {
  ended: passOnEnd,
  blocked: (delivery, { n }) => {
    endNode(delivery, n, { status: 'failed', code: 'blocked_failed' });
    return undefined;
  },
  pause: (delivery, item) =>
    eachLive(delivery, item, (row) => {
      if (row.run === 'live' || row.run === 'waiting')
        sendCommand(delivery, row, `pause.${delivery.ctx.now}`, { type: 'Pause' });
    }),
  resume: resumeBelow,
  restrict: (delivery, item) => eachLive(delivery, item, (row) => restrictRun(delivery, row)),
  again: (delivery, item) =>
    eachPair(delivery, 'dependents', item, (n) => retryDependent(delivery, delivery.nodes.change(n), item.n)),
};

function passOnEnd(delivery: Delivery, item: WorkItem): Progress {
  const row = delivery.nodes.at(item.n);
  if (row.type === 'ask') {
    askEnded(delivery, row.n);
    return undefined;
  }
  if (item.stage === 'children') {
    const left = eachPair(delivery, 'children', item, (n) => endBelow(delivery, row, n));
    if (left !== undefined) return left;
    passUpAll(delivery, row);
    return { stage: 'dependents', after: null };
  }
  if (item.stage === 'dependents') {
    return eachPair(delivery, 'dependents', item, (n) => release(delivery, n, row)) ?? { stage: 'parent', after: null };
  }
  childEnded(delivery, row);
  return undefined;
}

/** Ends what is below an ended node. A node that is complete has no open child, but may have open questions. */
function endBelow(delivery: Delivery, above: ReadNode, n: number): void {
  const row = delivery.nodes.at(n);
  if (row.type === 'ask') return endNode(delivery, n, { status: 'cancelled', code: 'asker_ended' });
  if (above.status === 'complete' || !endAlone(delivery, n, { status: 'cancelled', code: 'parent_ended' })) return;
  if (concernsOthers(delivery, n)) passOnLater(delivery, n);
  else childEnded(delivery, row);
}

/** Whether others than its parent learn of the end of a node. */
function concernsOthers(delivery: Delivery, n: number): boolean {
  return (['children', 'dependents', 'routes'] as const).some(
    (name) => delivery.ctx.table(name).range({ ...pairsOf(n), limit: 1 }).length > 0,
  );
}

/** Lets a dependent begin, or blocks it, as its edge says. */
function release(delivery: Delivery, n: number, need: ReadNode): void {
  const row = delivery.nodes.change(n);
  if (row.status !== 'pending' || row.unmet === 0) return;
  const edge = delivery.ctx.table('needs').get(pair(n, need.n));
  delivery.changes++;
  if (need.status !== 'complete' && edge?.on_failure !== 'continue') {
    endNode(delivery, n, { status: 'failed', code: 'blocked_failed' });
  } else takeStock(delivery, row); // counted anew: a need may have ended twice, tried again in between
}

/** Counts the end of a child at its parent, and lets the parent run again when it was the last one. */
function childEnded(delivery: Delivery, { parent: n }: ReadNode): void {
  if (n === null) return;
  const parent = delivery.nodes.change(n);
  parent.open--;
  if (isEnded(parent) || parent.open > 0) return;
  if (parent.type === 'serial') endSerial(delivery, parent);
  else if (parent.status === 'waiting_children' && parent.run === 'none') {
    parent.answering = false;
    synthesize(delivery, parent);
  }
}

function endSerial(delivery: Delivery, serial: NodeRow): void {
  const steps = childrenOf(delivery, serial.n);
  const results = steps.flatMap(({ result }) => (result === null ? [] : [result]));
  const last = results.at(-1);
  if (last === undefined || steps.some(({ status }) => status !== 'complete')) {
    return endNode(delivery, serial.n, { status: 'failed', code: 'child_failed' });
  }
  if (serial.serial === 'last') return endNode(delivery, serial.n, { status: 'complete', result: last });
  serial.launch++;
  checkResult(delivery, serial, { list: results }, null);
}

/** Puts what waits below a resumed node into the line again, and lets live sessions go on. */
function resumeBelow(delivery: Delivery, item: WorkItem): Progress {
  if (item.stage !== 'children') {
    return eachLive(delivery, item, (row) => {
      if (!isPaused(delivery, row)) sendCommand(delivery, row, `resume.${delivery.ctx.now}`, { type: 'Resume' });
    });
  }
  const held = delivery.ctx.table('held');
  const page = held.range({ ...(item.after === null ? {} : { after: item.after }), limit: PAGE });
  for (const [at] of page) {
    const row = delivery.nodes.at(Number(at));
    if (isPaused(delivery, row)) continue;
    held.delete(at);
    enterLine(delivery, delivery.nodes.change(row.n));
    delivery.changes++;
  }
  const last = page.at(-1);
  return last === undefined || page.length < PAGE
    ? { stage: 'parent', after: null }
    : { stage: 'children', after: last[0] };
}

/** Calls for each node with a run, of the node itself and below it. */
function eachLive(delivery: Delivery, { n, stage, after }: WorkItem, act: (row: NodeRow) => void): Progress {
  const page = delivery.ctx.table('live').range({ ...(after === null ? {} : { after }), limit: PAGE });
  for (const [at] of page) {
    const live = Number(at);
    if (live !== n && !isAbove(delivery.nodes, n, live)) continue;
    act(delivery.nodes.change(live));
    delivery.changes++;
  }
  const last = page.at(-1);
  return last === undefined || page.length < PAGE ? undefined : { stage, after: last[0] };
}

/** Calls for each second node of the pairs of a node, a page at a time. */
function eachPair(
  delivery: Delivery,
  table: 'children' | 'dependents',
  { n, stage, after }: WorkItem,
  act: (n: number) => void,
): Progress {
  const { from, before } = pairsOf(n);
  const page = delivery.ctx.table(table).range({ after: after ?? from, before, limit: PAGE });
  for (const [at] of page) act(secondOf(at));
  const last = page.at(-1);
  return last === undefined || page.length < PAGE ? undefined : { stage, after: last[0] };
}
