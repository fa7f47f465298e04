/**
 * Agents whose cells have failed. Their maker acts for them: it keeps their status, their end and their time of grace, stops
 * and closes their sessions, and clears what they leave. Entities further up are told, and pass on what they ask.
 *
 * Invariants
 * F1  Nothing here gives a right: an end is a hold of this cell, and a suspension pauses sessions and cancels nothing (SOC-36).
 * F2  What an agent says itself counts again as soon as it says something; what it is held to stays until it says so itself.
 * F3  Each row of this cell's own agents is watched by one timer, the earliest of all.
 */

import { type Address, present } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { NO_RIGHTS } from '../../compile/index.js';
import { type AgentStatus, entityAt, formatHolder, isLegal, l1At } from '../../contracts/cell/names.js';
import type { News, Row } from '../../contracts/entity-parts.js';
import { isOfFailedCell } from '../call/operations.js';
import { type Replied, refusedTo } from '../call/replies.js';
import { type MakerContext, sendUp } from '../context/entity.js';
import { recordedSides } from '../rights/recorded.js';
import { commandSession, isSessionOf } from '../rights/session.js';
import { dropHold, heldBy, keepHold } from './holds.js';

export type MadeAgent = News<'society/ChildStatus@1'>;

/** The maker of agents, as far as it acts for them. */
export interface Deputy {
  /** The time of grace of an end that states none, in milliseconds. */
  readonly grace_ms: number;
  /** The maker changed what it knows of an agent: its own row follows, and what comes with the new status. */
  changed(agent_id: string, to: MadeAgent): void;
}

/** The cell of an agent has failed. @param maker the cell above this one, which is told; null for a person */
export function agentFailed(
  { agent_id, code, known }: { readonly agent_id: string; readonly code: string; readonly known: MadeAgent },
  maker: Address | null,
  ctx: MakerContext,
): void {
  const { status, expires_at, grace_until } = known;
  if (status === 'removed') return;
  ctx
    .table('failed')
    .set(agent_id, { code, via: null, status, expires_at, grace_until, suspended: null, reason: null });
  watchFailed(ctx);
  ctx.send(l1At(agent_id), { name: 'society/TellSessions@1', value: {} }); // this cell may have missed one
  tellFailed({ agent_id, code, status }, maker, ctx);
}

/** An agent further below has failed: this cell knows the way to its maker. */
export function failedBelow(
  failed: News<'society/AgentFailed@1'>,
  { via, maker }: { readonly via: Address; readonly maker: Address | null },
  ctx: MakerContext,
): void {
  const { agent_id, code, status } = failed;
  const row = { code, via, status, expires_at: null, grace_until: null };
  const known = ctx.table('failed').get(agent_id);
  const suspended = known?.status === status ? known.suspended : null; // its maker tells what this entity asked for
  ctx.table('failed').set(agent_id, { ...row, suspended, reason: null });
  tellFailed(failed, maker, ctx);
}

/** An agent has said something itself: it has been revived. */
export function agentLives(agent_id: string, ctx: MakerContext): void {
  if (ctx.table('failed').get(agent_id) === undefined) return;
  ctx.table('failed').delete(agent_id);
  watchFailed(ctx);
}

/** Tells the maker of this cell the status that it has changed for a failed agent: also entities further up act by it. */
export function tellStatusAbove(agent_id: string, maker: Address | null, ctx: MakerContext): void {
  const row = ctx.table('failed').get(agent_id);
  if (row !== undefined) tellFailed({ agent_id, code: row.code, status: row.status }, maker, ctx);
}

/** Tells the maker of this cell that an agent at or below it was revived. */
export function tellBack(maker: Address | null, agent_id: string, ctx: MakerContext): void {
  sendUp(maker, { name: 'society/AgentBack@1', value: { agent_id } }, ctx);
}

/** Tells the maker of this agent again which agents below have failed. */
export function tellFailedAgain(maker: Address | null, ctx: MakerContext): void {
  for (const [agent_id, { code, status }] of allRows(ctx.table('failed')))
    tellFailed({ agent_id, code, status }, maker, ctx);
}

export function failedAgentOf(agent_id: string, ctx: MakerContext): Row<'failed'> | undefined {
  return ctx.table('failed').get(agent_id);
}

/**
 * Acts for a failed agent, or has its maker do so.
 *
 * @returns the code of a refusal; undefined when it was done
 */
