/**
 * Open calls: who made them, the plans that they wait for, and their answers, given once, where they came from.
 *
 * An entity is who stands for an act; the actor is who performed it: a person, a program or a rule that uses the entity's
 * handle or token, or a model in one of its sessions.
 */

import { OWNER_REFS_MAX } from '@reprise/agent/contracts';
import type { Actor, Value } from '@reprise/contracts';
import { byteLength, encode } from '@reprise/kernel/codec';
import type { Intent, ReducerContext } from '@reprise/kernel/define';
import { actorIn, answerCall as answerWaiting, ownPlan, startFor, takePurpose } from '@reprise/org/contracts';
import { COMMAND_BYTES_MAX } from '../../contracts/call/gate.js';
import { ENTITY, entityAt, l1At } from '../../contracts/cell/names.js';
import type { CallOrigin, EntityState } from '../../contracts/entity/entity.js';
import type { News, Row } from '../../contracts/entity-parts.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { type Answer, answerBy } from './operations.js';
import { tagOf } from './replies.js';

/** Answers a call, once: later answers change nothing. */
export function answerCall(draft: EntityState, call: string, answer: Answer, ctx: EntityContext): void {
  const row = ctx.table('calls').get(call);
  if (row === undefined) return;
  ctx.table('calls').delete(call);
  ctx.forget(failureOf(call));
  draft.calls--;
  const { origin, also } = row;
  keepAnswer(call, answer, ctx);
  for (const one of [origin, ...also]) reply(draft, one, answer, ctx);
}

export function reply(draft: EntityState, origin: CallOrigin, answer: Answer, ctx: EntityContext): void {
  const { value, refs = [], is_error = false } = answer;
  switch (origin.kind) {
    case 'request':
      return ctx.record('society/Answered@1', { call_id: origin.call_id, value, refs: [...refs], is_error });
    case 'ancestor':
      return tellAbove(draft, { to: origin.by, call: origin.call, value, is_error }, ctx);
    default:
      return answerWaiting(ctx, origin, { value, refs: refs.slice(0, OWNER_REFS_MAX), is_error });
  }
}

/** The name under which the entity hears that the cell that is to answer a call has failed. */
export function failureOf(call: string): string {
  return tagOf('failed', call);
}

/** Goes on with a call that still waits: it is answered, refused, or waits further. */
export function goOnWith(
  draft: EntityState,
  call: string,
  ctx: EntityContext,
  act: (row: Row<'calls'>) => Answer | undefined,
): void {
  const row = openCall(call, ctx);
  if (row === undefined) return;
  const answer = answerBy(() => act(row));
  if (answer !== undefined) answerCall(draft, call, answer, ctx);
}

/** The call of a row that still waits. */
export function openCall(call: string, ctx: EntityContext): Row<'calls'> | undefined {
  return call === '' ? undefined : ctx.table('calls').get(call); // the word of another cell, and no key
}

/**
 * Answers an entity above: the maker, or one further up. A cell reaches no further than its maker by itself, and a maker
 * between the two may have failed: so the hot context of this entity passes the answer on.
 */
function tellAbove({ maker }: EntityState, told: Omit<News<'society/Told@1'>, 'agent_id'>, ctx: EntityContext): void {
  const answer = { ...told, agent_id: idOf(ctx) };
  const isMaker = maker !== null && maker[0] === ENTITY && maker[1] === told.to;
  if (isMaker) ctx.send(entityAt(told.to), { name: 'society/Told@1', value: answer });
  else ctx.send(l1At(idOf(ctx)), { name: 'society/PassTold@1', value: answer });
}

/** A call is known by where it came from, or by the id that its caller names: the same one again is the same call. */
export function callKey(from: CallSource, ctx: EntityContext): string {
  return ctx.hash([...from]).slice(0, 40);
}

export type CallSource =
  | readonly ['request' | 'command', id: string]
  | readonly ['owner', session: string, call_id: string, step_epoch: number]
  | readonly ['ancestor', by: string, call: string];

