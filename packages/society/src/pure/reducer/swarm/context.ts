/** What the functions of the swarm's reducer work on: its tables, its keys, and who sends. */

import { type Actor, present } from '@reprise/contracts';
import { allRows, type ReducerContext } from '@reprise/kernel/define';
import { firstOf, key } from '@reprise/org/contracts';
import type { SwarmRow } from '../../contracts/entity-parts.js';
import type { SwarmState, SwarmTask, swarmTables } from '../../contracts/swarm/swarm.js';

/** What the recipes of a swarm get: its tables have their types. */
export type SwarmContext = ReducerContext<typeof swarmTables>;

/** All slots, in the order of the manifest. */
export function slotsOf(ctx: SwarmContext): readonly SwarmRow<'slots'>[] {
  return [...allRows(ctx.table('slots'))].map(([, slot]) => slot);
}

/** All members with their keys, in the order of slots and places. */
export function membersOf(ctx: SwarmContext): readonly (readonly [string, SwarmRow<'members'>])[] {
  return [...allRows(ctx.table('members'))];
}

/** A member that must exist, by its key. */
export function memberOr(ctx: SwarmContext, member: string): SwarmRow<'members'> {
  return ctx.table('members').get(member) ?? ctx.reject('no_member');
}

/** Changes fields of a member, and gives it as it is then. */
export function changeMember(
  ctx: SwarmContext,
  member: string,
  change: Partial<SwarmRow<'members'>>,
): SwarmRow<'members'> {
  const next = { ...memberOr(ctx, member), ...change };
  ctx.table('members').set(member, next);
  return next;
}

/** A task that must exist, by its number. */
export function taskOr(ctx: SwarmContext, n: number): SwarmTask {
  return ctx.table('tasks').get(key(n)) ?? ctx.reject('no_task');
}

/** All tasks, the oldest first. */
export function tasksOf(ctx: SwarmContext): readonly (readonly [number, SwarmTask])[] {
  return [...allRows(ctx.table('tasks'))].map(([key, task]) => [Number(key), task]);
}

const OVER: readonly SwarmState['status'][] = ['archived', 'disbanded', 'failed'];

export function isOver({ status }: SwarmState): boolean {
  return OVER.includes(status);
}

export function hasEnded({ status }: SwarmTask): boolean {
  return ENDED.includes(status);
}

const ENDED: readonly SwarmTask['status'][] = ['ok', 'failed', 'cancelled', 'timeout', 'skipped'];

export function moveSwarm(draft: SwarmState, status: SwarmState['status'], ctx: SwarmContext, by?: Actor): void {
  draft.status = status;
  const { stage, code } = draft;
  ctx.record('society/SwarmChanged@1', { swarm_id: ctx.address[1], status, stage, code, ...present({ by }) });
}

/** The swarm fails once the delivery has been followed. The first reason counts. */
export function failing(draft: SwarmState, code: string): void {
  if (isOver(draft) || draft.failing) return;
  draft.failing = true;
  draft.code = code.slice(0, 96);
}

/** An entity was deactivated: a swarm that it leads fails. A coordinator of a slot ends with its task, and counts no longer. */
export function coordinatorOver(draft: SwarmState, entity: string): void {
  const leads = entity === draft.coordinator && draft.coordinator_slot === null;
  if (leads) failing(draft, 'coordinator/deactivated');
}

/** The stage of a member: that of its slot in a pipeline; the synthesizer comes last. */
export function stageOf(draft: SwarmState, member: string): number {
  const slot = firstOf(member);
  const last = draft.synthesizer;
  if (slot === last) return lastStage(draft);
  if (draft.strategy === 'broadcast') return 0;
  return last !== null && last < slot ? slot - 1 : slot;
}

export function lastStage({ strategy, synthesizer, slots }: SwarmState): number {
  if (strategy === 'broadcast') return synthesizer === null ? 0 : 1;
  return slots - 1;
}

/** Whether a member can be given a task: it is not the coordinator, and has not ended. */
export function isWorker({ coordinator }: SwarmState, { agent_id, status }: SwarmRow<'members'>): boolean {
  return agent_id !== coordinator && status !== 'deactivated' && status !== 'removed';
}
