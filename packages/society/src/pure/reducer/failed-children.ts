/** Agents of this entity, and agents below them, whose cells have failed: what it does for them, and what its calls answer. */
import type { Address, Value } from '@reprise/contracts';
import type { EventHandlers, ReducerContext } from '@reprise/kernel/define';
import { failedJob, jobNumberOf, stopSessionOfFailed } from '@reprise/work/contracts';
import {
  type AgentCallOf,
  type AgentStatus,
  agentCalls,
  archiveIdOf,
  ENTITY,
  type EntityState,
  type entityTables,
  type ForFailed,
  type failedNews,
  SWARM,
  type Unheard,
} from '../contracts/index.js';
import { actorOfCall } from './actors.js';
import { answerCall, openCall } from './answers.js';
import { archiveAsked, beginArchive } from './archive.js';
import { rowKeyOf } from './caller.js';
import { clearRemoved } from './clearing.js';
import { idOf, tableOf } from './entity-context.js';
import { jobNews } from './entity-work.js';
import {
  actForFailed,
  agentFailed,
  agentLives,
  agentSession,
  type Deputy,
  dropTaken,
  endFailed,
  failedAgentOf,
  failedBelow,
  isEnd,
  type MadeAgent,
  ownFailedAgents,
  tellStatusAbove,
} from './failed-agents.js';
import {
  type Cut,
  carriedOut,
  cutFurther,
  cutOf,
  endedItself,
  heldBy,
  holdNow,
  keepHold,
  removedItself,
} from './holds.js';
import { refusedSubscriptions } from './inbox.js';
import { childStatusNews } from './member-news.js';
import { type Answer, isOfFailedCell, type Operations, refusal } from './operations.js';
import { unformedSwarmFailed } from './swarm-operations.js';
import { timeOf } from './time.js';
import { askUnheard, isUnheard, keepUnheard, stillUnheard, takeUnheard } from './unheard.js';

/** The handlers of the events about failed agents. */
export const failedHandlers: EventHandlers<EntityState, typeof failedNews, typeof entityTables> = {
  'society/AgentSession@1': (_draft, news, ctx) => agentSession(rowKeyOf(ctx), news, ctx),
  'society/AgentFailed@1': (draft, failed, ctx) => {
    const [reducer, key] = ctx.caller ?? ctx.reject('not_yours');
    failedBelow(failed, { via: [reducer, key], maker: draft.maker }, ctx);
    if (isEnd(failed.status)) tellSwarms(failed.agent_id, ctx);
  },
  'society/ForFailed@1': (draft, asked, ctx) => {
    actForFailed(deputyOf(draft, ctx), asked, ctx);
  },
  'society/Held@1': (draft, { call, about, code }, ctx) => {
    const row = openCall(call, ctx); // none where the kernel refused the hold
    if (row !== undefined)
      answerCall(draft, call, narrowFailed({ call, name: row.name, args: row.args, about, code }, ctx), ctx);
  },
};

/** A cell that this entity made has failed: one of its agents, or another one, such as a swarm. */
export function childFailed(
  draft: EntityState,
  { cell: [reducer, id], code }: { readonly cell: Address; readonly code: string },
  ctx: ReducerContext,
): void {
  if (reducer === SWARM) return unformedSwarmFailed(draft, id, ctx);
  const job = jobNumberOf(idOf(ctx), [reducer, id]);
  if (job !== undefined) {
    stopSessionOfFailed(ctx, id); // the first attempt is the only one: its session has the key of the job
    return jobNews(draft, { ...failedJob(job), session: id }, ctx);
  }
  if (reducer !== ENTITY) return;
  const known = tableOf(ctx, 'children').get(id);
  if (known === undefined) return;
  agentFailed({ agent_id: id, code, known }, draft.maker, ctx);
  if (isRemoved(draft)) endFailed(deputyOf(draft, ctx), { agent_id: id, reason: 'ancestor', grace_ms: null }, ctx);
}

