/** Makes a session's moves, one after the other, until the session has to wait for an event. */
import type { ReducerContext } from '@reprise/kernel/define';
import type { SessionState } from '../../contracts/state.js';
import { beginBatch, schedule, startCalls } from '../call/calls.js';
import { startStep } from '../model/step.js';
import type { Move, Next } from './moves.js';
import {
  endRun,
  finishTurn,
  listen,
  meetContextLimit,
  meetLimit,
  startAgain,
  startRun,
  takeTurn,
  takeUpNext,
} from './run.js';
import { endWhenQuiet, stopAnyhow, stopRun } from './stop.js';

type Makers = {
  readonly [D in Move['do']]: (draft: SessionState, move: Extract<Move, { do: D }>, ctx: ReducerContext) => Next;
};

const MAKERS: Makers = {
  start: (draft, { input }, ctx) => startRun(draft, input, ctx),
  again: (draft, { number }, ctx) => startAgain(draft, number, ctx),
  turn: (draft, { input }, ctx) => takeTurn(draft, input, ctx),
  step: (draft, { refreshed }, ctx) => startStep(draft, refreshed === true, ctx),
  calls: (draft, { calls }, ctx) => startCalls(draft, calls, ctx),
  batch: (draft) => beginBatch(draft),
  schedule: (draft, _move, ctx) => schedule(draft, ctx),
  finish: (draft, _move, ctx) => finishTurn(draft, ctx),
  limit: (draft, { reached, next }, ctx) => meetLimit(draft, reached, next, ctx),
  overlong: (draft, _move, ctx) => meetContextLimit(draft, ctx),
  listen: (draft, { until }, ctx) => listen(draft, until, ctx),
  stop: (draft, { stopping, at_once }, ctx) => {
    const next = stopRun(draft, stopping, ctx);
    return at_once === true ? { do: 'give_up' } : next;
  },
  give_up: (draft, _move, ctx) => stopAnyhow(draft, ctx),
  settle: (draft, _move, ctx) => endWhenQuiet(draft, ctx),
  end: (draft, { stop }, ctx) => endRun(draft, stop, ctx),
  next: (draft, _move, ctx) => takeUpNext(draft, ctx),
};

/** Makes a move and the moves that follow from it. */
export function drive(draft: SessionState, first: Next, ctx: ReducerContext): void {
  for (let move = first; move !== undefined; ) move = make(draft, move, ctx);
}

function make<D extends Move['do']>(draft: SessionState, move: Extract<Move, { do: D }>, ctx: ReducerContext): Next {
  return (MAKERS[move.do as D] as Makers[D])(draft, move, ctx);
}
