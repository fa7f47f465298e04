/** Agents of this entity, and agents below them, whose cells have failed: what it does for them, and what its calls answer. */

import type { Address, Value } from '@reprise/contracts';
import { failedJob, jobNumberOf, stopSessionOfFailed } from '@reprise/org/contracts';
import type { failedNews } from '../../contracts/agent/failed.js';
import { type AgentStatus, ENTITY, SWARM } from '../../contracts/cell/names.js';
import type { EntityState, entityNews } from '../../contracts/entity/entity.js';
import { argsOf, type News, type Row } from '../../contracts/entity-parts.js';
import { archiveIdOf } from '../../contracts/memory/tools.js';
import { actorOfCall, answerCall, goOnWith, openCall } from '../call/answers.js';
import { type Answer, aboutIn, FAILED, isOfFailedCell, refusal, refuse } from '../call/operations.js';
import { type Routes, tagOf } from '../call/replies.js';
import { timeOf } from '../call/time.js';
import { type EntityContext, type EntityHandlers, idOf, rowKeyOf } from '../context/entity.js';
import { refusedSubscriptions } from '../inbox/inbox.js';
import { childStatusNews } from '../inbox/member-news.js';
import { archiveAsked, beginArchive } from '../memory/archive.js';
import {
  actForFailed,
  agentFailed,
  agentLives,
  agentSession,
  type Deputy,
  endFailed,
  failedAgentOf,
  failedBelow,
  isEnd,
  type MadeAgent,
  ownFailed,
  tellStatusAbove,
} from '../status/failed-agents.js';
import {
  type Cut,
  carriedOut,
  cutFurther,
  cutOf,
  dropHold,
  endedItself,
  heldBy,
  holdNow,
  keepHold,
  removedItself,
} from '../status/holds.js';
import { tellSwarms } from '../status/told-below.js';
import { askUnheard, dropUnheard, isUnheard, keepUnheard, stillUnheard, takeUnheard } from '../status/unheard.js';
import { clearRemoved } from './clearing.js';
import { unformedSwarmFailed } from './swarm-operations.js';
import { jobNews } from './work.js';

type ChildNews = Pick<typeof entityNews, 'society/Told@1' | 'society/ChildStatus@1'>;

export const failedHandlers: EntityHandlers<typeof failedNews & ChildNews> = {
  // The answer of an agent below: itself, or its hot context.
  'society/Told@1': (draft, told, ctx) => {
    if (told.to === idOf(ctx) && unheardAnswered(draft, told, ctx)) return;
    if (told.to !== idOf(ctx) || !isAnswerOf(told, ctx)) return ctx.reject('not_yours');
    // It is held to nothing more that the call took (holds/L2).
    agentLives(told.agent_id, ctx);
    const row = openCall(told.call, ctx);
    const cut = row && cutOf(row.name, row.args, ctx);
    if (cut !== undefined) carriedOutBy(told.agent_id, cut, told.is_error, ctx);
    if (!told.is_error && row?.name === 'agent_deactivate') archiveAsked(told.agent_id, ctx);
    answerCall(draft, told.call, { value: told.value, is_error: told.is_error }, ctx);
  },
  'society/ChildStatus@1': (draft, told, ctx) => {
    const id = rowKeyOf(ctx);
    agentLives(id, ctx);
    const isKnown = ctx.table('children').get(id)?.status !== 'removed'; // else it was removed for its failed cell
    childMoved(draft, id, told, ctx);
    if (told.status === 'deactivated') endedItself(id, ctx);
    if (told.status !== 'removed') return;
    const { ended, narrowed } = heldBy(ctx, id);
    if (!isKnown || ended || narrowed !== null) removedItself(id, ctx);
    dropTaken(id, ctx);
  },
  'society/AgentSession@1': (_draft, news, ctx) => agentSession(rowKeyOf(ctx), news, ctx),
  'society/AgentFailed@1': (draft, failed, ctx) => {
    const via = ctx.caller ?? ctx.reject('not_yours');
    failedBelow(failed, { via, maker: draft.maker }, ctx);
    if (failed.status === 'removed') dropTaken(failed.agent_id, ctx);
    if (isEnd(failed.status)) tellEnded(draft, failed.agent_id, ctx);
  },
  'society/ForFailed@1': (draft, asked, ctx) => {
    actForFailed(deputyOf(draft, ctx), asked, ctx);
  },
  'society/Held@1': (draft, { call, about, code }, ctx) => {
    // The call waits no longer where the kernel refused the hold.
    goOnWith(draft, call, ctx, ({ name, args }) => narrowFailed({ call, name, args, about, code }, ctx));
  },
};

