/**
 * Calls of tools: kept until they are answered, judged by the gate before they act, and answered once, where they came
 * from.
 */

import { ownerCall } from '@reprise/agent/contracts';
import { byteLength } from '@reprise/kernel/codec';
import { from } from '@reprise/kernel/define';
import { actorIn, job, KEY_DIGITS, parsedCall } from '@reprise/org/contracts';
import { callCheckPlan } from '../../contracts/call/gate.js';
import { entityAt, SOCIETY_BOUNDS } from '../../contracts/cell/names.js';
import { ownSession } from '../../contracts/cell/senders.js';
import type { EntityState, entityCommands, entityNews } from '../../contracts/entity/entity.js';
import { type Row, SOCIETY_TOOLS, type SocietyToolName } from '../../contracts/entity-parts.js';
import {
  actorOfOrigin,
  answerCall,
  type CallSource,
  callKey,
  callOfPlan,
  failureOf,
  goOnWith,
  openCall,
  roomFor,
  startForCall,
} from '../call/answers.js';
import { passToApp } from '../call/app-calls.js';
import { isRepetition, namedCall } from '../call/commands.js';
import {
  aboutIn,
  answerBy,
  denied,
  groupIn,
  isAboutOne,
  type Operations,
  type OperationsOf,
  refuse,
} from '../call/operations.js';
import { refusedTo } from '../call/replies.js';
import { askerOf, type EntityContext, type EntityHandlers } from '../context/entity.js';
import { mayOperate } from '../rights/may-ask.js';
import { askMakerAgain } from '../rights/rights.js';
import { ownerOrigin } from '../rights/session.js';
import { proofOperations } from '../staging/proofs.js';
import { returnOperations } from '../staging/returns.js';
import { reviewOperations } from '../staging/reviews.js';
import { operated } from '../status/status.js';
import { agentOperations } from './agents.js';
import { cutAtOnce } from './failed-children.js';
import { memberOperations } from './member.js';
import { swarmOperations } from './swarm-operations.js';

/** All tools of a society, by name: each file of operations brings its own. */
const TOOLS: OperationsOf<SocietyToolName> = {
  ...agentOperations,
  ...memberOperations,
  ...proofOperations,
  ...returnOperations,
  ...reviewOperations,
  ...swarmOperations,
};
const OPERATIONS: Operations = TOOLS;

/** The bytes of a call's arguments: an entry of the table of calls has at most 16 KiB. */
const CALL_BYTES_MAX = 12_000;

/** A call as it is taken: where it came from, of which tool, with what. */
type Taken = Pick<Row<'calls'>, 'origin' | 'name' | 'args'>;

/** The calls of models: from a session of this entity, or from a job of it. */
export const ownerCallEvents = {
  'aos.agent/OwnerCall@1': from(ownerCall, ownSession, job('works', KEY_DIGITS)),
} as const;

type CallEvents = Pick<typeof entityCommands, 'society/Call@1'> &
  Pick<typeof entityNews, 'society/Checked@1' | 'society/Ask@1'> &
  typeof ownerCallEvents;

export const callHandlers: EntityHandlers<CallEvents> = {
  'society/Call@1': (draft, { call_id, name, args }, ctx) => {
    const origin = { kind: 'request' as const, call_id, actor: actorIn(ctx) };
    take(draft, ['request', call_id], { origin, name, args }, ctx);
  },
  'aos.agent/OwnerCall@1': (draft, call, ctx, row) => {
    const { session, call_id, step_epoch, name, args } = call;
    take(draft, ['owner', session, call_id, step_epoch], { origin: ownerOrigin(call, row, ctx), name, args }, ctx);
  },
  'society/Checked@1': (draft, { code, value }, ctx) => {
    const call = callOfPlan(ctx);
    const row = openCall(call, ctx);
    if (row === undefined) return;
    if (code !== null) return answerCall(draft, call, denied(code, value ?? 'tool'), ctx);
    if (row.origin.kind !== 'ancestor') operated(draft, ctx);
    const run = OPERATIONS[row.name];
    if (run === undefined) return passToApp(draft, call, row, ctx);
    const about = aboutIn(row.name, row.args);
    if (about !== undefined && about !== ctx.address[1]) return ask(call, row, { about, depth: draft.depth }, ctx);
    goOnWith(draft, call, ctx, ({ args }) => run(draft, args, call, ctx));
  },
  // The call of the entity above was judged: the rights of this one do not matter.
  'society/Ask@1': (draft, { depth, call: asked, name, args, actor, bytes, missed }, ctx) => {
    const run = OPERATIONS[name];
    if (!draft.started || run === undefined || !isAboutOne(name)) return ctx.reject('agent_unknown');
    const by = askerOf(ctx);
    const key = callKey(['ancestor', by, asked], ctx);
    keepCall(draft, key, { origin: { kind: 'ancestor', by, depth, call: asked, actor, bytes }, name, args }, ctx);
    if (missed === true && name === 'agent_capabilities' && draft.changing !== null) return; // see `takeWaiting`
    goOnWith(draft, key, ctx, () => run(draft, args, key, ctx));
  },
};

/** Takes a call: parses its arguments, keeps it, and has it judged. */
function take(draft: EntityState, from: CallSource, { origin, name, args: given }: Taken, ctx: EntityContext): void {
  const isOurs = OPERATIONS[name] !== undefined;
  const { args, key: command } = isOurs ? namedCall(given, ctx) : { args: given, key: undefined };
  if (command !== undefined && isRepetition(draft, { key: command, origin, name, args }, ctx)) return;
  const key = command ?? callKey(from, ctx);
  if (ctx.table('calls').get(key) !== undefined) return ctx.reject('duplicate_command');
  const isLarge = byteLength(args) > CALL_BYTES_MAX;
  keepCall(draft, key, { origin, name, args: isLarge ? null : args }, ctx);
  const refused = answerBy(() => {
    if (isLarge) refuse('too_large', { bytes_max: CALL_BYTES_MAX });
    requireFit(isOurs, draft, { origin, name, args });
    return undefined;
  });
  if (refused !== undefined) return answerCall(draft, key, refused, ctx);
  askMakerAgain(draft, ctx);
  startForCall(ctx, key, callCheckPlan, { call: key, tool: name, group: groupIn(name, args), at: ctx.address });
}

function keepCall(draft: EntityState, key: string, call: Taken, ctx: EntityContext): void {
  ctx.table('calls').set(key, { ...call, also: [], private_key_encrypted: null });
  draft.calls++;
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
function requireFit(isOurs: boolean, draft: EntityState, { origin, name, args }: Taken): void {
  if (isOurs) parsedCall<unknown>(SOCIETY_TOOLS[name as SocietyToolName].call, args);
  else if (draft.app === null || origin.kind !== 'owner') refuse('unknown_tool', { name });
  if (draft.calls > SOCIETY_BOUNDS.calls) refuse('too_many_calls');
  if (!mayOperate(draft)) refuse('agent_not_active', { status: draft.status });
}
