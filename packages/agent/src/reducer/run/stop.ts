/**
 * Stops a run. Running effects are cancelled and have a grace period to report their outcome; calls that had not begun
 * are settled. When all work has ended, the results enter the transcript and the run ends. So no call is ever without a
 * result, and every reported outcome is recorded.
 */
import type { ReducerContext } from '@reprise/kernel/define';
import type { SessionState } from '../../contracts/state.js';
import { callEnded } from '../account/budget.js';
import { waitTimer } from '../call/child-waits.js';
import { stopChildren } from '../call/children.js';
import { clearTimers, INPUT_TIMER, park, STOP_TIMER } from '../call/waiting.js';
import { compactLater } from '../model/compact.js';
import { applied } from '../transcript/ends.js';
import { appendResults, settleCall } from '../transcript/results.js';
import { moveTo } from '../transcript/say.js';
import type { Next } from './moves.js';

/** How much longer than the grace the kernel's own cancellation may take. */
const WATCHDOG_MS = 1_000;

/** Begins to stop the run. */
export function stopRun(
  draft: SessionState,
  stopping: NonNullable<SessionState['stopping']>,
  ctx: ReducerContext,
): Next {
  const { run } = draft;
  if (run === null) return undefined;
  const graceMs = run.config.cancel_grace_ms;
  Object.assign(draft, { stopping, suspended: null, waiting: null });
  moveTo(draft, 'Cancelling', ctx);
  park(draft, ctx);
  ctx.clearTimer(INPUT_TIMER);
  if (run.step_plan !== null) ctx.stop(run.step_plan, { graceMs });
  for (const call of draft.calls) {
    if (call.phase === 'settled') continue;
    if (call.phase === 'children') ctx.clearTimer(waitTimer(draft, call));
    if (call.plan !== null) ctx.stop(call.plan, { graceMs });
    // The owner may have acted on a call that it has not answered; one that it parked waits for another party.
    else
      settleCall(draft, call, { non_execution: { kind: call.phase === 'running' ? 'interrupted' : 'cancelled' } }, ctx);
  }
  if (stopping.stop !== null) stopChildren(draft, ctx);
  ctx.timer(STOP_TIMER, ctx.now + graceMs + WATCHDOG_MS);
  return { do: 'settle' };
}

/** Ends a stopping run, once none of its work is under way. */
export function endWhenQuiet(draft: SessionState, ctx: ReducerContext): Next {
  const { run, stopping } = draft;
  if (run === null || stopping === null || run.step_plan !== null) return undefined;
  if (draft.calls.some(({ phase }) => phase !== 'settled')) return undefined;
  appendResults(draft, ctx);
  for (const command of stopping.commands) applied(draft, command, ctx);
  if (stopping.stop !== null) return { do: 'end', stop: stopping.stop };
  compactLater(draft, run, ctx);
  draft.stopping = null;
  draft.step_epoch++;
  clearTimers(ctx);
  return { do: 'listen' };
}

/** The grace is over: the run no longer waits for unanswered work. */
export function stopAnyhow(draft: SessionState, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null || draft.stopping === null) return undefined;
  if (run.step_plan !== null) {
    ctx.cancel(run.step_plan);
    callEnded(draft, run, { usage: undefined, charged: true }, ctx);
  }
  run.step_plan = null;
  for (const call of draft.calls) {
    if (call.phase === 'settled') continue;
    if (call.plan !== null) ctx.cancel(call.plan);
    settleCall(draft, call, { non_execution: { kind: 'outcome_unknown' } }, ctx);
  }
  return { do: 'settle' };
}