/** A cell that this entity made has failed: one of its agents, or another one, such as a swarm. */
export function childFailed(
  draft: EntityState,
  { cell: [reducer, id], code }: { readonly cell: Address; readonly code: string },
  ctx: EntityContext,
): void {
  if (reducer === SWARM) return unformedSwarmFailed(draft, id, ctx);
  const job = jobNumberOf(idOf(ctx), [reducer, id]);
  if (job !== undefined) {
    stopSessionOfFailed(ctx, id); // the first attempt is the only one: its session has the key of the job
    return jobNews(draft, { ...failedJob(job), session: id }, ctx);
  }
  if (reducer !== ENTITY) return;
  const known = ctx.table('children').get(id);
  if (known === undefined) return;
  agentFailed({ agent_id: id, code, known }, draft.maker, ctx);
  if (isRemoved(draft)) endFailed(deputyOf(draft, ctx), { agent_id: id, reason: 'ancestor', grace_ms: null }, ctx);
}

/** This entity, or one above it, was removed: its agents end, also those whose cells have failed (SOC-89). */
export function endFailedBelow(draft: EntityState, ctx: EntityContext): void {
  if (!isRemoved(draft)) return;
  for (const [agent_id] of ownFailed(ctx))
    endFailed(deputyOf(draft, ctx), { agent_id, reason: 'ancestor', grace_ms: null }, ctx);
}

function isRemoved({ status, orphaned }: Pick<EntityState, 'status' | 'orphaned'>): boolean {
  return orphaned || status === 'removed';
}

/** An agent was removed: what was taken from it before is not kept any longer. */
function dropTaken(agent_id: string, ctx: EntityContext): void {
  dropHold(agent_id, ctx);
  dropUnheard(agent_id, ctx);
}

/** This entity, as far as it acts for its agents. */
export function deputyOf(draft: EntityState, ctx: EntityContext): Deputy {
  return {
    grace_ms: draft.grace_ms,
    changed: (agent_id, to) => {
      childMoved(draft, agent_id, to, ctx);
      tellStatusAbove(agent_id, draft.maker, ctx);
      if (isEnd(to.status)) tellEnded(draft, agent_id, ctx);
      const key_ref = ctx.table('children').get(agent_id)?.key_ref ?? null;
      if (to.status !== 'removed') return;
      dropTaken(agent_id, ctx);
      clearRemoved(draft, { agent_id, key_ref }, ctx);
    },
  };
}

/** An agent at or below this entity was ended for its failed cell: a swarm of this entity that it led hears so (SOC-63). */
function tellEnded(draft: EntityState, agent_id: string, ctx: EntityContext): void {
  tellSwarms(draft, `ended ${agent_id}`, ctx);
}

function childMoved(
  draft: EntityState,
  id: string,
  { status, expires_at, grace_until }: MadeAgent,
  ctx: EntityContext,
): void {
  const children = ctx.table('children');
  const row = children.get(id);
  if (row === undefined || row.status === 'removed') return; // final, also where the agent did not hear of it
  children.set(id, { ...row, status, expires_at, grace_until });
  if (row.status === status) return;
  childStatusNews(id, row.status, status, ctx);
  if (status === 'deactivated') beginArchive(id, ctx);
  if (status === 'removed') draft.children--;
}

/** A call about an agent below is sent to it: what it takes is cut at once (holds/L1). */
export function cutAtOnce(
  { call, name, args }: { readonly call: string; readonly name: string; readonly args: Value },
  about: string,
  ctx: EntityContext,
): void {
  const cut = cutOf(name, args, ctx);
  if (cut === undefined || !(cut.ended || failedAgentOf(about, ctx) !== undefined)) return;
  holdNow(about, cutFurther(heldBy(ctx, about), cut), ctx, tagOf('hold', call));
}

type ToldCall = Omit<News<'society/Told@1'>, 'to'>;

