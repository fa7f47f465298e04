/** The calls of entities at a swarm: what it shows, how it is disbanded, and what a coordinator and its workers do. */

import { key } from '@reprise/org/contracts';
import { entityAt } from '../../contracts/cell/names.js';
import type { SocietyCallOf } from '../../contracts/entity-parts.js';
import type { SwarmAsked, SwarmState, SwarmWaiting } from '../../contracts/swarm/swarm.js';
import { SWARM_BOUNDS, SWARM_ROWS } from '../../contracts/swarm/tools.js';
import { listed } from '../call/answers.js';
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
import { MILLION, numberIn } from './shown.js';
import { mayBegin } from './spending.js';
import { addTask, startTask } from './tasks.js';

/** Takes a call of an entity that has to do with the swarm: no other learns whether it exists. */
export function takeSwarmCall(draft: SwarmState, asked: SwarmAsked, ctx: SwarmContext): void {
  const { call, bytes, model, actor } = asked;
  const waiting: SwarmWaiting = { by: askerOf(ctx), call, bytes, model };
  const does: Does<SwarmAsked['args']> = CALLS[asked.name];
  const answer = does(draft, { waiting, actor }, asked.args, ctx);
  if (answer !== undefined) tell(waiting, answer, ctx);
}

/** What a call does at the swarm. @returns undefined when it is answered later */
type Does<A> = {
  run(draft: SwarmState, caller: Caller, args: A, ctx: SwarmContext): Answer | undefined;
}['run'];

/** Who waits for the answer, and who made the call at that entity. */
interface Caller extends Pick<SwarmAsked, 'actor'> {
  readonly waiting: SwarmWaiting;
}

/** The room of what stands beside a list. */
const HEAD_BYTES = 256;

const CALLS: { readonly [N in SwarmAsked['name']]: Does<SocietyCallOf<N>> } = {
  // A page of its agents and results, or one result. A model waits until words are composed.
  swarm_status: (draft, { waiting }, args, ctx) => {
    const outputs = waiting.model ? outputsOf(statusPage(waiting, args, ctx).tasks, ctx) : [];
    if (outputs.length === 0) return statusOf(draft, waiting, args, undefined, ctx);
    join(outputs, { kind: 'status', waiting, args }, ctx);
    return undefined;
  },
  // The creator and those above it disband in both ways, the coordinator archives. A second time changes nothing.
  swarm_disband: (draft, { waiting: { by, bytes }, actor }, { mode = 'archive' }, ctx) => {
    const commands = draft.lineage.includes(by);
    if (!commands && (by !== draft.coordinator || mode === 'delete')) return refusal('not_authorized');
    const status = mode === 'delete' ? 'disbanded' : 'archived';
    const isDone = draft.status === 'disbanded' || (isOver(draft) && mode === 'archive');
    if (!isDone) endSwarm(draft, { status, mode, by: actor }, ctx);
    const ended = membersOf(ctx).flatMap(([, { agent_id }]) => (agent_id === null ? [] : [agent_id]));
    const shown = draft.status === 'disbanded' ? 'disbanded' : 'archived';
    return { value: { swarm_id: ctx.address[1], status: shown, ...listed('deactivated', ended, bytes - HEAD_BYTES) } };
  },
  // What a worker reports counts as the result of its task; the rest only the coordinator does (SOC-18).
  swarm_task: (draft, caller, task, ctx) => {
    if (isOver(draft)) return refusal('swarm_over', { status: draft.status });
    const isForWorkers = task.action === 'report';
    if (isForWorkers === (caller.waiting.by === draft.coordinator)) return refusal('not_authorized');
    return TASKS[task.action](draft, caller, task, ctx);
  },
};

