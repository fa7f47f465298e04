/** The status of an agent: which changes are legal, and what comes with each, in the delivery of the change. */

import { type Actor, present } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { pauseWork, resumeWork, someRows, stopWork } from '@reprise/org/contracts';
import { type AgentStatus, entityAt, GROUP, isLegal, SOCIETY_BOUNDS } from '../../contracts/cell/names.js';
import type { EntityState, StatusReason } from '../../contracts/entity/entity.js';
import { type EntityContext, idOf, sendUp } from '../context/entity.js';
import { statusNews } from '../inbox/member-news.js';
import { changeRights, tellBelow } from '../rights/rights.js';
import { commandSessions } from './sessions.js';
import { letsAct, tellSwarms, toldBelow } from './told-below.js';

/** The timers of an agent: its end by ttl, the end of its time of grace, and that of a suspension for failures or a limit. */
const TTL = 'ttl';
const GRACE = 'grace';
const COOLDOWN = 'cooldown';

/** Who changes a status, and how deep that entity stands. */
interface ChangedBy {
  readonly id: string | null;
  readonly depth: number;
  /** Who acted in its name; absent where nobody asked. */
  readonly actor?: Actor;
}

/** No entity: the agent itself, or time. */
const BY_ITSELF: ChangedBy = { id: null, depth: 0 };

interface StatusChange {
  readonly reason: StatusReason;
  readonly by?: ChangedBy;
  /** The time of grace of an end, in milliseconds. */
  readonly grace_ms?: number;
  /** Whether the groups know it: the maker did this for the failed cell. */
  readonly isSaid?: boolean;
}

/** Changes the status, with all that follows from it. The change must be legal. */
export function setStatus(
  draft: EntityState,
  to: AgentStatus,
  { reason, by = BY_ITSELF, grace_ms = draft.grace_ms, isSaid = false }: StatusChange,
  ctx: EntityContext,
): void {
  const from = draft.status;
  if (!isLegal(from, to)) ctx.reject('illegal_transition');
  const letBelow = letsAct(draft);
  changeRights(draft, ctx, () => {
    draft.status = to;
    draft.epoch++;
    draft.reason = reason;
    draft.suspended = to === 'suspended' ? { by: by.id, depth: by.depth, reason } : null;
    draft.grace_until = to === 'deactivated' ? ctx.now + grace_ms : null;
  });
  const { epoch } = draft;
  const asked = present({ by: by.actor });
  ctx.record('society/StatusChanged@1', { agent_id: idOf(ctx), old: from, new: to, reason, epoch, ...asked });
  if (!isSaid) statusNews(draft, from, to, ctx);
  setTimers(draft, ctx);
  followSessions(draft, from, to, ctx);
  tellMaker(draft, ctx);
  if (letBelow !== letsAct(draft) || to === 'removed') tellBelow(draft, 'status', ctx);
  if (to === 'removed') leaveGroups(ctx);
}

/** A removed agent is a member of nothing: each group hears so from it. */
export function leaveGroups(ctx: EntityContext): void {
  const leaving = { name: 'society/Leave@1', value: { entity: idOf(ctx) } };
  for (const [group] of allRows(ctx.table('memberships'))) ctx.send([GROUP, group], leaving);
}

/** The first operation of an agent makes it active. */
export function operated(draft: EntityState, ctx: EntityContext): void {
  if (draft.kind !== 'person' && draft.status === 'registered') setStatus(draft, 'active', { reason: 'operated' }, ctx);
}

/**
 * Counts a failed operation: too many within ten minutes suspend the agent.
 *
 * @param isLimited whether the service refused it for a limit on requests: that suspends the agent at once
 */
export function operationFailed(draft: EntityState, isLimited: boolean, ctx: EntityContext): void {
  if (draft.kind === 'person' || draft.status !== 'active') return;
  if (isLimited) return suspendForNow(draft, 'rate_limit', ctx);
  const recent = draft.failures.filter((at) => at > ctx.now - SOCIETY_BOUNDS.failures_ms);
  draft.failures = [...recent, ctx.now].slice(-SOCIETY_BOUNDS.failures);
  if (draft.failures.length < SOCIETY_BOUNDS.failures) return;
  suspendForNow(draft, 'failures', ctx);
}

function suspendForNow(draft: EntityState, reason: 'failures' | 'rate_limit', ctx: EntityContext): void {
  draft.failures = [];
  setStatus(draft, 'suspended', { reason, by: { id: null, depth: SOCIETY_BOUNDS.depth + 1 } }, ctx);
  ctx.timer(COOLDOWN, ctx.now + SOCIETY_BOUNDS.cooldown_ms);
}

