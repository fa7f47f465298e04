/** Answers to calls: once, where they came from. */
import type { Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { CallOrigin, CallRow, EntityState } from '../contracts/index.js';
import { tableOf } from './entity-context.js';
import type { Answer } from './operations.js';
import { operationFailed } from './status.js';

/** What a call is known by. */
type CallKey =
  | Omit<Extract<CallOrigin, { kind: 'request' }>, 'actor'>
  | Omit<Extract<CallOrigin, { kind: 'ancestor' }>, 'actor'>
  | Omit<Extract<CallOrigin, { kind: 'owner' }>, 'to'>;

/** Answers a call, once: later answers change nothing. */
export function answerCall(draft: EntityState, call: string, answer: Answer, ctx: ReducerContext): void {
  const row = tableOf(ctx, 'calls').get(call);
  if (row === undefined) return;
  tableOf(ctx, 'calls').delete(call);
  draft.calls--;
  const { value, refs = [], is_error = false } = answer;
  const { origin } = row;
  if (is_error && origin.kind !== 'ancestor') operationFailed(draft, ctx);
  switch (origin.kind) {
    case 'request':
      return ctx.record('society/Answered@1', { call_id: origin.call_id, value, refs: [...refs], is_error });
    case 'ancestor':
      return tellUp(draft, { to: origin.by, call: origin.call, value, is_error }, ctx);
    default: {
      const { to, session, call_id, step_epoch } = origin;
      const reply = { session, call_id, step_epoch, value, refs: [...refs], is_error };
      return ctx.send([to[0], to[1]], { name: 'aos.agent/OwnerAnswer@1', value: reply });
    }
  }
}

/** The call of a row that still waits. */
export function openCall(call: string, ctx: ReducerContext): CallRow | undefined {
  return tableOf(ctx, 'calls').get(call);
}

/** The answer for an entity above. */
interface Told {
  readonly to: string;
  readonly call: string;
  readonly value: Value;
  readonly is_error: boolean;
}

/** Sends an answer up: to the maker, which passes it on unless it is for it. */
export function tellUp({ maker }: EntityState, told: Told, ctx: ReducerContext): void {
  if (maker === null) return ctx.reject('no_call');
  ctx.send([maker[0], maker[1]], { name: 'society/Told@1', value: told });
}

/** A call is known by where it came from: the same one again is the same call. */
export function callKey(origin: CallKey, ctx: ReducerContext): string {
  switch (origin.kind) {
    case 'request':
      return ctx.hash(['request', origin.call_id]).slice(0, 40);
    case 'owner':
      return ctx.hash(['owner', origin.session, origin.call_id, origin.step_epoch]).slice(0, 40);
    default:
      return ctx.hash(['ancestor', origin.by, origin.call]).slice(0, 40);
  }
}