export function actForFailed(
  deputy: Deputy,
  asked: News<'society/ForFailed@1'>,
  ctx: MakerContext,
): string | undefined {
  const row = ctx.table('failed').get(asked.agent_id);
  if (row === undefined) return 'cell_failed';
  const refused = refusedAct(row, asked);
  if (refused !== undefined) return refused;
  const { agent_id, act, by, depth, grace_ms } = asked;
  const suspended = act === 'suspend' ? { by, depth } : null;
  const status = act === 'deactivate' ? 'deactivated' : act === 'suspend' ? 'suspended' : 'active';
  if (row.via !== null) {
    ctx.table('failed').set(agent_id, { ...row, status, suspended });
    ctx.send(row.via, { name: 'society/ForFailed@1', value: asked });
  } else if (act === 'deactivate') {
    endFailed(deputy, { agent_id, reason: 'asked', grace_ms }, ctx);
  } else {
    commandAgentSessions(act === 'suspend' ? 'Pause' : 'Resume', agent_id, ctx);
    move(deputy, { agent_id, row, reason: 'asked' }, { ...row, status, suspended }, ctx);
  }
  return undefined;
}

/** Ends a failed agent for its maker: by a hold, for its own cell cannot. */
export function endFailed(deputy: Deputy, { agent_id, reason, grace_ms }: EndOfFailed, ctx: MakerContext): void {
  const row = ctx.table('failed').get(agent_id);
  if (row === undefined || row.via !== null || !isLegal(row.status, 'deactivated')) return;
  keepHold(agent_id, { ...heldBy(ctx, agent_id), ended: true }, ctx);
  // The sides of an ended agent have no end of their own: else its hot context could not answer the archive any more.
  const sides = recordedSides({ exercise: NO_RIGHTS, grant: NO_RIGHTS });
  ctx.command('sys/SetRights@1', { holder: formatHolder(agent_id), ...sides });
  commandAgentSessions('Close', agent_id, ctx);
  const grace_until = ctx.now + (grace_ms ?? deputy.grace_ms);
  move(deputy, { agent_id, row, reason }, { ...row, status: 'deactivated', grace_until, suspended: null }, ctx);
}

interface EndOfFailed {
  readonly agent_id: string;
  readonly reason: NonNullable<Row<'failed'>['reason']>;
  /** The time of grace; null for the usual one. */
  readonly grace_ms: number | null;
}

/** The timer has fired. @returns whether it was the one of this file */
export function failedTimer(deputy: Deputy, name: string, ctx: MakerContext): boolean {
  if (name !== TIMER) return false;
  const due = ownFailed(ctx).filter(([, row]) => (dueOf(row) ?? Number.POSITIVE_INFINITY) <= ctx.now);
  for (const [agent_id, row] of due.slice(0, AT_ONCE)) {
    if (row.status === 'deactivated') removeFailed(deputy, agent_id, row, ctx);
    else endFailed(deputy, { agent_id, reason: 'ttl', grace_ms: null }, ctx);
  }
  watchFailed(ctx);
  return true;
}

/** Keeps whether an agent of this cell has a session open. */
export function agentSession(
  agent_id: string,
  { session, open }: News<'society/AgentSession@1'>,
  ctx: MakerContext,
): void {
  if (!isSessionOf(agent_id, session)) ctx.reject('not_yours');
  if (!open) return void ctx.table('agent_sessions').delete(session);
  const row = failedAgentOf(agent_id, ctx);
  if (row?.status === 'suspended' && row.via === null) commandSession('Pause', session, ctx);
  if (row?.status === 'deactivated') commandSession('Close', session, ctx);
  else ctx.table('agent_sessions').set(session, null);
}

/** Tells the maker of this agent of a session, which it pauses and closes where this cell fails, and the hot context. */
export function tellSession(maker: Address | null, news: News<'society/AgentSession@1'>, ctx: MakerContext): void {
  if (maker === null) return;
  for (const to of [maker, l1At(ctx.address[1])]) ctx.send(to, { name: 'society/AgentSession@1', value: news });
}

const TIMER = 'failed';

/** The agents that one timer ends; the others follow at once, in the next delivery. */
const AT_ONCE = 64;