function coolsDown({ suspended }: Pick<EntityState, 'suspended'>): boolean {
  return suspended?.reason === 'failures' || suspended?.reason === 'rate_limit';
}

/** The parent agent is active, or is not: an agent that is not autonomous stands still with it (CAP-7). */
export function parentChanged(
  draft: EntityState,
  { active, removed }: { readonly active: boolean; readonly removed: boolean },
  by: ChangedBy,
  ctx: EntityContext,
): void {
  draft.parent_active = active;
  if (removed) {
    // An agent above was removed: this one ends, and so do all below it (SOC-89).
    draft.orphaned = true;
    if (isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'ancestor', by }, ctx);
    return tellBelow(draft, 'status', ctx);
  }
  if (draft.declared.autonomous === true) return;
  const isHeld = draft.suspended?.reason === 'ancestor';
  if (!active && draft.status === 'active') setStatus(draft, 'suspended', { reason: 'ancestor', by }, ctx);
  else if (active && draft.status === 'suspended' && isHeld) setStatus(draft, 'active', { reason: 'ancestor' }, ctx);
}

/** A timer of the agent has fired. Timers of an earlier status were cleared; one that is left means nothing. */
export function statusTimer(draft: EntityState, name: string, ctx: EntityContext): void {
  if (name === TTL && isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'ttl' }, ctx);
  else if (name === GRACE && draft.status === 'deactivated') setStatus(draft, 'removed', { reason: 'grace_over' }, ctx);
  else if (name === COOLDOWN && draft.status === 'suspended' && coolsDown(draft))
    setStatus(draft, 'active', { reason: 'cooled_down' }, ctx);
}

/** Sets the timers that the status needs, and clears the others. */
export function setTimers({ status, expires_at, grace_until }: EntityState, ctx: EntityContext): void {
  const lives = status === 'registered' || status === 'active' || status === 'suspended';
  if (lives && expires_at !== null) ctx.timer(TTL, expires_at);
  else ctx.clearTimer(TTL);
  if (status === 'deactivated' && grace_until !== null) ctx.timer(GRACE, grace_until);
  else ctx.clearTimer(GRACE);
  if (status !== 'suspended') ctx.clearTimer(COOLDOWN);
}

/** Sets again the timers that may have fired in vain while this cell had failed: a cooling down begins anew. */
export function timeAgain(draft: EntityState, ctx: EntityContext): void {
  setTimers(draft, ctx);
  if (coolsDown(draft)) ctx.timer(COOLDOWN, ctx.now + SOCIETY_BOUNDS.cooldown_ms);
}

/** Tells some agents what they are to hear; its swarms hear it first. */
export function tellChildren(
  draft: EntityState,
  what: 'above' | 'status',
  after: string,
  ctx: EntityContext,
): string | undefined {
  if (after === '') tellSwarms(draft, what, ctx);
  const event = toldBelow(draft, what, ctx);
  return someRows(ctx.table('children'), { after }, (id, { status }) => {
    if (status !== 'removed') ctx.send(entityAt(id), event);
  });
}

/** Tells the maker the status of this agent, and when it ends. */
export function tellMaker({ maker, status, expires_at, grace_until, key_ref }: EntityState, ctx: EntityContext): void {
  sendUp(maker, { name: 'society/ChildStatus@1', value: { status, expires_at, grace_until } }, ctx);
  if (status === 'removed') sendUp(maker, { name: 'society/Removed@1', value: { agent_id: idOf(ctx), key_ref } }, ctx);
}

/** Does something with each work for its swarm that has not ended. */
export function eachWork(ctx: EntityContext, act: (ctx: EntityContext, n: number) => void): void {
  for (const [at] of allRows(ctx.table('works'))) act(ctx, Number(at));
}

/** Sessions stand still, go on, or close with their agent. Nothing that runs is cancelled by a suspension (SOC-36). */
function followSessions(draft: EntityState, from: AgentStatus, to: AgentStatus, ctx: EntityContext): void {
  if (to === 'suspended') {
    commandSessions('Pause', ctx);
    eachWork(ctx, pauseWork);
  } else if (to === 'active' && from === 'suspended') {
    commandSessions('Resume', ctx);
    eachWork(ctx, resumeWork);
  } else if (to === 'deactivated') {
    commandSessions('Close', ctx);
    eachWork(ctx, (own, n) => stopWork(own, n, 'agent_deactivated'));
    tellSwarms(draft, 'over', ctx); // what their agents may do ended in this delivery
  }
}
