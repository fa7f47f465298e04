/** The calls of entities at a swarm: what it shows, how it is disbanded, and what a coordinator and its workers do. */

import type { Actor } from '@reprise/contracts';
import { key } from '@reprise/org/contracts';
import {
  type SocietyCallOf,
  SWARM_BOUNDS,
  SWARM_ROWS,
  type SwarmAsked,
  type SwarmRow,
  type SwarmState,
  type SwarmWaiting,
} from '../../contracts/index.js';
import { listed } from '../call/fitting.js';
import { type Answer, refusal } from '../call/operations.js';
import { askerOf } from '../context/entity.js';
import { collect, join, openDelegations, outputsOf, statusOf, statusPage, tell } from './collect.js';
import {
  changeMember,
  isOver,
  isWorker,
  memberOr,
  membersOf,
  moveSwarm,
  type SwarmContext,
  taskOr,
  tasksOf,
} from './context.js';
import { endSwarm } from './ending.js';
import { numberIn } from './shown.js';
import { mayBegin } from './spending.js';
import { addTask, startTask } from './tasks.js';

/** Takes a call of an entity that has to do with the swarm: no other learns whether it exists. */
export function takeSwarmCall(draft: SwarmState, asked: SwarmAsked, ctx: SwarmContext): void {
  const { call, bytes, model } = asked;
  const waiting: SwarmWaiting = { by: askerOf(ctx), call, bytes, model };
  const answer = act(draft, waiting, asked, ctx);
  if (answer !== undefined) tell(waiting, answer, ctx);
}

function act(draft: SwarmState, waiting: SwarmWaiting, asked: SwarmAsked, ctx: SwarmContext): Answer | undefined {
  const { by, bytes } = waiting;
  const { actor } = asked;
  switch (asked.name) {
    case 'swarm_status':
      return status(draft, waiting, asked.args, ctx);
    case 'swarm_disband':
      return disband(draft, { by, bytes, actor }, asked.args, ctx);
    default: {
      if (isOver(draft)) return refusal('swarm_over', { status: draft.status });
      if (asked.args.action === 'report') return report(draft, by, asked.args, ctx);
      return coordinate(draft, { ...waiting, actor }, asked.args, ctx);
    }
  }
}

/** The creator and those above it disband in both ways, the coordinator archives. A second time changes nothing. */
function disband(
  draft: SwarmState,
  { by, bytes, actor }: Pick<SwarmWaiting, 'by' | 'bytes'> & Pick<SwarmAsked, 'actor'>,
  { mode = 'archive' }: SocietyCallOf<'swarm_disband'>,
  ctx: SwarmContext,
): Answer {
  const commands = draft.lineage.includes(by);
  if (!commands && (by !== draft.coordinator || mode === 'delete')) return refusal('not_authorized');
  const status = mode === 'delete' ? 'disbanded' : 'archived';
  const isDone = draft.status === 'disbanded' || (isOver(draft) && mode === 'archive');
  if (!isDone) endSwarm(draft, { status, mode, by: actor }, ctx);
  const ended = membersOf(ctx).flatMap(([, { agent_id }]) => (agent_id === null ? [] : [agent_id]));
  const shown = draft.status === 'disbanded' ? 'disbanded' : 'archived';
  return { value: { swarm_id: ctx.address[1], status: shown, ...listed('deactivated', ended, bytes - HEAD_BYTES) } };
}

/** The room of what stands beside a list. */
const HEAD_BYTES = 256;

/** How far the swarm is: a page of its agents and results, or one result. A model waits until words are composed. */
function status(
  draft: SwarmState,
  waiting: SwarmWaiting,
  args: SocietyCallOf<'swarm_status'>,
  ctx: SwarmContext,
): Answer | undefined {
  const outputs = waiting.model ? outputsOf(statusPage(waiting, args, ctx).tasks, ctx) : [];
  if (outputs.length === 0) return statusOf(draft, waiting, args, undefined, ctx);
  join(outputs, { kind: 'status', waiting, args }, ctx);
  return undefined;
}

const MILLION = 1_000_000;

