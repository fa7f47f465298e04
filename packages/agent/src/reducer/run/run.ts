/** A run from its start to its end. */
import type { Ref } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { Lifecycle, StopReason } from '../../contracts/lifecycle.js';
import type { NextMove, QueuedInput, SessionState } from '../../contracts/state.js';
import { allowanceOf, dropInput, runPaid, tallyOf } from '../account/allowances.js';
import { NO_AMOUNTS } from '../account/budget.js';
import type { Reached } from '../account/limits.js';
import { stopChildren } from '../call/children.js';
import { clearTimers, goOn, INPUT_TIMER, setWallTimer, startWaiting } from '../call/waiting.js';
import { compactLater, compactSoon } from '../model/compact.js';
import { dropSteers, inputSaid } from '../transcript/ends.js';
import { askedBy, moveTo, place, sayToModel, tellMoved, tellOwner, turnAgain } from '../transcript/say.js';
import { CONTEXT_LIMIT, nextStart } from '../transcript/window.js';
import type { Next } from './moves.js';
import { dequeue } from './queue.js';

const NOTHING_USED = { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 };

/** Starts a run with an input. */
export function startRun(draft: SessionState, input: QueuedInput, ctx: ReducerContext): Next {
  // The input was announced as a turn of a run that has ended since, so its announced run number is taken.
  const number = input.joins ? draft.runs++ : input.run;
  if (input.joins) tellMoved(input, number, ctx);
  begin(draft, { ...input, number }, ctx);
  draft.asked = askedBy(input);
  sayToModel(draft, originOf(input), input, ctx);
  inputSaid(draft, input, ctx);
  return { do: 'step' };
}

/**
 * Starts a run that answers the input of the last run anew. The model goes on with the conversation as it stands: the input and
 * what the ended run did stay in it.
 */
export function startAgain(draft: SessionState, number: number, ctx: ReducerContext): Next {
  const { asked } = draft;
  if (asked === null) return undefined;
  begin(draft, { number, cause: asked.cause }, ctx);
  turnAgain(draft, asked.command_id, ctx);
  return { do: 'step' };
}

/** A run begins: with nothing used, and the definition of the session. */
function begin(
  draft: SessionState,
  { number, cause, allowance }: Pick<QueuedInput, 'cause' | 'allowance'> & { readonly number: number },
  ctx: ReducerContext,
): void {
  draft.run = {
    number,
    cause,
    def_ref: draft.def_ref,
    config: draft.config,
    config_rev: draft.config_rev,
    turns: 0,
    tool_rounds: 0,
    tally: { ...NOTHING_USED },
    step_plan: null,
    compacting: null,
    squeezed: false,
    children_tally: { ...NOTHING_USED },
    allocated: { ...NO_AMOUNTS },
    allowance: allowanceOf(allowance, ctx),
    reserve: null,
    unaccounted: { ...NO_AMOUNTS },
    abandoned: [],
    started_at: ctx.now,
    waited_ms: 0,
    parked_since: null,
    repairs: 0,
    retries: 0,
    recent: [],
    loops: 0,
    context: null,
    budget_pressure: 0,
    output_ref: null,
    value_ref: null,
    issue_ref: null,
    truncated: false,
  };
  draft.session_epoch++;
  moveTo(draft, 'Running', ctx);
  if (draft.tell_owner === true) tellOwner(draft, { kind: 'running' }, ctx);
  setWallTimer(draft, ctx);
}

/** An input becomes the next turn of a run that waits for it. */
export function takeTurn(draft: SessionState, input: QueuedInput, ctx: ReducerContext): Next {
  const run = draft.run?.number;
  if (run !== undefined && run !== input.run) tellMoved(input, run, ctx);
  dropInput(draft, input.allowance, ctx);
  goOn(draft, ctx);
  draft.asked = askedBy(input);
  sayToModel(draft, originOf(input), input, ctx);
  inputSaid(draft, input, ctx);
  return { do: 'step' };
}

function originOf({ kind, cause }: QueuedInput): 'input' | 'follow_up' | 'parent' {
  return cause.kind === 'parent' ? 'parent' : kind;
}

/**
 * Handles an answer without calls: waiting steers extend the run by a turn, an answer that does not fit `returns` is
 * requested again once, and otherwise the turn ends.
 */
export function finishTurn(draft: SessionState, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  if (draft.lifecycle === 'Paused') return hold(draft, 'answer');
  if (draft.steers.length > 0) return { do: 'step' };
  if (run.issue_ref !== null) return askAgain(draft, run.issue_ref, ctx);
  if (run.config.after_answer === 'complete') return { do: 'end', stop: completed(draft) };
  return { do: 'listen' };
}

/**
 * Starts the next turn with the waiting steers or the next input; without either, the run stays open for the time that
 * its definition states.
 */