/** Whether an answer is from the agent that the call is about: itself, or its hot context. */
function isAnswerOf({ agent_id, call }: ToldCall, ctx: EntityContext): boolean {
  const row = openCall(call, ctx);
  return (
    isIts(agent_id, ctx) && agent_id !== idOf(ctx) && row !== undefined && aboutIn(row.name, row.args) === agent_id
  );
}

/** Whether an agent speaks of itself: an agent of this entity, or the hot context of one further below. */
function isIts(agent_id: string, { rowKey }: EntityContext): boolean {
  return (rowKey ?? agent_id) === agent_id;
}

/** An agent that was revived has answered a call that it had not heard. @returns whether it was one */
function unheardAnswered({ depth }: Pick<EntityState, 'depth'>, told: ToldCall, ctx: EntityContext): boolean {
  const { agent_id, call, is_error } = told;
  if (!isIts(agent_id, ctx)) return false;
  if (isOfFailed(told)) return isUnheard(agent_id, call, ctx);
  const asked = takeUnheard(agent_id, call, ctx);
  const cut = asked && cutOf(asked.name, asked.args, ctx);
  if (cut !== undefined) carriedOutBy(agent_id, cut, is_error, ctx);
  if (asked !== undefined) askUnheard(agent_id, depth, ctx);
  return asked !== undefined;
}

/** Whether an answer says that a cell has failed: the agent's own, or that of the maker that it waited for (unheard/U2). */
function isOfFailed({ is_error, value }: Pick<ToldCall, 'is_error' | 'value'>): boolean {
  const code = is_error && typeof value === 'object' && value !== null ? Reflect.get(value, 'code') : undefined;
  return typeof code === 'string' && isOfFailedCell(code);
}

function carriedOutBy(agent_id: string, cut: Cut, is_error: boolean, ctx: EntityContext): void {
  const before = heldBy(ctx, agent_id);
  const left = is_error && !cut.ended ? before : carriedOut(before, cut);
  const unheard = stillUnheard(agent_id, ctx).flatMap(({ name, args }) => cutOf(name, args, ctx) ?? []);
  keepHold(agent_id, unheard.reduce(cutFurther, left), ctx);
}

/** What comes of passing a call on to the agent that it is about. */
export const failedReplies: Routes<EntityState, EntityContext> = {
  // It was not reached: its cell has failed, or it is no agent below this entity.
  ask: (draft, call, { to: [, about], code }, ctx) => {
    goOnWith(draft, call, ctx, ({ name, args }) => {
      const cut = cutOf(name, args, ctx);
      if (isOfFailedCell(code) && cut?.ended === false && failedAgentOf(about, ctx) === undefined) {
        holdNow(about, cutFurther(heldBy(ctx, about), cut), ctx, tagOf('hold', call));
        ctx.send(ctx.address, { name: 'society/Held@1', value: { call, about, code } });
        return undefined;
      }
      if (isOfFailedCell(code)) return answerFor(draft, { call, name, args, about, code }, ctx);
      if (cut !== undefined) holdNow(about, heldBy(ctx, about), ctx);
      return refuse('agent_unknown');
    });
  },
  hold: (draft, call, _, ctx) => answerCall(draft, call, refusal('agent_unknown'), ctx),
};

interface AskedOfFailed {
  readonly call: string;
  readonly name: string;
  readonly args: Value;
  readonly about: string;
  readonly code: string;
}

function answerFor(draft: EntityState, asked: AskedOfFailed, ctx: EntityContext): Answer {
  // An agent below that has failed is known, unless a cell between has failed, too: then the kernel is asked by a hold.
  if (asked.name !== 'agent_deactivate' && failedAgentOf(asked.about, ctx) === undefined) refuse('agent_unknown');
  switch (asked.name) {
    case 'agent_deactivate':
      return deactivateFailed(draft, asked, ctx);
    case 'agent_capabilities':
      return narrowFailed(asked, ctx);
    case 'agent_set_status':
      return setFailedStatus(draft, asked, ctx);
    default:
      return notNow(asked, ctx);
  }
}

/** Only what is taken back is done without the agent's own cell. */
function notNow({ about, code }: Pick<AskedOfFailed, 'about' | 'code'>, ctx: EntityContext): never {
  return refuse('cell_failed', { agent_id: about, ...FAILED, cause: failedAgentOf(about, ctx)?.code ?? code });
}

