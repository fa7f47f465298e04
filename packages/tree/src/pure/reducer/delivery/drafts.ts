/**
 * What runs gave that have not ended: their drafts, in a table of their own, so that giving a result does not store the
 * row of its node again; and the one timer that ends runs which continue after their result.
 *
 * Invariants
 * D1  While a run that gave its result is under way, the timer is set to the time of the first of them or earlier.
 * D2  While no run is under way, the timer is not set.
 */
import { allRows } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import { AFTER_RESULT_MS, CHANGES_AT_ONCE, type Draft, type NodeRow, type StoredDraft } from '../../contracts/index.js';
import type { Delivery } from './delivery.js';

/** The timer of runs that continue after they gave their result. */
export const AFTER_TIMER = 'after';

export function draftOf(delivery: Delivery, n: number): StoredDraft | null {
  return delivery.ctx.table('drafts').get(key(n)) ?? null;
}

/** Stores a draft that waits for children, or for its check. */
export function setDraft(delivery: Delivery, n: number, { given, checked }: Draft): void {
  delivery.ctx.table('drafts').set(key(n), { given, checked, due: null });
}

/** Stores a draft whose run is to end within its time. */
export function setLastDraft(delivery: Delivery, n: number, draft: Draft): void {
  const { state, ctx } = delivery;
  const due = ctx.now + AFTER_RESULT_MS;
  delivery.ctx.table('drafts').set(key(n), { ...draft, due });
  if (state.overdue === null) setTimer(delivery, due); // D1: a later one has its time when the timer fires
}

export function dropDraft(delivery: Delivery, n: number): void {
  const drafts = delivery.ctx.table('drafts');
  if (drafts.size > 0 && drafts.get(key(n)) !== undefined) drafts.delete(key(n));
}

/** A run is over: behind the last one there is nothing to wait for (D2). */
export function runsEnded(delivery: Delivery): void {
  if (delivery.state.overdue !== null && delivery.ctx.table('live').size === 0) setTimer(delivery, null);
}

/** Calls for each run whose time is over, and sets the timer for the next one. */
export function endOverdue(delivery: Delivery, end: (row: NodeRow) => void): void {
  const { ctx } = delivery;
  const drafts = delivery.ctx.table('drafts');
  let next: number | null = null;
  let ended = 0;
  for (const [at] of allRows(delivery.ctx.table('live'))) {
    const draft = drafts.get(at);
    if (draft === undefined || draft.due === null) continue;
    if (draft.due > ctx.now || ended === CHANGES_AT_ONCE) next = Math.min(next ?? draft.due, draft.due);
    else {
      drafts.set(at, { ...draft, due: null });
      end(delivery.nodes.change(Number(at)));
      ended++;
    }
  }
  setTimer(delivery, next);
}

function setTimer({ state, ctx }: Delivery, due: number | null): void {
  state.overdue = due;
  if (due === null) ctx.clearTimer(AFTER_TIMER);
  else ctx.timer(AFTER_TIMER, due);
}
