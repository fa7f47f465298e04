/**
 * Calls of tools: kept until they are answered, judged by the gate before they act, and answered once, where they came
 * from.
 */

import type { OwnerCall } from '@reprise/agent/contracts';
import { byteLength } from '@reprise/kernel/codec';
import type { ReducerContext } from '@reprise/kernel/define';
import { parsedCall, waitingCallOf } from '@reprise/org/contracts';
import {
  type CallOrigin,
  callCheckPlan,
  type EntityState,
  entityAt,
  type News,
  type Row,
  SOCIETY_BOUNDS,
  SOCIETY_TOOLS,
  type SocietyToolName,
} from '../../contracts/index.js';
import { actorOfOrigin } from '../call/actors.js';
import { answerCall, callKey, failureOf, goOnWith, openCall } from '../call/answers.js';
import { passToApp } from '../call/app-calls.js';
import { isRepetition, namedCall } from '../call/commands.js';
import { roomFor } from '../call/fitting.js';
import { answerBy, denied, type Operations, refuse } from '../call/operations.js';
import { callOfPlan, startForCall } from '../call/plans.js';
import { refusedTo } from '../call/replies.js';
import { askerOf, type EntityContext } from '../context/entity.js';
import { mayOperate } from '../rights/may-ask.js';
import { askMakerAgain } from '../rights/rights.js';
import { sessionKey } from '../rights/session.js';
import { operated } from '../status/status.js';
import { cutAtOnce } from './failed-children.js';

/** The bytes of a call's arguments: an entry of the table of calls has at most 16 KiB. */
const CALL_BYTES_MAX = 12_000;

/** Takes a call: parses its arguments, keeps it, and has it judged. */
export function takeCall(
  operations: Operations,
  draft: EntityState,
  { origin, name, args: given }: Pick<Row<'calls'>, 'origin' | 'name' | 'args'>,
  ctx: EntityContext,
): void {
  const op = operations[name];
  const { args, key: command } = op === undefined ? { args: given, key: undefined } : namedCall(given, ctx);
  if (command !== undefined && isRepetition(draft, { key: command, origin, name, args }, ctx)) return;
  const key = command ?? callKey(origin, ctx);
  if (ctx.table('calls').get(key) !== undefined) return ctx.reject('duplicate_command');
  const isLarge = byteLength(args) > CALL_BYTES_MAX;
  keepCall(draft, key, { origin, name, args: isLarge ? null : args }, ctx);
  const refused = answerBy(() => {
    if (isLarge) refuse('too_large', { bytes_max: CALL_BYTES_MAX });
    requireFit(op, draft, { origin, name, args });
    return undefined;
  });
  if (refused !== undefined) return answerCall(draft, key, refused, ctx);
  askMakerAgain(draft, ctx);
  const of = op?.group?.(args, draft) ?? null;
  startForCall(ctx, key, callCheckPlan, { call: key, tool: name, group: of, at: ctx.address });
}

function keepCall(
  draft: EntityState,
  key: string,
  call: Pick<Row<'calls'>, 'origin' | 'name' | 'args'>,
  ctx: EntityContext,
): void {
  ctx.table('calls').set(key, { ...call, also: [], private_key_encrypted: null });
  draft.calls++;
}

/** The gate has judged a call: it acts, or is denied. */
export function callChecked(
  operations: Operations,
  draft: EntityState,
  { code, value }: News<'society/Checked@1'>,
  ctx: EntityContext,
): void {
  const call = callOfPlan(ctx);
  const row = openCall(call, ctx);
  if (row === undefined) return;
  if (code !== null) return answerCall(draft, call, denied(code, value ?? 'tool'), ctx);
  if (row.origin.kind !== 'ancestor') operated(draft, ctx);
  const op = operations[row.name];
  if (op === undefined) return passToApp(draft, call, row, ctx);
  const about = op.about?.(row.args);
  if (about !== undefined && about !== ctx.address[1]) return ask(call, row, { about, depth: draft.depth }, ctx);
  goOnWith(draft, call, ctx, ({ args }) => op.run(draft, args, call, ctx));
}

/** Runs what an entity above asks of this one: that entity's call was judged, this one's rights do not matter. */
export function takeAsk(
  operations: Operations,
  draft: EntityState,
  { depth, call: asked, name, args, actor, bytes, missed }: News<'society/Ask@1'>,
  ctx: EntityContext,
): void {
  const op = operations[name];
  if (op?.about === undefined) return ctx.reject('agent_unknown');
  const origin: CallOrigin = { kind: 'ancestor', by: askerOf(ctx), depth, call: asked, actor, bytes };
  const key = callKey(origin, ctx);
  keepCall(draft, key, { origin, name, args }, ctx);
  if (missed === true && name === 'agent_capabilities' && draft.changing !== null) return; // see `takeWaiting`
  goOnWith(draft, key, ctx, () => op.run(draft, args, key, ctx));
}

/**
 * The origin of a model's call.
 *
 * @param row that of the session which sends it; null for a job
 */
export function ownerOrigin(
  { session, call_id, step_epoch }: OwnerCall,
  row: Row<'sessions'> | null | undefined,
  ctx: Pick<ReducerContext, 'address' | 'caller' | 'rowKey' | 'reject'>,
): CallOrigin {
  const { address, rowKey, reject } = ctx;
  if (rowKey === null) return reject('not_yours');
  // A job speaks for its session; a session only for itself.
  if (row !== null && session !== sessionKey(address[1], rowKey)) return reject('not_yours');
  return { kind: 'owner', ...waitingCallOf({ session, call_id, step_epoch }, ctx) };
}

function ask(
  call: string,
  { origin, name, args }: Row<'calls'>,
  { about, depth }: { readonly about: string; readonly depth: number },
  ctx: EntityContext,
): void {
  cutAtOnce({ call, name, args }, about, ctx);
  const value = { call, depth, name, args, actor: actorOfOrigin(origin), bytes: roomFor(call, ctx) };
  const answer = { ...refusedTo('ask', call), failure: failureOf(call) };
  ctx.send(entityAt(about), { name: 'society/Ask@1', value }, answer);
}

/** What is known without the gate: the tool, its arguments, and whether the entity may act. */
function requireFit(
  op: Operations[string] | undefined,
  draft: EntityState,
  { origin, name, args }: Pick<Row<'calls'>, 'origin' | 'name' | 'args'>,
): void {
  const isOfApp = op === undefined && draft.app !== null && origin.kind === 'owner';
  if (op === undefined && !isOfApp) refuse('unknown_tool', { name });
  if (op !== undefined) parsedCall<unknown>(SOCIETY_TOOLS[name as SocietyToolName].call, args);
  if (draft.calls > SOCIETY_BOUNDS.calls) refuse('too_many_calls');
  if (!mayOperate(draft)) refuse('agent_not_active', { status: draft.status });
}
