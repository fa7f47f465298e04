/** The status of an agent: which changes are legal, and what comes with each, in the delivery of the change. */
import { type Actor, present } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import {
  type AgentStatus,
  type EntityState,
  GROUP,
  SOCIETY_BOUNDS,
  type StatusReason,
  swarmAt,
} from '../contracts/index.js';
import { idOf, passRemoved, tableOf } from './entity-context.js';
import { statusNews } from './member-news.js';
import { isOfFailedCell } from './operations.js';
import { changeRights, setSwarmRights } from './rights.js';
import { commandSessions } from './sessions.js';
import { isLegal } from './status-table.js';
import { pauseWorks, resumeWorks, stopWorks } from './works.js';

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

/** Why a status changes. */
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
  ctx: ReducerContext,
): void {
  const from = draft.status;
  if (!isLegal(from, to)) ctx.reject('illegal_transition');
  const letBelow = isActive(draft);
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
  followSessions(from, to, ctx);
  tellMaker(draft, ctx);
  if (letBelow !== isActive(draft) || to === 'removed') tellStatus(draft, ctx);
  if (to === 'removed') leaveGroups(ctx);
}

/** A removed agent is a member of nothing: each group hears so from it. */
export function leaveGroups(ctx: ReducerContext): void {
  const leaving = { name: 'society/Leave@1', value: { entity: idOf(ctx) } };
  for (const [group] of tableOf(ctx, 'memberships').range()) ctx.send([GROUP, group], leaving);
}

/** The first operation of an agent makes it active. */
export function operated(draft: EntityState, ctx: ReducerContext): void {
  if (draft.kind !== 'person' && draft.status === 'registered') setStatus(draft, 'active', { reason: 'operated' }, ctx);
}

/**
 * Counts a failed operation: too many within ten minutes suspend the agent.
 *
 * @param isLimited whether the service refused it for a limit on requests: that suspends the agent at once
 */
export function operationFailed(draft: EntityState, isLimited: boolean, ctx: ReducerContext): void {
  if (draft.kind === 'person' || draft.status !== 'active') return;
  if (isLimited) return suspendForNow(draft, 'rate_limit', ctx);
  const recent = draft.failures.filter((at) => at > ctx.now - SOCIETY_BOUNDS.failures_ms);
  draft.failures = [...recent, ctx.now].slice(-SOCIETY_BOUNDS.failures);
  if (draft.failures.length < SOCIETY_BOUNDS.failures) return;
  suspendForNow(draft, 'failures', ctx);
}

/** Suspends the agent until it has cooled down. */
function suspendForNow(draft: EntityState, reason: 'failures' | 'rate_limit', ctx: ReducerContext): void {
  draft.failures = [];
  setStatus(draft, 'suspended', { reason, by: { id: null, depth: SOCIETY_BOUNDS.depth + 1 } }, ctx);
  ctx.timer(COOLDOWN, ctx.now + SOCIETY_BOUNDS.cooldown_ms);
}

/** Whether the agent is suspended until it has cooled down. */
function coolsDown({ suspended }: Pick<EntityState, 'suspended'>): boolean {
  return suspended?.reason === 'failures' || suspended?.reason === 'rate_limit';
}

/** The parent agent is active, or is not: an agent that is not autonomous stands still with it (CAP-7). */
export function parentChanged(
  draft: EntityState,
  { active, removed }: { readonly active: boolean; readonly removed: boolean },
  by: ChangedBy,
  ctx: ReducerContext,
): void {
  draft.parent_active = active;
  if (removed) return endWithAbove(draft, by, ctx);
  if (draft.declared.autonomous === true) return;
  const isHeld = draft.suspended?.reason === 'ancestor';
  if (!active && draft.status === 'active') setStatus(draft, 'suspended', { reason: 'ancestor', by }, ctx);
  else if (active && draft.status === 'suspended' && isHeld) setStatus(draft, 'active', { reason: 'ancestor' }, ctx);
}

/** An agent above was removed: this one ends, and so do all below it (SOC-89). */
function endWithAbove(draft: EntityState, by: ChangedBy, ctx: ReducerContext): void {
  draft.orphaned = true;
  if (isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'ancestor', by }, ctx);
  tellStatus(draft, ctx);
}

/** A timer of the agent has fired. Timers of an earlier status were cleared; one that is left means nothing. */
export function statusTimer(draft: EntityState, name: string, ctx: ReducerContext): void {
  if (name === TTL && isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'ttl' }, ctx);
  else if (name === GRACE && draft.status === 'deactivated') setStatus(draft, 'removed', { reason: 'grace_over' }, ctx);
  else if (name === COOLDOWN && draft.status === 'suspended' && coolsDown(draft))
    setStatus(draft, 'active', { reason: 'cooled_down' }, ctx);
}

/** Sets the timers that the status needs, and clears the others. */
export function setTimers({ status, expires_at, grace_until }: EntityState, ctx: ReducerContext): void {
  const lives = status === 'registered' || status === 'active' || status === 'suspended';
  if (lives && expires_at !== null) ctx.timer(TTL, expires_at);
  else ctx.clearTimer(TTL);
  if (status === 'deactivated' && grace_until !== null) ctx.timer(GRACE, grace_until);
  else ctx.clearTimer(GRACE);
  if (status !== 'suspended') ctx.clearTimer(COOLDOWN);
}

