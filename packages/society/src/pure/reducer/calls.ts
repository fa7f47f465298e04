/**
 * Calls of tools: kept until they are answered, judged by the gate before they act, and answered once, where they came
 * from.
 */
import type { OwnerCall } from '@reprise/agent/contracts';
import { type Actor, type Address, problemsOf, type Value } from '@reprise/contracts';
import { byteLength } from '@reprise/kernel/codec';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type CallOrigin,
  type CallRow,
  callCheckPlan,
  type EntityState,
  entityAt,
  type SessionRow,
  SOCIETY_BOUNDS,
} from '../contracts/index.js';
import { actorOfOrigin } from './actors.js';

import { roomFor } from './answer-room.js';
import { answerCall, callKey, failureOf } from './answers.js';
import { passToApp } from './app-calls.js';
import { callOfPlan, startPlan } from './call-plans.js';
import { askerOf } from './caller.js';
import { isRepetition, namedCall } from './commands.js';
import { tableOf } from './entity-context.js';
import { cutAtOnce, notReached } from './failed-children.js';
import { mayOperate } from './may-ask.js';
import { type Answer, denied, type Operations, refusal } from './operations.js';
import { askMakerAgain } from './rights.js';
import { sessionKey } from './session-rights.js';
import { operated } from './status.js';

/** The bytes of a call's arguments: an entry of the table of calls has at most 16 KiB. */
const CALL_BYTES_MAX = 12_000;

/** The tag of a call that went to another entity. */
export const ASK_TAG = 'ask.';

/** Takes a call: keeps it, and has it judged. */
export function takeCall(
  operations: Operations,
  draft: EntityState,
  { origin, name, args: given }: Omit<CallRow, 'checked' | 'also'>,
  ctx: ReducerContext,
): void {
  const { args, key: command } =
    operations[name] === undefined ? { args: given, key: undefined } : namedCall(given, ctx);
  if (command !== undefined && isRepetition(draft, { key: command, origin, name, args }, ctx)) return;
  const key = command ?? callKey(origin, ctx);
  const calls = tableOf(ctx, 'calls');
  if (calls.get(key) !== undefined) return ctx.reject('duplicate_command');
  const isLarge = byteLength(args) > CALL_BYTES_MAX;
  const row: CallRow = { origin, also: [], name, args: isLarge ? null : args, checked: false };
  calls.set(key, row);
  draft.calls++;
  const refused = isLarge ? refusal('too_large', { bytes_max: CALL_BYTES_MAX }) : refusedAtOnce(operations, draft, row);
  if (refused !== undefined) return answerCall(draft, key, refused, ctx);
  askMakerAgain(draft, ctx);
  const op = operations[name];
  const of = op?.group?.(op.args.parse(args), draft) ?? null;
  startPlan(ctx, key, callCheckPlan, { call: key, tool: name, group: of, at: ctx.address });
}

/** The gate has judged a call: it acts, or is denied. */
export function callChecked(
  operations: Operations,
  draft: EntityState,
  { code, value }: { readonly code: string | null; readonly value: unknown },
  ctx: ReducerContext,
): void {
  const call = callOfPlan(ctx);
  const row = tableOf(ctx, 'calls').get(call);
  if (row === undefined) return;
  if (code !== null) return answerCall(draft, call, denied(code, value === 'group' ? 'group' : 'tool'), ctx);
  tableOf(ctx, 'calls').set(call, { ...row, checked: true });
  if (row.origin.kind !== 'ancestor') operated(draft, ctx);
  const op = operations[row.name];
  if (op === undefined) return passToApp(draft, call, row, ctx);
  const args = op.args.parse(row.args);
  const about = op.about?.(args);
  if (about !== undefined && about !== ctx.address[1]) return ask(call, row, { about, depth: draft.depth }, ctx);
  const answer = op.run(draft, args, call, ctx);
  if (answer !== undefined) answerCall(draft, call, answer, ctx);
}

/** What an entity above asks. */
interface Asked {
  readonly depth: number;
  readonly call: string;
  readonly name: string;
  readonly args: Value;
  readonly actor: Actor;
  readonly bytes: number;
  /** It waits for a change that is under way; absent for what is refused then. */
  readonly missed?: boolean | undefined;
}

/** Runs what an entity above asks of this one: that entity's call was judged, this one's rights do not matter. */
export function takeAsk(
  operations: Operations,
  draft: EntityState,
  { depth, call: asked, name, args, actor, bytes, missed = false }: Asked,
  ctx: ReducerContext,
): void {
  const op = operations[name];
  if (op?.about === undefined) return ctx.reject('agent_unknown');
  const origin: CallOrigin = { kind: 'ancestor', by: askerOf(ctx), depth, call: asked, actor, bytes };
  const key = callKey(origin, ctx);
  tableOf(ctx, 'calls').set(key, { origin, also: [], name, args, checked: true });
  draft.calls++;
  if (missed && name === 'agent_capabilities' && draft.changing !== null) return; // see `takeWaiting`
  const answer = op.run(draft, op.args.parse(args), key, ctx);
  if (answer !== undefined) answerCall(draft, key, answer, ctx);
}

/**
 * The origin of a model's call.
 *
 * @param row that of the session which sends it; null for a job
 */
export function ownerOrigin(
  { session, call_id, step_epoch }: OwnerCall,
  row: SessionRow | null | undefined,
  ctx: Pick<ReducerContext, 'address' | 'caller' | 'rowKey' | 'reject'>,
): CallOrigin {
  const { address, caller, rowKey, reject } = ctx;
  if (caller === null || rowKey === null) return reject('not_yours');
  // A job speaks for its session; a session only for itself.
  if (row !== null && session !== sessionKey(address[1], rowKey)) return reject('not_yours');
  return { kind: 'owner', to: [...caller], session, call_id, step_epoch };
}

/** The agent that a call is about did not take it: its cell has failed, or it is no agent below this entity. */
export function askRefused(
  draft: EntityState,
  { tag, to, code }: { readonly tag: string; readonly to: Address; readonly code: string },
  ctx: ReducerContext,
): void {
  notReached(draft, { call: tag.slice(ASK_TAG.length), about: to[1], code }, ctx);
}

function ask(
  call: string,
  { origin, name, args }: CallRow,
  { about, depth }: { readonly about: string; readonly depth: number },
  ctx: ReducerContext,
): void {
  cutAtOnce({ call, name, args }, about, ctx);
  const value = { call, depth, name, args, actor: actorOfOrigin(origin), bytes: roomFor(call, ctx) };
  const answer = { reply: 'refusal', tag: `${ASK_TAG}${call}`, failure: failureOf(call) } as const;
  ctx.send(entityAt(about), { name: 'society/Ask@1', value }, answer);
}

function refusedAtOnce(
  operations: Operations,
  draft: EntityState,
  { origin, name, args }: CallRow,
): Answer | undefined {
  const op = operations[name];
  const isOfApp = op === undefined && draft.app !== null && origin.kind === 'owner';
  if (op === undefined && !isOfApp) return refusal('unknown_tool', { name });
  const parsed = op?.args.safeParse(args);
  if (parsed?.success === false) {
    return refusal('invalid_arguments', { problems: problemsOf(parsed.error.issues) });
  }
  if (draft.calls > SOCIETY_BOUNDS.calls) return refusal('too_many_calls');
  if (!mayOperate(draft)) return refusal('agent_not_active', { status: draft.status });
  return undefined;
}