function deactivateFailed(draft: EntityState, asked: AskedOfFailed, ctx: EntityContext): Answer {
  const { about, code } = asked;
  const { grace_seconds } = argsOf(asked, 'agent_deactivate');
  const grace_ms = grace_seconds === undefined ? null : grace_seconds * 1_000;
  const before = heldBy(ctx, about);
  const refused = act(draft, { agent_id: about, act: 'deactivate', grace_ms }, ctx);
  const status = knownStatus(about, ctx);
  if (refused === 'illegal_transition' || status === 'removed') {
    if (status !== 'removed') keepHold(about, before, ctx);
    refuse('illegal_transition', { status, to: 'deactivated' });
  }
  if (failedAgentOf(about, ctx)?.via !== null) keepMissed({ ...asked, name: 'agent_deactivate' }, ctx);
  if (!heldBy(ctx, about).ended) keepHold(about, { ...before, ended: true }, ctx);
  archiveAsked(about, ctx);
  const grace_until = timeOf(ctx.now + (grace_ms ?? draft.grace_ms)) ?? '';
  return done({ about, code }, 'deactivated', { grace_until, archive_item_id: archiveIdOf(about, ctx.now) }, ctx);
}

/** The status of a failed agent, as far as this entity knows it: it made the agent, or was told. */
function knownStatus(about: string, ctx: EntityContext): AgentStatus | null {
  return failedAgentOf(about, ctx)?.status ?? ctx.table('children').get(about)?.status ?? null;
}

/** The agent is asked for it once it is revived. */
function keepMissed(asked: AskedOfFailed & Pick<Row<'unheard'>, 'name'>, ctx: EntityContext): void {
  keepUnheard({ ...asked, actor: actorOfCall(asked.call, ctx) }, ctx);
}

function narrowFailed(asked: AskedOfFailed, ctx: EntityContext): Answer {
  const { name, about, args, code } = asked;
  const cut = cutOf(name, args, ctx);
  if (cut === undefined) return notNow({ about, code }, ctx);
  keepMissed({ ...asked, name: 'agent_capabilities' }, ctx);
  keepHold(about, cutFurther(heldBy(ctx, about), cut), ctx);
  return done({ about, code }, failedAgentOf(about, ctx)?.status ?? null, cutReport(args, ctx), ctx);
}

/** What was taken back: all that is known of the capabilities of an agent that cannot be asked. */
function cutReport(args: Value, ctx: EntityContext): Readonly<Record<string, Value>> {
  const { capabilities = {}, grant = {}, subscriptions } = argsOf({ args }, 'agent_capabilities');
  const stated = Object.entries({ ...grant, ...capabilities }).filter(([, value]) => value !== null);
  const limited_by = stated.map(([dimension]) => ({ ancestor: idOf(ctx), dimension }));
  const left = Object.fromEntries(stated) as Value;
  const heard = subscriptions === undefined ? {} : refusedSubscriptions(subscriptions);
  return { declared: left, effective: left, limited_by, revision: 0, ...heard };
}

function setFailedStatus(draft: EntityState, asked: AskedOfFailed, ctx: EntityContext): Answer {
  const { about, code } = asked;
  const { to } = argsOf(asked, 'agent_set_status');
  if (to !== 'suspend' && to !== 'resume') return notNow(asked, ctx);
  const refused = act(draft, { agent_id: about, act: to, grace_ms: null }, ctx);
  if (refused === undefined) return done({ about, code }, to === 'suspend' ? 'suspended' : 'active', {}, ctx);
  if (refused === 'cell_failed') return notNow(asked, ctx);
  const { status = null, suspended = null } = failedAgentOf(about, ctx) ?? {};
  return refuse(refused, refused === 'not_authorized' ? { suspended_by: suspended?.by ?? null } : { status, to });
}

function act(
  draft: EntityState,
  asked: Omit<News<'society/ForFailed@1'>, 'by' | 'depth'>,
  ctx: EntityContext,
): string | undefined {
  return actForFailed(deputyOf(draft, ctx), { ...asked, by: idOf(ctx), depth: draft.depth }, ctx);
}

function done(
  { about, code }: Pick<AskedOfFailed, 'about' | 'code'>,
  status: string | null,
  more: Readonly<Record<string, Value>>,
  ctx: EntityContext,
): Answer {
  const known = status === null ? {} : { status };
  return {
    value: { agent_id: about, ...known, ...more, ...FAILED, code: failedAgentOf(about, ctx)?.code ?? code },
  };
}
