/** When a run waits, and for what; and how much of its time counts. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { WaitsFor } from '../contracts/lifecycle.js';
import type { SessionState } from '../contracts/state.js';
import type { Next } from './moves.js';
import { moveTo, tellOwner } from './say.js';

/** The kernel timer behind `max_wall_ms`. */
export const WALL_TIMER = 'wall';
/** The kernel timer behind the end of waiting for input. */
export const INPUT_TIMER = 'input';
/** The kernel timer after which a run that stops is over, whatever has not answered. */
export const STOP_TIMER = 'stop';

/** Clears the timers of a run that is over. */
export function clearTimers(ctx: ReducerContext): void {
  for (const timer of [WALL_TIMER, INPUT_TIMER, STOP_TIMER]) ctx.clearTimer(timer);
}

/** Lets the run wait. Time in which it waits for somebody outside does not count; children are its own work. */
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
  if (draft.lifecycle === 'Paused') return; // it shows when the run is resumed
  moveTo(draft, 'WaitingInput', ctx, { waiting: { for: what, until } });
  tellOwner(draft, { kind: 'waiting', for: what }, ctx);
}

/** The wait is over: the run works again. */
export function goOn(draft: SessionState, ctx: ReducerContext): void {
  if (draft.waiting === null) return;
  draft.waiting = null;
  ctx.clearTimer(INPUT_TIMER);
  if (draft.lifecycle !== 'WaitingInput') return;
  unpark(draft, ctx);
  moveTo(draft, 'Running', ctx);
  tellOwner(draft, { kind: 'running' }, ctx);
}

/** The next step waits until children give back what it needs. */
export function waitBehindChildren(draft: SessionState, ctx: ReducerContext): void {
  draft.suspended = 'step';
  startWaiting(draft, 'children', ctx);
}

/** A step that waits until children give something back is tried again. */
export function goOnBehindChildren(draft: SessionState, ctx: ReducerContext): Next {
  const waits = draft.lifecycle === 'WaitingInput' && draft.waiting?.for === 'children' && draft.suspended === 'step';
  if (!waits || draft.stopping !== null) return undefined;
  draft.suspended = null;
  goOn(draft, ctx);
  return { do: 'step' };
}

/** What the calls of the step at hand wait for; undefined while one of them works. */
export function waitOfCalls(draft: SessionState): WaitsFor | undefined {
  const open = draft.calls.filter(({ phase }) => phase !== 'settled' && phase !== 'queued');
  if (open.length === 0 || open.some(({ phase }) => phase === 'running')) return undefined;
  const phases = open.map(({ phase }) => phase);
  return phases.includes('approval') ? 'approval' : phases.includes('ask') ? 'ask' : 'children';
}

/** Brings the lifecycle in line with what the calls of the step do. */
export function followCalls(draft: SessionState, ctx: ReducerContext): void {
  const waits = waitOfCalls(draft);
  if (waits !== undefined) return startWaiting(draft, waits, ctx);
  const forCalls = draft.waiting !== null && draft.waiting.for !== 'input' && draft.waiting.for !== 'limit';
  if (forCalls) goOn(draft, ctx);
}

/** From now on the run's time does not count. */
export function park(draft: SessionState, ctx: ReducerContext): void {
  if (draft.run === null || draft.run.parked_since !== null) return;
  draft.run.parked_since = ctx.now;
  ctx.clearTimer(WALL_TIMER);
}

/** From now on the run's time counts again. */
export function unpark(draft: SessionState, ctx: ReducerContext): void {
  const { run } = draft;
  if (run === null || run.parked_since === null) return;
  run.waited_ms += ctx.now - run.parked_since;
  run.parked_since = null;
  setWallTimer(draft, ctx);
}

/** Sets the timer that ends a run whose time is over. */
export function setWallTimer(draft: SessionState, ctx: ReducerContext): void {
  const { run } = draft;
  const wall = run?.config.limits.max_wall_ms;
  if (run === null || wall === undefined || run.parked_since !== null) return ctx.clearTimer(WALL_TIMER);
  ctx.timer(WALL_TIMER, run.started_at + run.waited_ms + wall);
}