export function listen(draft: SessionState, given: number | null | undefined, ctx: ReducerContext): Next {
  const after = draft.run?.config.after_answer ?? 'complete';
  const until = given ?? (after === 'complete' || after.wait_ms === null ? null : ctx.now + after.wait_ms);
  if (draft.lifecycle === 'Cancelling') startWaiting(draft, 'input', ctx, until); // only a turn was cancelled
  if (draft.steers.length > 0) return answerSteers(draft, ctx);
  const input = draft.queue_suspended ? undefined : dequeue(draft, ctx);
  if (input !== undefined) return { do: 'turn', input };
  startWaiting(draft, 'input', ctx, until);
  if (until !== null) ctx.timer(INPUT_TIMER, until);
  return undefined;
}

function answerSteers(draft: SessionState, ctx: ReducerContext): Next {
  goOn(draft, ctx);
  return { do: 'step' };
}

/** The stop reason of a run that gave its answer. */
export function completed({ run }: SessionState): StopReason {
  return { kind: 'Completed', ...(run?.truncated === true ? { warning: 'truncated' as const } : {}) };
}

function askAgain(draft: SessionState, issue: Ref, ctx: ReducerContext): Next {
  const { run } = draft;
  const repair = run?.config.repair_ref ?? null;
  if (run === null || repair === null || run.repairs > 0) {
    const stop: StopReason = { kind: 'Failed', code: 'validation_error/returns', retryable: false, stage: 'returns' };
    return { do: 'end', stop };
  }
  run.repairs++;
  run.issue_ref = null;
  const parts = [repair, issue].map((text_ref) => ({ kind: 'text' as const, text_ref }));
  sayToModel(draft, 'repair', { parts }, ctx);
  return { do: 'step' };
}

/** Handles a limit that forbids the next move: the run ends, or waits for a decision. */
export function meetLimit(draft: SessionState, reached: Reached, next: NextMove, ctx: ReducerContext): Next {
  const { limit } = reached;
  ctx.record('aos.agent/LimitReached@1', { ...place(draft), ...reached });
  if (draft.run?.config.limits.on_limit !== 'pause_and_ask')
    return { do: 'end', stop: { kind: 'LimitsExceeded', limit } };
  startWaiting(draft, 'limit', ctx);
  return hold(draft, next);
}

/**
 * Handles a step that a model has refused as longer than its window: the session compacts and tries again, once. When
 * that does not help, the run ends or waits for a decision, since another model may have a larger window.
 */
export function meetContextLimit(draft: SessionState, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  const room = run.config.compaction !== null && nextStart(draft, 1, 'context_limit') !== undefined;
  if (room && !run.squeezed) {
    run.squeezed = true;
    compactSoon(draft, 'context_limit');
    return { do: 'step' };
  }
  run.squeezed = false;
  const stop = { kind: 'Failed', code: CONTEXT_LIMIT, retryable: false, stage: 'llm_step' } as const;
  if (run.config.limits.on_limit !== 'pause_and_ask') return { do: 'end', stop };
  startWaiting(draft, 'limit', ctx);
  return hold(draft, 'step');
}

/** Suspends the run and remembers its next move. */
function hold(draft: SessionState, next: NextMove): Next {
  draft.suspended = next;
  return undefined;
}

/** Ends the run. Waiting inputs are taken up when it completed, and otherwise wait for `Resume`. */
export function endRun(draft: SessionState, stop: StopReason, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null) return undefined;
  const { output_ref, value_ref, tally } = run;
  // A stopping run has told its children to stop; a completed run leaves its children to the next run.
  if (stop.kind !== 'Completed' && draft.stopping === null) stopChildren(draft, ctx);
  compactLater(draft, run, ctx);
  dropSteers(draft, ctx);
  draft.last = { run: run.number, stop, output_ref, value_ref, tally: { ...tally } };
  // Results of work that is still under way are stale from here on.
  draft.step_epoch++;
  draft.session_epoch++;
  Object.assign(draft, { calls: [], suspended: null, waiting: null, stopping: null });
  clearTimers(ctx);
  moveTo(draft, lifecycleAfter(stop), ctx, {
    stop,
    usage: { ...tally },
    ...(output_ref === null ? {} : { output_ref }),
    ...(value_ref === null ? {} : { value_ref }),
  });
  if (stop.kind !== 'Completed') draft.queue_suspended = draft.queued > 0;
  const more = draft.queued > 0 && !draft.queue_suspended;
  const settled = { kind: 'settled', stop, output_ref, value_ref, tally: tallyOf(run), more };
  tellOwner(draft, { ...settled, ...runPaid(run, ctx) }, ctx);
  draft.run = null;
  return { do: 'next' };
}

function lifecycleAfter(stop: StopReason): Lifecycle {
  if (stop.kind === 'Completed') return 'Completed';
  return stop.kind === 'Cancelled' ? 'Cancelled' : 'Failed';
}

/** Starts the next run when the session is idle and an input may start. */
export function takeUpNext(draft: SessionState, ctx: ReducerContext): Next {
  if (draft.run !== null || draft.queue_suspended || draft.status === 'Closed') return undefined;
  const input = dequeue(draft, ctx);
  return input === undefined ? undefined : { do: 'start', input };
}
