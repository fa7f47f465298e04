/**
 * The end of a run, and what becomes of its node: complete, waiting for its children, another attempt, or failed.
 */
import type { ChildNotice } from '@reprise/agent/contracts';
import type { Ref } from '@reprise/contracts';
import { type CallPlace, forgetPassed, key, startFor } from '@reprise/org/contracts';
import type { TreeCheckParams } from '../../contracts/effects.js';
import type { Draft, Given, NodeRow } from '../../contracts/index.js';
import { WRONG_RESULTS_MAX } from '../../contracts/names.js';
import { checkPlan } from '../../plans/plans.js';
import { goOnWithAnswers, releaseCalls } from '../ask/asker.js';
import { passUpCircles, returnUnanswered, tellWhileWaiting } from '../ask/route.js';
import { childrenOf, numbers } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { draftOf, dropDraft, setDraft } from '../delivery/drafts.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { countUse } from '../delivery/spending.js';
import { endNode, enterLine, leaveLine } from '../node/end-node.js';
import { giveBack, moveRun } from '../node/runs.js';

type Ended = Extract<ChildNotice['news'], { readonly kind: 'settled' }>;

export function runEnded(delivery: Delivery, row: NodeRow, ended: Ended): void {
  runUsed(delivery, row, ended);
  runIsOver(delivery, row);
  if (isEnded(row)) return;
  if (row.answering) return answeringEnded(delivery, row);
  returnUnanswered(delivery, row);
  decide(delivery, row, ended);
}

/** Counts what a run used that tells its end. */
export function runUsed(delivery: Delivery, row: NodeRow, { tally, stop }: Ended): void {
  const limit = stop.kind === 'LimitsExceeded' ? `limit/${stop.limit}` : '';
  countUse(delivery, row, tally, stop.kind === 'Failed' ? stop.code : limit);
}

/** Frees what a run had. */
export function runIsOver(delivery: Delivery, row: NodeRow): void {
  leaveLine(delivery, row); // it may have been in line to go on with its answers
  giveBack(delivery, row);
  moveRun(delivery, row, 'none');
  releaseCalls(delivery, row);
  forgetPassed(delivery.ctx, row.session);
}

/** A run that only answered decides nothing about its node; its children may have ended meanwhile. */
export function answeringEnded(delivery: Delivery, row: NodeRow): void {
  row.answering = false;
  returnUnanswered(delivery, row);
  if (row.status === 'waiting_children' && row.open === 0) synthesize(delivery, row);
  goOnWithAnswers(delivery, row);
  if (row.status === 'waiting_children' || row.status === 'waiting_input') tellWhileWaiting(delivery, row);
}

function decide(delivery: Delivery, row: NodeRow, { stop, output_ref }: Ended): void {
  const given = draftOf(delivery, row.n);
  if (given !== null) return takeDraft(delivery, row, given);
  if (stop.kind !== 'Completed') return failAttempt(delivery, row, codeOf(row, stop));
  if (row.since === 0 && hasOpenAsk(delivery, row)) {
    row.status = 'waiting_input';
    passUpCircles(delivery, row.n);
    if (row.status === 'waiting_input') tellWhileWaiting(delivery, row);
    return;
  }
  if (output_ref === null) return failAttempt(delivery, row, 'no_result');
  takeDraft(delivery, row, { given: { ref: output_ref, kind: 'llm_output', bytes: null }, checked: false });
}

/** Acts on what a run gave: waits for children, checks it, or ends the node with it. */
function takeDraft(delivery: Delivery, row: NodeRow, draft: Draft): void {
  if (row.since > 0) {
    setDraft(delivery, row.n, draft);
    return waitForChildren(delivery, row);
  }
  if (draft.given === null) {
    dropDraft(delivery, row.n);
    return failAttempt(delivery, row, 'no_result');
  }
  if (draft.checked) return endNode(delivery, row.n, { status: 'complete', result: draft.given });
  checkResult(delivery, row, sourceOf(draft.given), draft.given.summary_ref ?? null);
}

