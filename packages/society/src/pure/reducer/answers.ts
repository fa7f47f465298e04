/** Answers to calls: once, where they came from. */
import { OWNER_REFS_MAX } from '@reprise/agent/contracts';
import type { Value } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { type CallOrigin, type CallRow, ENTITY, type EntityState, entityAt, l1At } from '../contracts/index.js';
import { keepAnswer } from './command-answers.js';
import { idOf, tableOf } from './entity-context.js';
import type { Answer } from './operations.js';

/** What a call is known by. */
type CallKey =
  | Omit<Extract<CallOrigin, { kind: 'request' }>, 'actor'>
  | Omit<Extract<CallOrigin, { kind: 'ancestor' }>, 'actor' | 'bytes'>
  | Omit<Extract<CallOrigin, { kind: 'owner' }>, 'to'>;

/** Answers a call, once: later answers change nothing. */
export function answerCall(draft: EntityState, call: string, answer: Answer, ctx: ReducerContext): void {
  const row = tableOf(ctx, 'calls').get(call);
  if (row === undefined) return;
  tableOf(ctx, 'calls').delete(call);
  ctx.forget(failureOf(call));
  draft.calls--;
  const { origin, also } = row;
  keepAnswer(call, answer, ctx);
  for (const one of [origin, ...also]) reply(draft, one, answer, ctx);
}

/** Gives an answer to where a call came from. */
export function reply(draft: EntityState, origin: CallOrigin, answer: Answer, ctx: ReducerContext): void {
  const { value, refs = [], is_error = false } = answer;
  switch (origin.kind) {
    case 'request':
      return ctx.record('society/Answered@1', { call_id: origin.call_id, value, refs: [...refs], is_error });
    case 'ancestor':
      return tellAbove(draft, { to: origin.by, call: origin.call, value, is_error }, ctx);
    default: {
      const { to, session, call_id, step_epoch } = origin;
      const answered = { session, call_id, step_epoch, value, refs: refs.slice(0, OWNER_REFS_MAX), is_error };
      return ctx.send([to[0], to[1]], { name: 'aos.agent/OwnerAnswer@1', value: answered });
    }
  }
}

/** Begins the name under which an entity hears that the cell that was to answer a call has failed. */
const FAILURE_TAG = 'failed.';

/** The name under which the entity hears that the cell that is to answer a call has failed. */
export function failureOf(call: string): string {
  return `${FAILURE_TAG}${call}`;
}

/** The cell that was to answer a call has failed, or has ended. @returns whether the tag names such a call */
export function answererFailed(
  draft: EntityState,
  { tag = '', code = '' }: { readonly tag?: string; readonly code?: string },
  ctx: ReducerContext,
): boolean {
  if (!tag.startsWith(FAILURE_TAG)) return false;
  answerCall(draft, tag.slice(FAILURE_TAG.length), { value: { error: code, code }, is_error: true }, ctx);
  return true;
}

/** The call of a row that still waits. */
export function openCall(call: string, ctx: ReducerContext): CallRow | undefined {
  return call === '' ? undefined : tableOf(ctx, 'calls').get(call); // the word of another cell, and no key
}

/** The answer for an entity above. */
interface Told {
  readonly to: string;
  readonly call: string;
  readonly value: Value;
  readonly is_error: boolean;
}

/**
 * Answers an entity above: the maker, or one further up. A cell reaches no further than its maker by itself, and a maker
 * between the two may have failed: so the hot context of this entity passes the answer on.
 */
function tellAbove({ maker }: EntityState, told: Told, ctx: ReducerContext): void {
  const answer = { ...told, agent_id: idOf(ctx) };
  const isMaker = maker !== null && maker[0] === ENTITY && maker[1] === told.to;
  if (isMaker) ctx.send(entityAt(told.to), { name: 'society/Told@1', value: answer });
  else ctx.send(l1At(idOf(ctx)), { name: 'society/PassTold@1', value: answer });
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
