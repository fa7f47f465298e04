/**
 * Calls that the owner of a session answers: the cell that made it. A call of the model is passed on in the frame that
 * takes it up, together with the others that are taken up then, and a call of a program in the frame that takes its
 * request.
 *
 * Invariants
 * O1  A call reaches the cell that made the session, and no other cell; only that cell's answer counts.
 * O2  A call is resolved once: by an answer, by a refusal, by a cancel, or by the end of its step.
 * O3  While the owner waits for another party, the run waits; an owner that works at once moves no lifecycle.
 * O5  When the owner fails or ends, all open calls are resolved: nobody else would answer them.
 * O4  A program's call counts only for the adapter of an effect of this session that is under way.
 */
import type { Address } from '@reprise/contracts';
import { byteLength } from '@reprise/kernel/codec';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  NO_OWNER,
  OWNER_UNREACHABLE,
  OWNER_VALUE_BYTES_MAX,
  type OwnerAnswer,
  type OwnerAnswers,
  type OwnerCalled,
  type OwnerCalls,
  type OwnerParked,
  type OwnerReply,
  refusalOfOwner,
  TURN_CALL,
} from '../../contracts/owner.js';
import type { PendingCall, SessionState } from '../../contracts/state.js';
import type { Next } from '../run/moves.js';
import { settleCall } from '../transcript/results.js';
import { place } from '../transcript/say.js';
import { CALLS_BYTES_MAX, sizeOf } from '../transcript/sizes.js';
import { dropTurnCall, keepTurnCall, openTurnCall, openTurnCalls } from '../transcript/turn-calls.js';
import { followCalls } from './waiting.js';

/** How many calls of one program may be open. */
const TURN_CALLS_MAX = 64;

const OWNER_CALL = 'aos.agent/OwnerCall@1';
const OWNER_CALLS = 'aos.agent/OwnerCalls@1';

/** The name under which this session hears that its owner has failed: one question, however many calls are open. */
const OWNER_TAG = 'owner';

type Place = { readonly session: string; readonly call_id: string; readonly step_epoch: number };

/** Starts a call of the model that the owner answers; {@link passCalls} passes it on. */
export function callOwner(draft: SessionState, call: PendingCall, ctx: ReducerContext): void {
  if (ownerOf(ctx) !== undefined) call.phase = 'running';
  else settleCall(draft, call, { non_execution: { kind: 'failed', code: NO_OWNER } }, ctx);
}

/** A call that was started, as it is passed on, and its place among the calls of the step. */
interface StartedCall {
  readonly at: number;
  readonly passed: OwnerCalls['calls'][number];
}

/** The call at this place as it is passed on; undefined when it is not on its way to the owner. */
export function startedCall({ call_id, session, phase }: PendingCall, at: number): StartedCall | undefined {
  if (session?.op !== 'owner' || phase !== 'running') return undefined;
  return { at, passed: { call_id, name: session.name, args: session.args } };
}

/** Passes calls that were started to the owner: together, when it takes them so. */
export function passCalls(draft: SessionState, started: readonly StartedCall[], ctx: ReducerContext): void {
  const owner = ownerOf(ctx);
  if (owner === undefined || started.length === 0) return;
  const { step_epoch } = draft;
  if (started.length === 1 || !ctx.takes(owner, OWNER_CALLS)) {
    for (const { passed } of started) send(owner, { step_epoch, ...passed }, ctx);
    return;
  }
  const value: OwnerCalls = { session: ctx.address[1], step_epoch, calls: started.map(({ passed }) => passed) };
  // A tag is short, and the ids of up to 64 calls are not: it names their places.
  const tag = `${step_epoch}/${started.map(({ at }) => at).join('.')}`;
  ctx.send(owner, { name: OWNER_CALLS, value }, { reply: 'refusal', tag, failure: OWNER_TAG });
}