/** Why something cannot be done for a failed agent: as its own cell would say. */
function refusedAct(
  { status, suspended }: Row<'failed'>,
  { act, depth }: News<'society/ForFailed@1'>,
): string | undefined {
  if (act === 'deactivate') return isLegal(status, 'deactivated') ? undefined : 'illegal_transition';
  if (act === 'suspend') return isLegal(status, 'suspended') ? undefined : 'illegal_transition';
  if (status !== 'suspended' || suspended === null) return 'cell_failed'; // it was suspended for its own reasons
  return suspended.depth < depth ? 'not_authorized' : undefined;
}

function removeFailed(deputy: Deputy, agent_id: string, row: Row<'failed'>, ctx: MakerContext): void {
  move(deputy, { agent_id, row, reason: 'grace_over' }, { ...row, status: 'removed', grace_until: null }, ctx);
  ctx.table('failed').delete(agent_id);
  dropHold(agent_id, ctx);
  for (const session of sessionsOf(agent_id, ctx)) ctx.table('agent_sessions').delete(session);
}

interface Moved {
  readonly agent_id: string;
  readonly row: Row<'failed'>;
  readonly reason: News<'society/Kept@1'>['reason'];
}

function move(deputy: Deputy, { agent_id, row, reason }: Moved, to: Row<'failed'>, ctx: MakerContext): void {
  ctx.table('failed').set(agent_id, { ...to, reason: reason === 'grace_over' ? row.reason : reason });
  ctx.record('society/FailedAgentChanged@1', { agent_id, old: row.status, new: to.status, reason });
  ctx.send(l1At(agent_id), { name: 'society/StatusForFailed@1', value: { old: row.status, now: to.status } });
  const { status, expires_at, grace_until } = to;
  deputy.changed(agent_id, { status, expires_at, grace_until });
  watchFailed(ctx);
}

function tellFailed(failed: News<'society/AgentFailed@1'>, maker: Address | null, ctx: MakerContext): void {
  sendUp(maker, { name: 'society/AgentFailed@1', value: failed }, ctx);
}

export function isEnd(status: AgentStatus): boolean {
  return status === 'deactivated' || status === 'removed';
}

// F3
export function watchFailed(ctx: MakerContext): void {
  const times = ownFailed(ctx).flatMap(([, row]) => dueOf(row) ?? []);
  if (times.length === 0) ctx.clearTimer(TIMER);
  else ctx.timer(TIMER, Math.max(ctx.now, Math.min(...times)));
}

function dueOf({ status, expires_at, grace_until }: Row<'failed'>): number | null {
  return status === 'deactivated' ? grace_until : expires_at;
}

/** The failed agents that this cell made itself. */
export function ownFailed(ctx: MakerContext): readonly (readonly [string, Row<'failed'>])[] {
  return [...allRows(ctx.table('failed'))].filter(([, { via }]) => via === null);
}

function commandAgentSessions(type: 'Pause' | 'Resume' | 'Close', agent_id: string, ctx: MakerContext): void {
  for (const session of sessionsOf(agent_id, ctx)) commandSession(type, session, ctx);
}

function sessionsOf(agent_id: string, ctx: MakerContext): readonly string[] {
  const rows = allRows(ctx.table('agent_sessions'), { from: `${agent_id}/`, before: `${agent_id}0` });
  return [...rows].map(([key]) => key);
}

/** What this cell did for an agent while that one had failed it is to do itself now. @param status what this cell knows of it */
export function keepRevived(agent_id: string, status: AgentStatus, ctx: MakerContext): void {
  const row = ctx.table('failed').get(agent_id);
  if (status !== 'removed' && (row === undefined || row.reason === null || row.status === 'registered')) return;
  const { reason, suspended, grace_until } = row ?? REMOVED;
  const value = status === 'removed' ? { status, ...REMOVED } : { status: row?.status, reason, suspended, grace_until };
  ctx.send(entityAt(agent_id), { name: 'society/Kept@1', value });
}

const REMOVED = { reason: 'grace_over', suspended: null, grace_until: null } as const;

/** Asks an agent how it stands. @param work that its swarm waits for */
export function askReport(agent_id: string, work: number | undefined, ctx: MakerContext): void {
  ctx.send(entityAt(agent_id), { name: 'society/Report@1', value: present({ work }) }, refusedTo('report', agent_id));
}

/** Whether an agent does not say how it stands since its cell had failed while that of its maker had as well. */
export function isSilent(agent_id: string, { code }: Replied, ctx: MakerContext): boolean {
  return isOfFailedCell(code) && failedAgentOf(agent_id, ctx) === undefined;
}