/** Keeps the answer to a command for its repetitions. One that is too large is not kept. */
function keepAnswer(key: string, { value, refs = [], is_error = false }: Answer, ctx: EntityContext): void {
  const commands = ctx.table('commands');
  const row = commands.get(key);
  if (row === undefined || byteLength(value) > COMMAND_BYTES_MAX) return;
  commands.set(key, { ...row, answer: { value, refs: [...refs], is_error } });
}

/** Who made a call: the sender of its request, the session of a model, or who called the entity above that asks. */
export function actorOfOrigin(origin: CallOrigin): Actor {
  return origin.kind === 'owner' ? { kind: 'node', id: origin.session } : origin.actor;
}

/** Who made an open call. What no call asked for, the entity does by its own rules. */
export function actorOfCall(call: string | null, ctx: EntityContext): Actor {
  const origin = call === null ? undefined : openCall(call, ctx)?.origin;
  return origin === undefined ? OWN_RULE : actorOfOrigin(origin);
}

/** What takes over the items of a return by itself. */
const OWN_RULE: Actor = { kind: 'rule', id: 'society/automatic_merge', granted_by: null };

/** Who sent a command to a group or a swarm. A cell may name for whom it sends; from outside nobody is believed. */
export function commander(stated: Actor | undefined, ctx: ReducerContext): Actor {
  return ctx.caller !== null && stated !== undefined ? stated : actorIn(ctx);
}

/** Starts a plan for a call, which waits: when it fails as a plan, the call is answered with that. */
export function startForCall<I>(ctx: EntityContext, call: string, plan: Intent<I>['plan'], input: I): undefined {
  startPlan(ctx, { for: 'call', call }, { plan, input });
}

export function startPlan<I>(ctx: EntityContext, purpose: Row<'plans'>, intent: Intent<I>): void {
  startFor(ctx, ctx.table('plans'), intent, purpose);
}

/** What the plan that raises this event is for: it is over. */
export function planOver(ctx: EntityContext): Row<'plans'> {
  return takePurpose(ctx.table('plans'), ownPlan(ctx)) ?? ctx.reject('no_call');
}

/** The call that the plan of this event is for: the plan is over. */
export function callOfPlan(ctx: EntityContext): string {
  const purpose = planOver(ctx);
  return purpose.for === 'call' ? purpose.call : ctx.reject('no_call');
}

/** The bytes of the rows of an answer to a model: the owner of a session answers it with 4 KiB at most. */
const MODEL_BYTES = 3_500;

/** The bytes of the rows of an answer to a client or an app: a value has 64 KiB at most, with names and links. */
const CLIENT_BYTES = 60_000;

/** The bytes that the answer to a call may have. What an entity above asks for has the room of its own call. */
export function roomFor(call: string, ctx: EntityContext): number {
  const origin = openCall(call, ctx)?.origin;
  if (origin?.kind === 'ancestor') return origin.bytes;
  return origin?.kind === 'owner' ? MODEL_BYTES : CLIENT_BYTES;
}

/** Whether the answer is read by a model: it is shown words as texts between marks, and no links. */
export function isForModel(call: string, ctx: EntityContext): boolean {
  return openCall(call, ctx)?.origin.kind === 'owner';
}

/** The first rows that fit into one page; at least one, where there is one. */
export function fitting<T extends Value>(rows: readonly T[], bytesMax: number): T[] {
  let bytes = 0;
  const page: T[] = [];
  for (const row of rows) {
    bytes += encode(row).length;
    if (bytes > bytesMax && page.length > 0) break;
    page.push(row);
  }
  return page;
}

/** As many entries of a list as fit, and how many were left off, where some were. */
export function listed<T extends Value>(
  name: string,
  rows: readonly T[],
  bytesMax: number,
): Readonly<Record<string, Value>> {
  const shown = fitting(rows, bytesMax);
  const left_off = rows.length - shown.length;
  return { [name]: shown as unknown as Value, ...(left_off === 0 ? {} : { left_off }) };
}