const TASKS: Readonly<Record<SocietyCallOf<'swarm_task'>['action'], Does<SocietyCallOf<'swarm_task'>>>> = {
  report: (draft, { waiting: { by } }, { result_ref }, ctx) => {
    const member = ctx.table('agents').get(by);
    if (member === undefined) return refusal('not_authorized');
    if (result_ref === undefined) return refusal('invalid_arguments', { problems: ['result: is missing'] });
    const { task } = memberOr(ctx, member);
    if (task === null) {
      ctx.record('society/LateReport@1', { swarm_id: ctx.address[1], agent_id: by, n: 0, status: 'reported' });
      return refusal('no_task');
    }
    ctx.table('tasks').set(key(task), { ...taskOr(ctx, task), report_ref: result_ref });
    changeMember(ctx, member, { progress: MILLION });
    return { value: { swarm_id: ctx.address[1], status: draft.status } };
  },
  // A task is for a worker that has none: of several for the one that had the fewest.
  delegate: (draft, _, { slot, agent_id, task_ref }, ctx) => {
    if (draft.strategy !== 'hierarchical' || draft.status !== 'executing') return refusal('not_hierarchical');
    if (task_ref === undefined) return refusal('invalid_arguments', { problems: ['task: is missing'] });
    if (draft.tasks.next > SWARM_BOUNDS.tasks) return refusal('too_many_tasks', { max: SWARM_BOUNDS.tasks });
    const workers = membersOf(ctx).filter(([, one]) => {
      const isMeant = (slot ?? one.slot) === one.slot && (agent_id ?? one.agent_id) === one.agent_id;
      return isMeant && isWorker(draft, one);
    });
    if (workers.length === 0) return refusal('no_worker');
    const idle = workers.filter(([, { task }]) => task === null);
    const free = leastAsked(idle, ctx);
    if (free === undefined) return refusal('all_busy', { waiting: openDelegations(draft, ctx) });
    if (!mayBegin(draft, ctx)) return refusal('budget_exhausted');
    startTask(draft, addTask(draft, free[0], task_ref, ctx), null, ctx);
    const { slot: of, agent_id: worker } = free[1];
    const reports = [{ task: draft.tasks.next - 1, agent_id: worker, slot: of, status: 'queued' }];
    return { value: { swarm_id: ctx.address[1], status: draft.status, reports, waiting: openDelegations(draft, ctx) } };
  },
  // It is answered when everything that was delegated has ended. Until then the coordinator holds no slot of the queue.
  collect: (draft, { waiting: of }, { after, limit = SWARM_ROWS.usual }, ctx) => {
    const waiting = { ...of, after: numberIn(after), limit };
    if (openDelegations(draft, ctx) === 0) return void collect(draft, waiting, ctx);
    ctx.table('waiting').set(of.call, waiting);
    ctx.send(entityAt(of.by), { name: 'society/SwarmParked@1', value: { swarm_id: ctx.address[1], call: of.call } });
    return undefined;
  },
  finish: (draft, { actor: by }, { result_ref }, ctx) => {
    moveSwarm(draft, 'synthesizing', ctx);
    draft.synthesis_ref = result_ref ?? null;
    draft.synthesis_kind = result_ref === undefined ? null : 'text';
    const waiting = openDelegations(draft, ctx);
    endSwarm(draft, { status: 'archived', mode: 'archive', by }, ctx);
    return { value: { swarm_id: ctx.address[1], status: draft.status, waiting } };
  },
};

/** The first of the members that had the fewest tasks: who was quick does not get what is meant for all of a slot. */
function leastAsked(members: ReturnType<typeof membersOf>, ctx: SwarmContext): (typeof members)[number] | undefined {
  const asked = new Map<string, number>();
  for (const [, { member }] of tasksOf(ctx)) asked.set(member, (asked.get(member) ?? 0) + 1);
  const tasksBefore = ([key]: (typeof members)[number]) => asked.get(key) ?? 0;
  const fewest = Math.min(...members.map(tasksBefore));
  return members.find((member) => tasksBefore(member) === fewest);
}