/** This entity, or one above it, was removed: its agents end, also those whose cells have failed (SOC-89). */
export function endFailedBelow(draft: EntityState, ctx: ReducerContext): void {
  if (!isRemoved(draft)) return;
  for (const agent_id of ownFailedAgents(ctx))
    endFailed(deputyOf(draft, ctx), { agent_id, reason: 'ancestor', grace_ms: null }, ctx);
}

function isRemoved({ status, orphaned }: Pick<EntityState, 'status' | 'orphaned'>): boolean {
  return orphaned || status === 'removed';
}

/** An agent of this entity tells of its status. */
export function childStatus(draft: EntityState, told: MadeAgent, ctx: ReducerContext): void {
  const id = rowKeyOf(ctx);
  agentLives(id, ctx);
  const isKnown = tableOf(ctx, 'children').get(id)?.status !== 'removed';
  childMoved(draft, id, told, ctx);
  if (told.status === 'removed') childRemoved(id, isKnown, ctx);
  else if (told.status === 'deactivated') endedItself(id, ctx);
}

/** @param isKnown whether no row was dropped: where one was, the agent was removed for its failed cell */
function childRemoved(id: string, isKnown: boolean, ctx: ReducerContext): void {
  const { ended, narrowed } = heldBy(ctx, id);
  if (!isKnown || ended || narrowed !== null) removedItself(id, ctx);
  dropTaken(id, ctx);
}

/** This entity, as far as it acts for its agents. */
export function deputyOf(draft: EntityState, ctx: ReducerContext): Deputy {
  return {
    grace_ms: draft.grace_ms,
    changed: (agent_id, to) => {
      childMoved(draft, agent_id, to, ctx);
      tellStatusAbove(agent_id, draft.maker, ctx);
      if (isEnd(to.status)) tellSwarms(agent_id, ctx);
      const key_ref = tableOf(ctx, 'children').get(agent_id)?.key_ref ?? null;
      if (to.status === 'removed') clearRemoved(draft, { agent_id, key_ref }, ctx);
    },
  };
}

/** An agent at or below this entity was ended for its failed cell: a swarm of this entity that it led hears so (SOC-63). */
function tellSwarms(agent_id: string, ctx: ReducerContext): void {
  for (const [swarm] of tableOf(ctx, 'swarms').range())
    ctx.send([SWARM, swarm], { name: 'society/FailedEnded@1', value: { agent_id } });
}

function childMoved(
  draft: EntityState,
  id: string,
  { status, expires_at, grace_until }: MadeAgent,
  ctx: ReducerContext,
): void {
  const children = tableOf(ctx, 'children');
  const row = children.get(id);
  if (row === undefined || row.status === 'removed') return; // final, also where the agent did not hear of it
  children.set(id, { ...row, status, expires_at, grace_until });
  if (row.status === status) return;
  childStatusNews(id, row.status, status, ctx);
  if (status === 'deactivated') beginArchive(id, ctx);
  if (status === 'removed') draft.children--;
}

/** Begins the tag of a hold that a call begins with: where the kernel refuses it, no such agent stands below. */
export const HOLD_TAG = 'hold.';

/** The kernel refused the hold of a call. */
export function holdRefused(draft: EntityState, tag: string, ctx: ReducerContext): void {
  answerCall(draft, tag.slice(HOLD_TAG.length), refusal('agent_unknown'), ctx);
}

/** A call about an agent below is sent to it: what it takes is cut at once (holds/L1). */
export function cutAtOnce(
  { call, name, args }: { readonly call: string; readonly name: string; readonly args: Value },
  about: string,
  ctx: ReducerContext,
): void {
  const cut = cutOf(name, args, ctx);
  if (cut === undefined || !(cut.ended || failedAgentOf(about, ctx) !== undefined)) return;
  holdNow(about, cutFurther(heldBy(ctx, about), cut), ctx, `${HOLD_TAG}${call}`);
}

interface ToldCall {
  readonly agent_id: string;
  readonly call: string;
  readonly value: Value;
  readonly is_error: boolean;
}

