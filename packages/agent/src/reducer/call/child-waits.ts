/** Waits for children: tool calls that end when the children they name are done. */
import type { SessionOp } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type { ChildEntry, PendingCall, SessionState } from '../../contracts/state.js';
import type { ChildResult } from '../../contracts/transcript.js';
import type { Next } from '../run/moves.js';
import { settleCall } from '../transcript/results.js';
import { place } from '../transcript/say.js';

type Wait = Extract<SessionOp, { op: 'wait' }>;

/** Begins the wait of a call; it ends at once when there is nothing to wait for. */
export function waitFor(draft: SessionState, call: PendingCall, op: Wait, ctx: ReducerContext): void {
  if (isMet(op, ctx)) return settleCall(draft, call, { children: resultsOf(op, ctx) }, ctx);
  call.phase = 'children';
  const { call_id, tool } = call;
  ctx.record('aos.agent/ToolCallWaiting@1', { ...place(draft), call_id, tool, for: 'children', effect: null });
  if (op.within_ms !== undefined) ctx.timer(waitTimer(draft, call), ctx.now + op.within_ms);
}

/** The name of the kernel timer for the deadline of a wait, by the position of its call in the batch. */
export function waitTimer(draft: SessionState, call: PendingCall): string {
  return `wait.${draft.calls.indexOf(call)}`;
}

/** Handles the deadline of a wait: the call answers with the results so far. */
export function waitIsOver(draft: SessionState, timer: string, ctx: ReducerContext): Next {
  const call = draft.calls[Number(timer.slice('wait.'.length))];
  if (call?.phase !== 'children' || call.session?.op !== 'wait') return undefined;
  settleCall(draft, call, { children: resultsOf(call.session, ctx) }, ctx);
  return { do: draft.stopping === null ? 'schedule' : 'settle' };
}

/** Ends the waits of this step whose condition is met. */
export function settleWaits(draft: SessionState, ctx: ReducerContext): Next {
  let settled = false;
  for (const call of draft.calls) {
    if (call.phase !== 'children' || call.session?.op !== 'wait' || !isMet(call.session, ctx)) continue;
    ctx.clearTimer(waitTimer(draft, call));
    settleCall(draft, call, { children: resultsOf(call.session, ctx) }, ctx);
    settled = true;
  }
  if (!settled) return undefined;
  return { do: draft.stopping === null ? 'schedule' : 'settle' };
}

function isMet({ children, mode }: Wait, ctx: ReducerContext): boolean {
  const done = (name: string) => {
    const entry = childOf(ctx).get(name);
    return entry === undefined || isDone(entry);
  };
  return mode === 'any' ? children.some(done) : children.every(done);
}

/** Whether a child works on no request; a run that waits for outside input still counts as work. */
export function isDone({ status }: ChildEntry): boolean {
  return status !== 'running' && status !== 'waiting';
}

function resultsOf({ children }: Wait, ctx: ReducerContext): ChildResult[] {
  return children.map((name) => resultOf(name, childOf(ctx).get(name)));
}

/** The result of one child, as a call reports it. */
export function resultOf(child: string, entry: ChildEntry | undefined): ChildResult {
  if (entry === undefined) return { child, agent: 'unknown', status: 'absent' };
  const { agent, status, code, output_ref, value_ref } = entry;
  return {
    child,
    agent,
    status,
    ...(code === null ? {} : { code }),
    ...(output_ref === null ? {} : { output_ref }),
    ...(value_ref === null ? {} : { value_ref }),
  };
}

/** The children of a session, by the names that its model uses. */
export function childOf(ctx: ReducerContext): Table<ChildEntry> {
  return ctx.table<ChildEntry>('children');
}