/** Sets again the timers that may have fired in vain while this cell had failed: a cooling down begins anew. */
export function timeAgain(draft: EntityState, ctx: ReducerContext): void {
  setTimers(draft, ctx);
  if (coolsDown(draft)) ctx.timer(COOLDOWN, ctx.now + SOCIETY_BOUNDS.cooldown_ms);
}

/** Has all agents of this entity hear whether it is active. */
function tellStatus(draft: EntityState, ctx: ReducerContext): void {
  if (draft.children === 0 && tableOf(ctx, 'swarms').size === 0) return;
  const isTelling = draft.telling.above !== null || draft.telling.status !== null;
  draft.telling.status = '';
  if (!isTelling) ctx.send(ctx.address, { name: 'society/Continue@1', value: {} });
}

/** The agents that one delivery tells; the rest follows before any other input. */
const TOLD_AT_ONCE = 64;

/** Tells some agents what they are to hear, and goes on with the others. */
export function tellChildren(draft: EntityState, above: () => object, ctx: ReducerContext): void {
  const what = draft.telling.above !== null ? 'above' : draft.telling.status !== null ? 'status' : undefined;
  if (what === undefined) return;
  const after = draft.telling[what] ?? '';
  const rows = tableOf(ctx, 'children').range({ ...(after === '' ? {} : { after }), limit: TOLD_AT_ONCE });
  const event =
    what === 'above'
      ? { name: 'society/Above@1', value: above() }
      : { name: 'society/ParentStatus@1', value: parentStatus(draft, ctx) };
  if (after === '') {
    for (const [swarm] of tableOf(ctx, 'swarms').range()) {
      if (what === 'above') setSwarmRights(draft, swarm, ctx);
      tellSwarm(swarm, event, ctx);
    }
  }
  for (const [id, { status }] of rows) if (status !== 'removed') ctx.send(['society/Entity@1', id], event);
  const last = rows.at(-1)?.[0];
  draft.telling[what] = rows.length === TOLD_AT_ONCE && last !== undefined ? last : null;
  const more = draft.telling.above !== null || draft.telling.status !== null;
  if (more) ctx.send(ctx.address, { name: 'society/Continue@1', value: {} });
}

/** What agents below hear of this entity: whether they may act. */
export function parentStatus(draft: EntityState, ctx: ReducerContext) {
  return {
    active: isActive(draft),
    removed: draft.orphaned || draft.status === 'removed',
    by: idOf(ctx),
    depth: draft.depth,
  };
}

/** The swarms that the entity created end with it: what their agents may do ended in this delivery. */
function endSwarms(ctx: ReducerContext): void {
  const event = { name: 'society/CreatorOver@1', value: {} };
  for (const [swarm] of tableOf(ctx, 'swarms').range()) tellSwarm(swarm, event, ctx);
}

/** A swarm passes on to its agents what it hears; one that was taken back hears nothing. */
function tellSwarm(swarm: string, event: { readonly name: string; readonly value: object }, ctx: ReducerContext): void {
  ctx.send(swarmAt(swarm), event, { reply: 'refusal', tag: `${SWARM_GONE_TAG}${swarm}` });
}

/** A swarm did not take what it was told: one that is gone is forgotten, one whose cell has failed is not. */
export function swarmGone(tag: string, code: string, ctx: ReducerContext): void {
  if (!isOfFailedCell(code)) tableOf(ctx, 'swarms').delete(tag.slice(SWARM_GONE_TAG.length));
}

/** Begins the tag of what a swarm is told: of one that is gone, it comes back. */
export const SWARM_GONE_TAG = 'swarm-gone.';

/** Whether agents below may act: a person always lets them. */
function isActive({ kind, status }: EntityState): boolean {
  return kind === 'person' || status === 'active' || status === 'registered';
}

/** Tells the maker the status of this agent, and when it ends. */
export function tellMaker({ maker, status, expires_at, grace_until, key_ref }: EntityState, ctx: ReducerContext): void {
  if (maker === null) return;
  ctx.send([maker[0], maker[1]], { name: 'society/ChildStatus@1', value: { status, expires_at, grace_until } });
  if (status === 'removed') passRemoved(maker, { agent_id: idOf(ctx), key_ref }, ctx);
}

/** Sessions stand still, go on, or close with their agent. Nothing that runs is cancelled by a suspension (SOC-36). */
function followSessions(from: AgentStatus, to: AgentStatus, ctx: ReducerContext): void {
  if (to === 'suspended') {
    commandSessions('Pause', ctx);
    pauseWorks(ctx);
  } else if (to === 'active' && from === 'suspended') {
    commandSessions('Resume', ctx);
    resumeWorks(ctx);
  } else if (to === 'deactivated') {
    commandSessions('Close', ctx);
    stopWorks(ctx);
    endSwarms(ctx);
  }
}
