/** The open calls of programs: the table `turn_calls`, by the id under which the owner knows a call. */
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type { TurnCall } from '../contracts/owner.js';
import type { PendingCall } from '../contracts/state.js';

/** The table of open calls of programs. */
export function turnCallsOf(ctx: ReducerContext): Table<TurnCall> {
  return ctx.table<TurnCall>('turn_calls');
}

/** The open calls of all programs, by their ids. */
export function openTurnCalls(ctx: ReducerContext): readonly (readonly [string, TurnCall])[] {
  const calls = turnCallsOf(ctx);
  const open: [string, TurnCall][] = [];
  for (let page = calls.range(); page.length > 0; page = calls.range({ after: page.at(-1)?.[0] ?? '' }))
    open.push(...page);
  return open;
}

/** Forgets the open calls of a program whose turn is over: nobody takes their answers. */
export function closeTurnCalls(call: PendingCall, ctx: ReducerContext): void {
  if ((call.turn_calls ?? 0) === 0) return;
  const calls = turnCallsOf(ctx);
  // One session has at most 64 calls with 64 calls of their program each.
  for (const [id, { plan }] of openTurnCalls(ctx)) if (plan === call.plan) calls.delete(id);
  delete call.turn_calls;
}
