/** The verdict on a result: it counts, or the node is told what is wrong. */

import type { Ref } from '@reprise/contracts';
import type { EventValue } from '@reprise/kernel/define';
import type { CallPlace } from '@reprise/org/contracts';
import { type Given, type NodeRow, type treeNews, WRONG_RESULTS_MAX } from '../../contracts/index.js';
import { answerCall } from '../ask/ask-answers.js';
import type { Delivery } from '../delivery/delivery.js';
import { dropDraft, endOverdue, setDraft, setLastDraft } from '../delivery/drafts.js';
import { isEnded } from '../delivery/nodes.js';
import { endNode } from '../node/end-node.js';
import { moveRun, sendCommand } from '../node/runs.js';
import { failAttempt, repair, sourceOf, startCheck, waitForChildren } from './run-end.js';

type Checked = EventValue<typeof treeNews, 'tree/Checked@1'>;

export function resultChecked(delivery: Delivery, checked: Checked): void {
  const row = delivery.nodes.change(checked.n);
  if (checked.call !== null) return callChecked(delivery, row, checked, checked.call);
  if (row.run !== 'checking' || row.launch !== checked.launch || isEnded(row)) {
    return delivery.ctx.record('tree/Late@1', { n: row.n, what: 'tree/Checked@1', launch: checked.launch });
  }
  moveRun(delivery, row, 'none');
  if (row.open > 0 || (row.since > 0 && row.type !== 'serial')) return hasChildrenMeanwhile(delivery, row, checked);
  if (checked.given !== null) endNode(delivery, row.n, { status: 'complete', result: checked.given });
  else if (row.type === 'serial')
    endNode(delivery, row.n, { status: 'failed', code: checked.code ?? 'validation_error' });
  else if (checked.problems_ref !== null) repair(delivery, row, checked.problems_ref);
  else {
    dropDraft(delivery, row.n);
    failAttempt(delivery, row, checked.code ?? 'no_result');
  }
}

/** Children were added, or are tried again, while the result was checked: it is a draft, and the node waits for them. */
function hasChildrenMeanwhile(delivery: Delivery, row: NodeRow, { given }: Checked): void {
  if (row.type === 'serial') return;
  if (given !== null) setDraft(delivery, row.n, { given, checked: true });
  waitForChildren(delivery, row);
}

/** The verdict on what a call of `complete` gave. */
function callChecked(delivery: Delivery, row: NodeRow, checked: Checked, call: CallPlace): void {
  const isCurrent = row.launch === checked.launch && (row.run === 'live' || row.run === 'waiting') && !isEnded(row);
  if (!isCurrent) return answerCall(delivery, call, { value: { code: 'stale_launch' }, is_error: true });
  if (checked.given !== null) return resultGiven(delivery, row, call, checked.given);
  wrongResult(delivery, row, call, checked.problems_ref, checked.code);
}

/** Has what a call of `complete` gave checked; the call is answered with the verdict. */
export function checkGiven(delivery: Delivery, row: NodeRow, call: CallPlace, given: Given): void {
  startCheck(delivery, row, { from: sourceOf(given), summary_ref: given.summary_ref ?? null }, call);
}

/** Takes a result of the right type. It counts when the run ends, which it has a minute for. */
export function resultGiven(delivery: Delivery, row: NodeRow, call: CallPlace, given: Given): void {
  setLastDraft(delivery, row.n, { given, checked: true });
  answerCall(delivery, call, { value: { accepted: true, phase: row.since > 0 ? 'waiting_children' : 'final' } });
}

/** Tells a node what is wrong with its result; the third time its attempt has failed. */
export function wrongResult(
  delivery: Delivery,
  row: NodeRow,
  call: CallPlace,
  problems: Ref | null,
  code: string | null = null,
): void {
  row.wrong++;
  const refs = problems === null ? [] : [{ label: 'problems', ref: problems }];
  const left = Math.max(0, WRONG_RESULTS_MAX - row.wrong);
  const why = problems === null ? { problem: code ?? `A result of the type ${row.returns} is required.` } : {};
  answerCall(delivery, call, { value: { accepted: false, ...why, tries_left: left }, refs, is_error: true });
  if (left === 0) sendCommand(delivery, row, `wrong.${row.launch}`, { type: 'Cancel', scope: 'run' });
}

/** Runs that continue long after they gave their result are ended: the result stands. */
export function endAfterResult(delivery: Delivery): void {
  endOverdue(delivery, (row) => {
    if (row.run !== 'live' && row.run !== 'waiting') return;
    sendCommand(delivery, row, `after.${row.launch}`, { type: 'Cancel', scope: 'run' });
  });
}
