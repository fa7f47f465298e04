/**
 * The open calls of programs: the table `turn_calls`. A call is found by a digest of the id under which the owner knows it:
 * ids may have more bytes than a key, and every answer of the owner, also to a call of the model, is looked up here.
 */
import { allRows, type ReducerContext, type Table } from '@reprise/kernel/define';
import type { TurnCall } from '../../contracts/owner.js';
import type { PendingCall } from '../../contracts/state.js';

/** The open call of a program with this id. */
export function openTurnCall(id: string, ctx: ReducerContext): TurnCall | undefined {
  const calls = turnCallsOf(ctx);
  return calls.size === 0 ? undefined : calls.get(keyOf(id, ctx));
}

/** Notes that a call of a program is open. */
export function keepTurnCall(call: TurnCall, ctx: ReducerContext): void {
  turnCallsOf(ctx).set(keyOf(call.call_id, ctx), call);
}

/** Notes that a call of a program is over. */
export function dropTurnCall(id: string, ctx: ReducerContext): void {
  turnCallsOf(ctx).delete(keyOf(id, ctx));
}

/** The open calls of all programs. */
export function openTurnCalls(ctx: ReducerContext): readonly TurnCall[] {
  return [...allRows(turnCallsOf(ctx))].map(([, call]) => call);
}

/** Forgets the open calls of a program whose turn is over: nobody takes their answers. */
export function closeTurnCalls(call: PendingCall, ctx: ReducerContext): void {
  if ((call.turn_calls ?? 0) === 0) return;
  // One session has at most 64 calls with 64 calls of their program each.
  for (const { call_id, plan } of openTurnCalls(ctx)) if (plan === call.plan) dropTurnCall(call_id, ctx);
  delete call.turn_calls;
}

function keyOf(id: string, ctx: ReducerContext): string {
  return ctx.hash(id).slice(0, 32);
}

function turnCallsOf(ctx: ReducerContext): Table<TurnCall> {
  return ctx.table<TurnCall>('turn_calls');
}
