/** When a run waits, what it waits for, and how much of its time counts. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { WaitsFor } from '../../contracts/lifecycle.js';
import type { SessionState } from '../../contracts/state.js';
import type { Next } from '../run/moves.js';
import { moveTo, tellOwner } from '../transcript/say.js';

/** The kernel timer for `max_wall_ms`. */
export const WALL_TIMER = 'wall';
/** The kernel timer that ends the wait for input. */
export const INPUT_TIMER = 'input';
/** The kernel timer that ends the grace of a stopping run. */
export const STOP_TIMER = 'stop';

/** Clears the timers of an ended run. */
export function clearTimers(ctx: ReducerContext): void {
  for (const timer of [WALL_TIMER, INPUT_TIMER, STOP_TIMER]) ctx.clearTimer(timer);
}

/** Lets the run wait. Time spent waiting for outside input does not count; waiting for children counts as work. */
export function startWaiting(
  draft: SessionState,
  what: WaitsFor,
  ctx: ReducerContext,
  until: number | null = null,
): void {
  if (draft.lifecycle === 'WaitingInput' && draft.waiting?.for === what) return;
  if (draft.lifecycle === 'WaitingInput') goOn(draft, ctx);
  draft.waiting = { for: what, until };
  if (what !== 'children') park(draft, ctx);
  if (draft.lifecycle === 'Paused') return; // the wait becomes visible when the run is resumed
  moveTo(draft, 'WaitingInput', ctx, { waiting: { for: what, until } });
  tellOwner(draft, { kind: 'waiting', for: what }, ctx);
}

/** Ends the wait: the run works again. */
export function goOn(draft: SessionState, ctx: ReducerContext): void {
  if (draft.waiting === null) return;
  draft.waiting = null;
  ctx.clearTimer(INPUT_TIMER);
  if (draft.lifecycle !== 'WaitingInput') return;
  unpark(draft, ctx);
  moveTo(draft, 'Running', ctx);
  tellOwner(draft, { kind: 'running' }, ctx);
}

/** Lets the next step wait until children return enough budget. */
export function waitBehindChildren(draft: SessionState, ctx: ReducerContext): void {
  draft.suspended = 'step';
  startWaiting(draft, 'children', ctx);
}

/** Tries a step again that waits for budget from children. */
export function goOnBehindChildren(draft: SessionState, ctx: ReducerContext): Next {
  const waits = draft.lifecycle === 'WaitingInput' && draft.waiting?.for === 'children' && draft.suspended === 'step';
  if (!waits || draft.stopping !== null) return undefined;
  draft.suspended = null;
  goOn(draft, ctx);
  return { do: 'step' };
}

/** What a run is said to wait for when its calls wait for several things. */
const PRECEDENCE = ['approval', 'ask', 'owner', 'children'] as const;

/** What the calls of the current step wait for; undefined while one of them runs. */
function waitOfCalls(draft: SessionState): WaitsFor | undefined {
  const open = draft.calls.filter(({ phase }) => phase !== 'settled' && phase !== 'queued');
  if (open.length === 0 || open.some(({ phase }) => phase === 'running')) return undefined;
  const phases = open.map(({ phase }) => phase);
  return PRECEDENCE.find((phase) => phases.includes(phase)) ?? 'children';
}

/** Updates the lifecycle to the phases of the step's calls. */
export function followCalls(draft: SessionState, ctx: ReducerContext): void {
  const waits = waitOfCalls(draft);
  if (waits !== undefined) return startWaiting(draft, waits, ctx);
  const forCalls = draft.waiting !== null && draft.waiting.for !== 'input' && draft.waiting.for !== 'limit';
  if (forCalls) goOn(draft, ctx);
}

/** Stops counting the run's time. */
export function park(draft: SessionState, ctx: ReducerContext): void {
  if (draft.run === null || draft.run.parked_since !== null) return;
  draft.run.parked_since = ctx.now;
  ctx.clearTimer(WALL_TIMER);
}

/** Counts the run's time again. */
export function unpark(draft: SessionState, ctx: ReducerContext): void {
  const { run } = draft;
  if (run === null || run.parked_since === null) return;
  run.waited_ms += ctx.now - run.parked_since;
  run.parked_since = null;
  setWallTimer(draft, ctx);
}

/** Sets the timer that ends the run at its time limit. */
export function setWallTimer(draft: SessionState, ctx: ReducerContext): void {
  const { run } = draft;
  const wall = run?.config.limits.max_wall_ms;
  if (run === null || wall === undefined || run.parked_since !== null) return ctx.clearTimer(WALL_TIMER);
  ctx.timer(WALL_TIMER, run.started_at + run.waited_ms + wall);
}
