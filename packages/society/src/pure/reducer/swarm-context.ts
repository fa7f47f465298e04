/** What the functions of the swarm's reducer work on: its tables, its keys, and who sends. */
import { type Actor, present } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type { SlotRow, SwarmCollect, SwarmMember, SwarmPlan, SwarmState, SwarmTask } from '../contracts/index.js';
import { entriesOf } from './table-rows.js';

interface Tables {
  readonly slots: Table<SlotRow>;
  readonly members: Table<SwarmMember>;
  readonly agents: Table<string>;
  readonly tasks: Table<SwarmTask>;
  readonly stages: Table<number>;
  readonly over: Table<null>;
  readonly plans: Table<SwarmPlan>;
  readonly waiting: Table<SwarmCollect>;
}

/** A table of the swarm. */
export function swarmTable<K extends keyof Tables>(ctx: ReducerContext, name: K): Tables[K] {
  return ctx.table(name) as unknown as Tables[K];
}

/** A number as a key, so that keys are in the order of numbers. */
export function numberKey(n: number): string {
  return String(n).padStart(7, '0');
}

/** The key of a member: the numbers of its slot and of its place there. */
export function memberKey(slot: number, index: number): string {
  return `${String(slot).padStart(2, '0')}.${String(index).padStart(2, '0')}`;
}

/** The number of the slot of a member. */
export function slotOf(member: string): number {
  return Number(member.slice(0, 2));
}

/** All slots, in the order of the manifest. */
export function slotsOf(ctx: ReducerContext): readonly SlotRow[] {
  return swarmTable(ctx, 'slots')
    .range()
    .map(([, slot]) => slot);
}

/** All members with their keys, in the order of slots and places. */
export function membersOf(ctx: ReducerContext): readonly (readonly [string, SwarmMember])[] {
  return swarmTable(ctx, 'members').range();
}

/** A member. */
export function memberOr(ctx: ReducerContext, key: string): SwarmMember {
  return swarmTable(ctx, 'members').get(key) ?? ctx.reject('no_member');
}

/** Changes a member. */
export function changeMember(ctx: ReducerContext, key: string, change: Partial<SwarmMember>): SwarmMember {
  const next = { ...memberOr(ctx, key), ...change };
  swarmTable(ctx, 'members').set(key, next);
  return next;
}

/** A task. */
export function taskOr(ctx: ReducerContext, n: number): SwarmTask {
  return swarmTable(ctx, 'tasks').get(numberKey(n)) ?? ctx.reject('no_task');
}

/** All tasks, the oldest first. */
export function tasksOf(ctx: ReducerContext): readonly (readonly [number, SwarmTask])[] {
  return entriesOf(swarmTable(ctx, 'tasks')).map(([key, task]) => [Number(key), task]);
}

/** The states in which a swarm does nothing more. */
const OVER: readonly SwarmState['status'][] = ['archived', 'disbanded', 'failed'];

/** Whether a swarm is over. */
export function isOver({ status }: SwarmState): boolean {
  return OVER.includes(status);
}

/** Whether a task has ended. */
export function hasEnded({ status }: SwarmTask): boolean {
  return ENDED.includes(status);
}

const ENDED: readonly SwarmTask['status'][] = ['ok', 'failed', 'cancelled', 'timeout', 'skipped'];

/** Changes the state of a swarm, and states it. */
export function moveSwarm(draft: SwarmState, status: SwarmState['status'], ctx: ReducerContext, by?: Actor): void {
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

/** Keeps the purpose of a plan. */
export function purposeOf(ctx: ReducerContext, plan: number, purpose: SwarmPlan): void {
  swarmTable(ctx, 'plans').set(planKey(plan), purpose);
}

/** Takes the purpose of a plan: it is over. */
export function takePurpose(ctx: ReducerContext, plan: number): SwarmPlan | undefined {
  const plans = swarmTable(ctx, 'plans');
  const purpose = plans.get(planKey(plan));
  plans.delete(planKey(plan));
  return purpose;
}

function planKey(plan: number): string {
  return String(plan).padStart(12, '0');
}

/** The stage of a member: that of its slot in a pipeline; the synthesizer comes last. */
export function stageOf(draft: SwarmState, member: string): number {
  const slot = slotOf(member);
  const last = draft.synthesizer;
  if (slot === last) return lastStage(draft);
  if (draft.strategy === 'broadcast') return 0;
  return last !== null && last < slot ? slot - 1 : slot;
}

/** The number of the last stage. */
export function lastStage({ strategy, synthesizer, slots }: SwarmState): number {
  if (strategy === 'broadcast') return synthesizer === null ? 0 : 1;
  return slots - 1;
}

/** Whether a member can be given a task: it is not the coordinator, and has not ended. */
export function isWorker({ coordinator }: SwarmState, { agent_id, status }: SwarmMember): boolean {
  return agent_id !== coordinator && status !== 'deactivated' && status !== 'removed';
}