/** Takes a call of a program, and passes it to the owner (O4). */
export function programCalls(draft: SessionState, { call_id, name, args }: OwnerCalled, ctx: ReducerContext): Next {
  const call = callOfAdapter(draft, ctx);
  if (call === undefined) return ctx.reject('no_turn');
  const owner = ownerOf(ctx);
  if (owner === undefined) return ctx.reject('no_owner');
  if (sizeOf(args) > CALLS_BYTES_MAX) return ctx.reject('too_large');
  const id = `${TURN_CALL}${call_id}`;
  if (openTurnCall(id, ctx) !== undefined || draft.calls.some((known) => known.call_id === id))
    return ctx.reject('already_open');
  if ((call.turn_calls ?? 0) >= TURN_CALLS_MAX) return ctx.reject('too_many_calls');
  call.turn_calls = (call.turn_calls ?? 0) + 1;
  keepTurnCall({ call_id: id, plan: call.plan ?? 0, step_epoch: draft.step_epoch }, ctx);
  send(owner, { call_id: id, step_epoch: draft.step_epoch, name, args }, ctx);
  return undefined;
}

/** Takes the answer of the owner. */
export function takeOwnerAnswer(draft: SessionState, answer: OwnerAnswer, ctx: ReducerContext): Next {
  requireOwnCall(answer, ctx);
  return afterAnswers(draft, takeAnswer(draft, answer, 'aos.agent/OwnerAnswer@1', ctx));
}

/** Takes answers of the owner to calls of one step. */
export function takeOwnerAnswers(draft: SessionState, given: OwnerAnswers, ctx: ReducerContext): Next {
  const { session, step_epoch, answers } = given;
  requireOwnCall(given, ctx);
  let settled = false;
  for (const answer of answers) {
    settled = takeAnswer(draft, { session, step_epoch, ...answer }, 'aos.agent/OwnerAnswers@1', ctx) || settled;
  }
  return afterAnswers(draft, settled);
}

function afterAnswers(draft: SessionState, settled: boolean): Next {
  if (!settled) return undefined;
  return { do: draft.stopping === null ? 'schedule' : 'settle' };
}

/** Takes an answer. @returns whether it settled a call of the model */
function takeAnswer(draft: SessionState, answer: OwnerAnswer, event: string, ctx: ReducerContext): boolean {
  const { value, refs, is_error } = answer;
  if (answerProgram(draft, answer, { value, refs }, is_error, ctx)) return false;
  const call = openCall(draft, answer);
  if (call === undefined) {
    ignore(draft, event, answer, ctx);
    return false;
  }
  if (byteLength(value) <= OWNER_VALUE_BYTES_MAX) {
    settleCall(draft, call, { answer: { value, refs }, is_error }, ctx, shownBytes({ value, refs }));
  } else {
    const code = 'validation_error/answer_too_large';
    settleCall(draft, call, { non_execution: { kind: 'outcome_unknown', code } }, ctx);
  }
  return true;
}

/** Notes that the owner waits for another party (O3). */
export function ownerWaits(draft: SessionState, parked: OwnerParked, ctx: ReducerContext): Next {
  requireOwnCall(parked, ctx);
  if (openTurnCall(parked.call_id, ctx)?.step_epoch === parked.step_epoch) return undefined; // its program waits
  const call = openCall(draft, parked);
  if (call === undefined) return ignore(draft, 'aos.agent/OwnerParked@1', parked, ctx);
  if (call.phase === 'owner') return undefined;
  call.phase = 'owner';
  const { call_id, tool } = call;
  ctx.record('aos.agent/ToolCallWaiting@1', { ...place(draft), call_id, tool, for: 'owner', effect: null });
  if (draft.stopping === null) followCalls(draft, ctx);
  return undefined;
}

/** Handles the refusal of calls: there is no cell that takes them, the gate refused them, or the owner rejected them. */
export function ownerRefused(
  draft: SessionState,
  { event, code = '', tag }: { readonly event: string; readonly code?: string; readonly tag?: string },
  ctx: ReducerContext,
): Next {
  if ((event !== OWNER_CALL && event !== OWNER_CALLS) || tag === undefined) return undefined;
  if (tag === OWNER_TAG) return ownerFailed(draft, code, ctx);
  const [step, what] = splitTag(tag);
  const why = refusalOfOwner(code);
  const ids = event === OWNER_CALL ? [what] : idsAt(draft, what);
  let settled = false;
  for (const call_id of ids) {
    const at = { session: ctx.address[1], call_id, step_epoch: step };
    if (answerProgram(draft, at, { value: { code: why }, refs: [] }, true, ctx)) continue;
    const call = openCall(draft, at);
    if (call === undefined) continue;
    const kind = why === OWNER_UNREACHABLE ? 'denied' : 'failed';
    settleCall(draft, call, { non_execution: { kind, code: why } }, ctx);
    settled = true;
  }
  return afterAnswers(draft, settled);
}