/** What a worker reports counts as the result of its task (SOC-18). */
function report(draft: SwarmState, by: string, { result_ref }: SocietyCallOf<'swarm_task'>, ctx: SwarmContext): Answer {
  const member = ctx.table('agents').get(by);
  if (member === undefined || by === draft.coordinator) return refusal('not_authorized');
  if (result_ref === undefined) return refusal('invalid_arguments', { problems: ['result: is missing'] });
  const { task } = memberOr(ctx, member);
  if (task === null) {
    ctx.record('society/LateReport@1', { swarm_id: ctx.address[1], agent_id: by, n: 0, status: 'reported' });
    return refusal('no_task');
  }
  ctx.table('tasks').set(key(task), { ...taskOr(ctx, task), report_ref: result_ref });
  changeMember(ctx, member, { progress: MILLION });
  return { value: { swarm_id: ctx.address[1], status: draft.status } };
}

/** What only the coordinator does (SOC-18). */
function coordinate(
  draft: SwarmState,
  { actor, ...waiting }: SwarmWaiting & Pick<SwarmAsked, 'actor'>,
  task: SocietyCallOf<'swarm_task'>,
  ctx: SwarmContext,
): Answer | undefined {
  if (waiting.by !== draft.coordinator) return refusal('not_authorized');
  switch (task.action) {
    case 'delegate':
      return delegate(draft, task, ctx);
    case 'collect':
      return waitForReports(
        draft,
        { ...waiting, after: numberIn(task.after), limit: task.limit ?? SWARM_ROWS.usual },
        ctx,
      );
    default:
      return finish(draft, task, actor, ctx);
  }
}

/** Gives a task to a worker that has none: of several to the one that had the fewest. */
function delegate(
  draft: SwarmState,
  { slot, agent_id, task_ref }: SocietyCallOf<'swarm_task'>,
  ctx: SwarmContext,
): Answer {
  if (draft.strategy !== 'hierarchical' || draft.status !== 'executing') return refusal('not_hierarchical');
  if (task_ref === undefined) return refusal('invalid_arguments', { problems: ['task: is missing'] });
  if (draft.tasks.next > SWARM_BOUNDS.tasks) return refusal('too_many_tasks', { max: SWARM_BOUNDS.tasks });
  const workers = membersOf(ctx).filter(([, one]) => {
    const isMeant = (slot ?? one.slot) === one.slot && (agent_id ?? one.agent_id) === one.agent_id;
    return isMeant && isWorker(draft, one);
  });
  if (workers.length === 0) return refusal('no_worker');
  const free = leastAsked(
    workers.filter(([, { task }]) => task === null),
    ctx,
  );
  if (free === undefined) return refusal('all_busy', { waiting: openDelegations(draft, ctx) });
  if (!mayBegin(draft, ctx)) return refusal('budget_exhausted');
  startTask(draft, addTask(draft, free[0], task_ref, ctx), null, ctx);
  const { slot: of, agent_id: worker } = free[1];
  const reports = [{ task: draft.tasks.next - 1, agent_id: worker, slot: of, status: 'queued' }];
  return { value: { swarm_id: ctx.address[1], status: draft.status, reports, waiting: openDelegations(draft, ctx) } };
}

/** The first of the members that had the fewest tasks: who was quick does not get what is meant for all of a slot. */
function leastAsked(members: ReturnType<typeof membersOf>, ctx: SwarmContext): (typeof members)[number] | undefined {
  const asked = new Map<string, number>();
  for (const [, { member }] of tasksOf(ctx)) asked.set(member, (asked.get(member) ?? 0) + 1);
  const tasksBefore = ([key]: (typeof members)[number]) => asked.get(key) ?? 0;
  const fewest = Math.min(...members.map(tasksBefore));
  return members.find((member) => tasksBefore(member) === fewest);
}

/** Answers when everything that was delegated has ended. Until then the coordinator holds no slot of the queue. */
function waitForReports(draft: SwarmState, waiting: SwarmRow<'waiting'>, ctx: SwarmContext): undefined {
  if (openDelegations(draft, ctx) === 0) return void collect(draft, waiting, ctx);
  ctx.table('waiting').set(waiting.call, waiting);
  const value = { swarm_id: ctx.address[1], call: waiting.call };
  ctx.send(['society/Entity@1', waiting.by], { name: 'society/SwarmParked@1', value });
  return undefined;
}

function finish(draft: SwarmState, { result_ref }: SocietyCallOf<'swarm_task'>, by: Actor, ctx: SwarmContext): Answer {
  moveSwarm(draft, 'synthesizing', ctx);
  draft.synthesis_ref = result_ref ?? null;
  draft.synthesis_kind = result_ref === undefined ? null : 'text';
  const waiting = openDelegations(draft, ctx);
  endSwarm(draft, { status: 'archived', mode: 'archive', by }, ctx);
  return { value: { swarm_id: ctx.address[1], status: draft.status, waiting } };
}