export function sourceOf({ ref, kind }: Given): TreeCheckParams['from'] {
  if (kind === 'llm_output') return { output_ref: ref };
  return kind === 'text' ? { text_ref: ref } : { value_ref: ref };
}

/** Has a result checked after the run that gave it. */
export function checkResult(
  delivery: Delivery,
  row: NodeRow,
  from: TreeCheckParams['from'],
  summary_ref: TreeCheckParams['summary_ref'],
): void {
  moveRun(delivery, row, 'checking');
  row.plan = startCheck(delivery, row, { from, summary_ref }, null);
}

/** Starts a check of what a node gave. @param call the call that waits for the verdict @returns the plan */
export function startCheck(
  { ctx }: Delivery,
  { n, launch, returns, schema_ref }: ReadNode,
  what: Pick<TreeCheckParams, 'from' | 'summary_ref'>,
  call: CallPlace | null,
): number {
  const check = { returns, schema_ref, ...what, tree: ctx.address[1] };
  const intent = { plan: checkPlan, input: { n, launch, call, check } };
  return startFor(ctx, ctx.table('plans'), intent, { of: 'check', n, launch, call });
}

/** Lets a node wait until its children have ended; they may have. */
export function waitForChildren(delivery: Delivery, row: NodeRow): void {
  row.status = 'waiting_children';
  if (row.open === 0) synthesize(delivery, row);
  else tellWhileWaiting(delivery, row);
}

/** Runs a node again with the outcomes of its children, when one of them is complete. */
export function synthesize(delivery: Delivery, row: NodeRow): void {
  if (!childrenOf(delivery, row.n).some(({ status }) => status === 'complete')) {
    return endNode(delivery, row.n, { status: 'failed', code: 'all_children_failed' });
  }
  row.gen++;
  row.since = 0;
  row.phase = 'synthesis';
  row.attempt = 1;
  row.wrong = 0;
  row.status = 'pending';
  enterLine(delivery, row);
}

/** A failed attempt: with children the node waits for them, else it is tried again, or has failed. */
export function failAttempt(delivery: Delivery, row: NodeRow, code: string): void {
  if (row.since > 0) {
    row.unfinished = code;
    return waitForChildren(delivery, row);
  }
  if (code === 'max_cost' || row.attempt >= delivery.state.limits.attempts) {
    return endNode(delivery, row.n, { status: 'failed', code });
  }
  row.attempt++;
  row.unfinished = code;
  row.wrong = 0;
  row.phase = row.gen > 0 ? 'synthesis' : 'work';
  row.status = 'pending';
  delivery.changes++;
  enterLine(delivery, row);
}

/** Takes the wrong result of a last answer: the node is told what is wrong, up to three times. The table keeps the last problems. */
export function repair(delivery: Delivery, row: NodeRow, text_ref: Ref): void {
  delivery.ctx.table('told').set(`${key(row.n)}.p`, { text_ref, by: null });
  dropDraft(delivery, row.n);
  row.wrong++;
  if (row.wrong >= WRONG_RESULTS_MAX) return failAttempt(delivery, row, 'validation_error');
  row.phase = 'repair';
  row.status = 'pending';
  delivery.changes++;
  enterLine(delivery, row);
}

/** The code of a run that gave no result. */
function codeOf(row: NodeRow, stop: Ended['stop']): string {
  if (row.wrong >= WRONG_RESULTS_MAX) return 'validation_error';
  if (stop.kind === 'LimitsExceeded') {
    if (stop.limit === 'max_wall_ms') return 'timeout';
    return stop.limit === 'max_tokens' || stop.limit === 'max_micro_money' ? 'max_cost' : `limit/${stop.limit}`;
  }
  return stop.kind === 'Failed' ? stop.code.slice(0, 96) : 'cancelled';
}

function hasOpenAsk(delivery: Delivery, { n }: NodeRow): boolean {
  return numbers(delivery, 'children', n).some((child) => {
    const row = delivery.nodes.at(child);
    return row.type === 'ask' && !isEnded(row);
  });
}