/** O5. The owner took the calls, so it may have done what it was asked. */
function ownerFailed(draft: SessionState, code: string, ctx: ReducerContext): Next {
  const why = refusalOfOwner(code);
  for (const { call_id, step_epoch } of openTurnCalls(ctx)) {
    const at = { session: ctx.address[1], call_id, step_epoch };
    answerProgram(draft, at, { value: { code: why }, refs: [] }, true, ctx);
  }
  const open = draft.calls.filter(isOpen);
  for (const call of open) settleCall(draft, call, { non_execution: { kind: 'outcome_unknown', code: why } }, ctx);
  return afterAnswers(draft, open.length > 0);
}

/** The ids of the calls at these places of the current step. */
function idsAt(draft: SessionState, places: string): readonly string[] {
  return places.split('.').map((at) => draft.calls[Number(at)]?.call_id ?? '');
}

/** The owner, if there is one that takes calls. */
function ownerOf(ctx: ReducerContext): Address | undefined {
  return ctx.parent !== null && ctx.takes(ctx.parent, OWNER_CALL) ? ctx.parent : undefined;
}

function send(
  owner: Address,
  call: { readonly call_id: string; readonly step_epoch: number; readonly name: string; readonly args: unknown },
  ctx: ReducerContext,
): void {
  const value = { session: ctx.address[1], ...call };
  const tag = `${call.step_epoch}/${call.call_id}`;
  ctx.send(owner, { name: OWNER_CALL, value }, { reply: 'refusal', tag, failure: OWNER_TAG });
}

function splitTag(tag: string): [step: number, call_id: string] {
  const at = tag.indexOf('/');
  return [Number(tag.slice(0, at)), tag.slice(at + 1)];
}

/** Refuses an answer of the owner to another session. */
function requireOwnCall({ session }: Pick<Place, 'session'>, ctx: ReducerContext): void {
  if (session !== ctx.address[1]) ctx.reject('other_session');
}

/** The call of the step that an answer is for, while it is open (O2). */
function openCall(draft: SessionState, { call_id, step_epoch }: Place): PendingCall | undefined {
  if (step_epoch !== draft.step_epoch) return undefined;
  return draft.calls.find((call) => call.call_id === call_id && isOpen(call));
}

/** Whether the owner has not answered a call. */
function isOpen({ session, phase }: PendingCall): boolean {
  return session?.op === 'owner' && (phase === 'running' || phase === 'owner');
}

function ignore(draft: SessionState, event: string, { step_epoch }: Place, ctx: ReducerContext): undefined {
  ctx.record('aos.agent/StaleIgnored@1', { event, session_epoch: draft.session_epoch, step_epoch });
  return undefined;
}

/** The running call of this session whose effect's adapter sent the event (O4). */
function callOfAdapter(draft: SessionState, { adapter }: ReducerContext): PendingCall | undefined {
  if (draft.run === null || draft.stopping !== null) return undefined;
  return draft.calls.find(({ plan, phase }) => plan === adapter?.[2] && phase === 'running');
}

/** Answers a call of a program. @returns whether it was one */
function answerProgram(
  draft: SessionState,
  { call_id, step_epoch }: Place,
  reply: OwnerReply,
  is_error: boolean,
  ctx: ReducerContext,
): boolean {
  const open = openTurnCall(call_id, ctx);
  if (open === undefined || open.step_epoch !== step_epoch) return false;
  const fits = byteLength(reply.value) <= OWNER_VALUE_BYTES_MAX;
  const told = fits ? { ...reply, is_error } : { value: { code: 'answer_too_large' }, refs: [], is_error: true };
  dropTurnCall(call_id, ctx);
  const call = draft.calls.find(({ plan }) => plan === open.plan);
  if (call?.turn_calls !== undefined) call.turn_calls--;
  ctx.record('aos.agent/OwnerAnswered@1', { call_id: call_id.slice(TURN_CALL.length), ...told });
  return true;
}

/** The bytes of an answer that a model is shown: the value as it is, and the links' content at most. */
function shownBytes({ value, refs }: OwnerReply): number {
  return sizeOf(value) + refs.length * REF_BYTES;
}

/** The bytes that a model is shown of one link: the bound of the prompt assembly for a child's result. */
const REF_BYTES = 4_000;