/** Whether an answer is from the agent that the call is about: itself, or its hot context. */
export function isAnswerOf(operations: Operations, { agent_id, call }: ToldCall, ctx: ReducerContext): boolean {
  const row = openCall(call, ctx);
  const op = row && operations[row.name];
  return isIts(agent_id, ctx) && agent_id !== idOf(ctx) && op?.about?.(op.args.parse(row?.args)) === agent_id;
}

/** Whether an agent speaks of itself: an agent of this entity, or the hot context of one further below. */
function isIts(agent_id: string, { rowKey }: ReducerContext): boolean {
  return (rowKey ?? agent_id) === agent_id;
}

/** An agent below has answered a call itself: it is held to nothing more that the call took (holds/L2). */
export function answeredBelow({ agent_id, call, is_error }: ToldCall, ctx: ReducerContext): void {
  agentLives(agent_id, ctx);
  const row = openCall(call, ctx);
  const cut = row && cutOf(row.name, row.args, ctx);
  if (cut !== undefined) carriedOutBy(agent_id, cut, is_error, ctx);
}

/** An agent that was revived has answered a call that it had not heard. @returns whether it was one */
export function unheardAnswered({ depth }: Pick<EntityState, 'depth'>, told: ToldCall, ctx: ReducerContext): boolean {
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

function carriedOutBy(agent_id: string, cut: Cut, is_error: boolean, ctx: ReducerContext): void {
  const before = heldBy(ctx, agent_id);
  const left = is_error && !cut.ended ? before : carriedOut(before, cut);
  const unheard = stillUnheard(agent_id, ctx).flatMap(({ name, args }) => cutOf(name, args, ctx) ?? []);
  keepHold(agent_id, unheard.reduce(cutFurther, left), ctx);
}

/** A call did not reach the agent that it is about: its cell has failed, or it is no agent below this entity. */
export function notReached(draft: EntityState, { call, about, code }: NotReached, ctx: ReducerContext): void {
  const row = openCall(call, ctx);
  if (row === undefined) return;
  const { name, args } = row;
  const cut = cutOf(name, args, ctx);
  if (isOfFailedCell(code) && cut?.ended === false && failedAgentOf(about, ctx) === undefined) {
    holdNow(about, cutFurther(heldBy(ctx, about), cut), ctx, `${HOLD_TAG}${call}`);
    return ctx.send(ctx.address, { name: 'society/Held@1', value: { call, about, code } });
  }
  if (isOfFailedCell(code))
    return answerCall(draft, call, answerFor(draft, { call, name, args, about, code }, ctx), ctx);
  if (cut !== undefined) holdNow(about, heldBy(ctx, about), ctx);
  answerCall(draft, call, refusal('agent_unknown'), ctx);
}

interface NotReached {
  readonly call: string;
  readonly about: string;
  /** Why the kernel did not deliver it. */
  readonly code: string;
}

interface AskedOfFailed {
  readonly call: string;
  readonly name: string;
  readonly args: Value;
  readonly about: string;
  readonly code: string;
}

function answerFor(draft: EntityState, asked: AskedOfFailed, ctx: ReducerContext): Answer {
  // An agent below that has failed is known, unless a cell between has failed, too: then the kernel is asked by a hold.
  if (asked.name !== 'agent_deactivate' && failedAgentOf(asked.about, ctx) === undefined)
    return refusal('agent_unknown');
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
function notNow({ about, code }: Pick<AskedOfFailed, 'about' | 'code'>, ctx: ReducerContext): Answer {
  return refusal('cell_failed', { agent_id: about, cell: 'failed', cause: failedAgentOf(about, ctx)?.code ?? code });
}

function deactivateFailed(draft: EntityState, asked: AskedOfFailed, ctx: ReducerContext): Answer {
  const { about, args, code } = asked;
  const { grace_seconds } = agentCalls.agent_deactivate.parse(args);
  const grace_ms = grace_seconds === undefined ? null : grace_seconds * 1_000;
  const before = heldBy(ctx, about);
  const refused = act(draft, { agent_id: about, act: 'deactivate', grace_ms }, ctx);
  const status = knownStatus(about, ctx);
  if (refused === 'illegal_transition' || status === 'removed') {
    if (status !== 'removed') keepHold(about, before, ctx);
    return refusal('illegal_transition', { status, to: 'deactivated' });
  }
  if (failedAgentOf(about, ctx)?.via !== null) keepMissed({ ...asked, name: 'agent_deactivate' }, ctx);
  if (!heldBy(ctx, about).ended) keepHold(about, { ...before, ended: true }, ctx);
  archiveAsked(about, ctx);
  const grace_until = timeOf(ctx.now + (grace_ms ?? draft.grace_ms)) ?? '';
  return done({ about, code }, 'deactivated', { grace_until, archive_item_id: archiveIdOf(about, ctx.now) }, ctx);
}

/** The status of a failed agent, as far as this entity knows it: it made the agent, or was told. */
function knownStatus(about: string, ctx: ReducerContext): AgentStatus | null {
  return failedAgentOf(about, ctx)?.status ?? tableOf(ctx, 'children').get(about)?.status ?? null;
}

/** The agent is asked for it once it is revived. */
function keepMissed(asked: AskedOfFailed & Pick<Unheard, 'name'>, ctx: ReducerContext): void {
  keepUnheard({ ...asked, actor: actorOfCall(asked.call, ctx) }, ctx);
}

function narrowFailed(asked: AskedOfFailed, ctx: ReducerContext): Answer {
  const { name, about, args, code } = asked;
  const cut = cutOf(name, args, ctx);
  if (cut === undefined) return notNow({ about, code }, ctx);
  keepMissed({ ...asked, name: 'agent_capabilities' }, ctx);
  keepHold(about, cutFurther(heldBy(ctx, about), cut), ctx);
  return done({ about, code }, failedAgentOf(about, ctx)?.status ?? null, cutReport(args, ctx), ctx);
}

/** What was taken back: all that is known of the capabilities of an agent that cannot be asked. */
function cutReport(args: Value, ctx: ReducerContext): Readonly<Record<string, Value>> {
  const { capabilities = {}, grant = {}, subscriptions } = agentCalls.agent_capabilities.parse(args);
  const stated = Object.entries({ ...grant, ...capabilities }).filter(([, value]) => value !== null);
  const limited_by = stated.map(([dimension]) => ({ ancestor: idOf(ctx), dimension }));
  const left = Object.fromEntries(stated) as Value;
  const heard = subscriptions === undefined ? {} : refusedSubscriptions(subscriptions);
  return { declared: left, effective: left, limited_by, revision: 0, ...heard };
}

function setFailedStatus(draft: EntityState, asked: AskedOfFailed, ctx: ReducerContext): Answer {
  const { about, code } = asked;
  const { to }: AgentCallOf<'agent_set_status'> = agentCalls.agent_set_status.parse(asked.args);
  if (to !== 'suspend' && to !== 'resume') return notNow(asked, ctx);
  const refused = act(draft, { agent_id: about, act: to, grace_ms: null }, ctx);
  if (refused === undefined) return done({ about, code }, to === 'suspend' ? 'suspended' : 'active', {}, ctx);
  if (refused === 'cell_failed') return notNow(asked, ctx);
  const { status = null, suspended = null } = failedAgentOf(about, ctx) ?? {};
  return refusal(refused, refused === 'not_authorized' ? { suspended_by: suspended?.by ?? null } : { status, to });
}

function act(draft: EntityState, asked: Omit<ForFailed, 'by' | 'depth'>, ctx: ReducerContext): string | undefined {
  return actForFailed(deputyOf(draft, ctx), { ...asked, by: idOf(ctx), depth: draft.depth }, ctx);
}

function done(
  { about, code }: Pick<AskedOfFailed, 'about' | 'code'>,
  status: string | null,
  more: Readonly<Record<string, Value>>,
  ctx: ReducerContext,
): Answer {
  const known = status === null ? {} : { status };
  return {
    value: { agent_id: about, ...known, ...more, cell: 'failed', code: failedAgentOf(about, ctx)?.code ?? code },
  };
}
