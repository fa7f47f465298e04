/**
 * `specialists/Project@1`: a coordinator that cannot act, a plan of tasks, and specialists that do them as jobs.
 *
 * Invariants
 * P1  A result is stored, its task moved, and what waited for it released, in the delivery of the job's end.
 * P2  A task moves by `moveTask` only, and the numbers of tasks by status are those of the table.
 * P3  A job has the number of the result that it makes; its row is gone when its result has ended.
 * P4  The coordinator runs for an input only: words of people, or one wake that is under way at a time.
 * P5  A result is processed when a run that was shown it has completed, and never before.
 * P6  Nothing decides by a skill that was read before the decision was asked for: such inputs wait in the inbox.
 * P7  A refusal changes nothing.
 * P8  One delivery changes a bounded number of tasks; the cell sends itself `specialists/Work@1` for the rest, so that
 *     it is done before any other input.
 * P9  No text of a brief, a skill or an output enters the state: links only.
 */
import { childNotice, ownerAnswer, ownerCall, ownerParked, SESSION_REDUCER } from '@reprise/agent/contracts';
import { NOTICES, type Value } from '@reprise/contracts';
import {
  by,
  defineReducer,
  type EventHandlers,
  from,
  fromAll,
  handledBy,
  type ReducerContext,
  reducerOnUse,
} from '@reprise/kernel/define';
import { memoryEvents, memoryNews, openStore } from '@reprise/memory/contracts';
import { job, jobEvents, jobNotMade, jobNumberOf } from '@reprise/work/contracts';
import {
  COORDINATOR_KEY,
  coordinatorOf,
  INPUT_PRIORITY,
  INPUTS_MAX,
  type InboxRow,
  type PlanPurpose,
  PROJECT,
  PROJECT_ID,
  type ProjectState,
  projectCommands,
  projectFacts,
  projectNews,
  projectState,
  projectTables,
  scopeOf,
  type TaskToMake,
} from '../contracts/index.js';
import { acted } from './acts.js';
import { answerCall } from './answers.js';
import { appRefused, passBack } from './app-calls.js';
import { takeCall, takeCallAfterReading } from './calls.js';
import { cancelProject, sweep } from './cancel.js';
import { ADOPTED_TAG, INPUT_TAG, tellCoordinator } from './coordinator.js';
import { coordinatorFailed, coordinatorNews, inputAnswered } from './coordinator-news.js';
import { type Delivery, isFull, tableOf } from './delivery.js';
import { jobChanged, jobFailed } from './jobs.js';
import { DIGITS, key } from './keys.js';
import { linkMessage } from './links.js';
import { memoryWritten, remember } from './memory.js';
import { cancelTask, retryTask, skipTask } from './people.js';
import { writePlan } from './plan.js';
import { Refused } from './refused.js';
import { coordinatorStands, revived, STANDING_TAG } from './revived.js';
import { spawnTask } from './spawn.js';
import { canCount, isShared, stateUse } from './spending.js';
import { setStatus, standingOf } from './status.js';
import { moveTask, passOnEnds } from './tasks.js';
import { afterReading, teamRead } from './team.js';
import { countAnew } from './unattended.js';
import {
  notWoken,
  scheduleWake,
  stateDecision,
  stateNeed,
  unstick,
  WAKE,
  WAKE_LOST,
  wakeComposed,
  wakeDue,
  wakeLost,
} from './wake.js';

const { 'specialists/Work@1': rest, ...planNews } = projectNews;

/** The session of the coordinator, see `coordinatorOf`. */
const coordinator = by.cell({ reducer: SESSION_REDUCER, key: [{ own: true }, COORDINATOR_KEY] });

/** The cell of the app to which the project passes calls on. */
const app = by.cell({ state: 'calls' });

const EVENTS = {
  ...projectCommands,
  ...fromAll(planNews, by.ownPlan),
  'specialists/Work@1': from(rest, by.self),
  ...jobEvents,
  ...memoryEvents,
  'aos.agent/OwnerCall@1': from(ownerCall, coordinator, job('jobs', DIGITS)),
  'aos.agent/OwnerAnswer@1': from(ownerAnswer, app),
  'aos.agent/OwnerParked@1': from(ownerParked, app),
  'aos.agent/ChildNotice@1': from(childNotice, coordinator),
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/Reply@1': NOTICES['sys/Reply@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/Revived@1': NOTICES['sys/Revived@1'],
} as const;

type Events = typeof EVENTS;

const HANDLERS: EventHandlers<ProjectState, Events, typeof projectTables> = {
  'specialists/Say@1': command((delivery, value) => {
    begin(delivery, value.team);
    if (delivery.state.coordinator.shares.length >= INPUTS_MAX - 1) throw new Refused('queue_full');
    const text = value.parts.find(({ kind }) => kind === 'text');
    const text_ref = text?.kind === 'text' ? text.text_ref : undefined;
    delivery.state.goal_ref ??= text_ref ?? null;
    delivery.state.said_ref = text_ref ?? null;
    acted(delivery, { act: 'say', task: null });
    linkMessage(delivery, text_ref);
    unstick(delivery);
    afterReading(delivery, { kind: 'say', value });
  }),
  'specialists/Plan@1': command((delivery, value) => {
    begin(delivery, value.team);
    acted(delivery, { act: 'plan', task: null });
    countAnew(delivery);
    afterReading(delivery, { kind: 'plan', command_id: value.command_id }, value.tasks);
  }),
  'specialists/Open@1': command((delivery, { team }) => {
    begin(delivery, team);
    acted(delivery, { act: 'open', task: null });
    afterReading(delivery, { kind: 'wake' });
  }),
  'specialists/Remember@1': command((delivery, value) => {
    remember(delivery, value);
    acted(delivery, { act: 'remember', task: null });
  }),
  'specialists/Retry@1': command((delivery, value) => {
    acted(delivery, { act: 'retry', task: value.task });
    countAnew(delivery);
    afterReading(delivery, { kind: 'retry', value });
  }),
  'specialists/Skip@1': command((delivery, { task, reason }) => {
    const by = acted(delivery, { act: 'skip', task, reason });
    skipTask(delivery, task, reason, by);
  }),
  'specialists/Limit@1': command((delivery, { budget }) => {
    if (!canCount(delivery, budget)) delivery.ctx.reject('no_price');
    acted(delivery, { act: 'limit', task: null });
    countAnew(delivery);
    delivery.state.budget = budget;
    delivery.state.exhausted = false;
    delivery.state.decision = 'none';
    delivery.state.wake.vain = 0;
    stateUse(delivery);
  }),
  'specialists/Cancel@1': command((delivery, { task, reason }) => {
    const by = acted(delivery, { act: 'cancel', task, reason });
    if (task === null) cancelProject(delivery, by);
    else cancelTask(delivery, task, by);
  }),
  'specialists/TeamRead@1': fromPlan((delivery, read) => {
    if (read.seen?.skills.more !== true) planEnded(delivery, 'team');
    teamRead(delivery, read, (row, tasks) => takeFromInbox(delivery, row, tasks));
  }),
  'specialists/WakeComposed@1': fromPlan((delivery, value) => {
    planEnded(delivery, 'wake');
    wakeComposed(delivery, value);
  }),
  'specialists/Answered@1': fromPlan((delivery, { call, value, refs, code }) => {
    planEnded(delivery, 'call');
    if (code === null) answerCall(delivery, call, value, { refs });
    else answerCall(delivery, call, { code }, { isError: true });
  }),
  'specialists/Work@1': (draft, _, ctx) => deliver(draft, ctx, () => undefined),
  'work/JobChanged@1': (draft, news, ctx) => deliver(draft, ctx, (delivery) => jobChanged(delivery, news)),
  'memory/Done@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const news = memoryNews(ctx, { name: 'memory/Done@1', value });
      if (news !== 'other') memoryWritten(delivery, news);
    }),
  'aos.agent/OwnerCall@1': (draft, call, ctx) => deliver(draft, ctx, (delivery) => takeCall(delivery, call)),
  'aos.agent/OwnerAnswer@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => passBack(delivery, { name: 'aos.agent/OwnerAnswer@1', value })),
  'aos.agent/OwnerParked@1': (draft, value, ctx) =>
    deliver(draft, ctx, (delivery) => passBack(delivery, { name: 'aos.agent/OwnerParked@1', value })),
  'aos.agent/ChildNotice@1': (draft, notice, ctx) =>
    deliver(draft, ctx, (delivery) => coordinatorNews(delivery, notice)),
  'sys/TimerFired@1': (draft, { name }, ctx) =>
    deliver(draft, ctx, (delivery) => {
      if (name === WAKE) wakeDue(delivery);
      if (name === WAKE_LOST) wakeLost(delivery);
    }),
  'sys/PlanFailed@1': (draft, { plan, code }, ctx) =>
    deliver(draft, ctx, (delivery) => {
      if (memoryNews(ctx, { name: 'sys/PlanFailed@1', value: { plan, code } }) === 'other')
        planFailed(delivery, plan[2], code);
    }),
  'sys/Reply@1': (draft, reply, ctx) =>
    deliver(draft, ctx, (delivery) => {
      const { tag = '' } = reply;
      const unmade = jobNotMade(reply);
      if (unmade !== undefined) jobChanged(delivery, unmade);
      else if (tag === STANDING_TAG) coordinatorStands(delivery, reply.outcome === 'accepted');
      else if (tag === ADOPTED_TAG) delivery.state.coordinator.adopted = null;
      else if (tag.startsWith(INPUT_TAG)) inputAnswered(delivery, reply);
      else appRefused(delivery, tag);
    }),
  'sys/ChildFailed@1': (draft, { cell }, ctx) => deliver(draft, ctx, (delivery) => childFailed(delivery, cell)),
  'sys/Revived@1': (draft, _, ctx) => deliver(draft, ctx, revived),
};

/** The reducer of projects: part of the app of every world with a team. */
export const projectReducer = reducerOnUse(PROJECT, () =>
  defineReducer({
    name: PROJECT,
    state: projectState,
    events: EVENTS,
    facts: projectFacts,
    tables: projectTables,
    init: (): ProjectState => initial(),
    reduce: handledBy(HANDLERS),
  }),
);

function initial(): ProjectState {
  return {
    status: 'open',
    needs: null,
    team: null,
    calls: null,
    goal_ref: null,
    said_ref: null,
    message: 0,
    version: null,
    skills: null,
    reading: null,
    next: { task: 1, result: 1, inbox: 0, narrative: 1, place: 0, read: 0 },
    counts: { pending: 0, blocked: 0, running: 0, completed: 0, failed: 0, skipped: 0, cancelled: 0 },
    jobs: 0,
    waiting: 0,
    budget: null,
    spent: { tokens: 0, micro_money: 0 },
    reserved: 0,
    exhausted: false,
    unprocessed: 0,
    stuck: 0,
    coordinator: { adopted: null, busy: false, sent: 0, taken: 0, shares: [], run: -1, failure: null },
    wake: { phase: 'none', epoch: 0, due: null, results: [], decides: false, vain: 0, unattended: 0 },
    decision: 'none',
    sweep: null,
    cancelled_by: null,
    started: 0,
  };
}

/** The first command opens the project, and its store. */
function begin({ state, ctx }: Delivery, team: string | undefined): void {
  if (state.status === 'cancelled') throw new Refused('project_ended');
  state.team ??= team ?? null;
  if (state.started > 0) return;
  if (!PROJECT_ID.test(ctx.address[1])) ctx.reject('invalid_name');
  state.started = Math.max(1, ctx.now);
  openStore(ctx, scopeOf(ctx.address[1]));
}

/** What waited until the team and its skills were read. */
function takeFromInbox(delivery: Delivery, row: InboxRow, tasks: readonly TaskToMake[]): void {
  switch (row.kind) {
    case 'say': {
      const { command_id, parts, priority = INPUT_PRIORITY.people } = row.value;
      return tellCoordinator(delivery, { command_id, parts, priority });
    }
    case 'plan':
      return stating(delivery, row, () => ({ task_ids: writePlan(delivery, tasks, null).task_ids }));
    case 'retry':
      return stating(delivery, row.value, () => ({ status: retryTask(delivery, row.value.task, row.value) }));
    case 'plan_call':
      return takeCallAfterReading(delivery, row.call, 'plan_write', { tasks: [...tasks] });
    case 'retry_call':
      return takeCallAfterReading(delivery, row.call, 'task_retry', row.args);
    default:
      return undefined;
  }
}

/** Does what a command that waited asks for, and states the outcome. */
function stating({ ctx }: Delivery, { command_id }: { readonly command_id: string }, run: () => Value): void {
  try {
    ctx.record('specialists/Commanded@1', { command_id, code: null, value: run() });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    ctx.record('specialists/Commanded@1', { command_id, code: error.code, value: { ...error.details } });
  }
}

/** Handles an event, then passes on what follows from it. */
function deliver(state: ProjectState, ctx: ReducerContext, act: (delivery: Delivery) => void): void {
  const delivery: Delivery = { state, ctx, changes: 0 };
  const before = ctx.hash(standingOf(state));
  const { needs } = state;
  act(delivery);
  const isLeft = sweep(delivery) || passOnEnds(delivery) || dispatch(delivery);
  setStatus(delivery);
  stateDecision(delivery);
  scheduleWake(delivery);
  setStatus(delivery);
  stateNeed(delivery, needs);
  if (before !== ctx.hash(standingOf(state))) ctx.record('specialists/ProjectChanged@1', standingOf(state));
  if (isLeft) ctx.send(ctx.address, { name: 'specialists/Work@1', value: {} });
}

/** Spawns the tasks that are ready, when the team leaves that to the project. @returns whether some are left */
function dispatch(delivery: Delivery): boolean {
  const ready = tableOf(delivery, 'ready');
  if (delivery.state.status === 'cancelled' || tableOf(delivery, 'team').get('team')?.dispatch !== 'auto') return false;
  for (let first = ready.first(); first !== undefined; first = ready.first()) {
    if (isFull(delivery)) return true;
    if (isShared(delivery)) return false;
    if (!dispatchTask(delivery, first[1])) return false;
  }
  return false;
}

/** @returns whether the line goes on: not while the queue is full */
function dispatchTask(delivery: Delivery, n: number): boolean {
  try {
    spawnTask(delivery, n);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === 'queue_full' || error.code === 'budget_exceeded') return false;
    const row = tableOf(delivery, 'tasks').get(key(n));
    if (row !== undefined) moveTask(delivery, n, row, 'failed', { failure: error.code });
    return true;
  }
}

/** A plan has raised its last event: it is forgotten. */
function planEnded(delivery: Delivery, kind: PlanPurpose['kind']): void {
  const at = key(delivery.ctx.plan ?? 0);
  const plans = tableOf(delivery, 'plans');
  if (plans.get(at)?.kind === kind) plans.delete(at);
}

/** A plan of the project ended in error: what it was for has failed. */
function planFailed(delivery: Delivery, plan: number, code: string): void {
  const plans = tableOf(delivery, 'plans');
  const purpose = plans.get(key(plan));
  if (purpose === undefined) return;
  plans.delete(key(plan));
  if (purpose.kind === 'call') return answerCall(delivery, purpose.call, { code }, { isError: true });
  const failure = code.slice(0, CODE_MAX);
  if (purpose.kind === 'wake') notWoken(delivery, purpose.results, failure);
  const read = { id: purpose.reading, seen: null, code: failure };
  teamRead(delivery, read, (row, tasks) => takeFromInbox(delivery, row, tasks));
}

const CODE_MAX = 96;

/** A session or job that has failed as a cell takes no more events. */
function childFailed(delivery: Delivery, [reducer, at]: readonly [string, string, ...unknown[]]): void {
  const coordinator = coordinatorOf(delivery.ctx.address[1]);
  if (reducer === coordinator[0] && at === coordinator[1]) return coordinatorFailed(delivery);
  const n = jobNumberOf(delivery.ctx.address[1], [reducer, at]);
  if (n !== undefined) jobFailed(delivery, n);
}

/** A command of people, of the app, or of the cell that opened the project; no team but its own may (SPEC-41). */
function command<V extends { readonly team?: string | undefined }>(act: (delivery: Delivery, value: V) => void) {
  return (draft: ProjectState, value: V, ctx: ReducerContext): void => {
    try {
      if (isOfOther(draft.team, value.team)) throw new Refused('other_team');
      deliver(draft, ctx, (delivery) => act(delivery, value));
    } catch (error) {
      if (error instanceof Refused) ctx.reject(error.code);
      throw error;
    }
  };
}

function isOfOther(own: string | null, named: string | undefined): boolean {
  return named !== undefined && own !== null && named !== own;
}

/** An event that a plan of the project raises. */
function fromPlan<V>(act: (delivery: Delivery, value: V) => void) {
  return (draft: ProjectState, value: V, ctx: ReducerContext): void =>
    deliver(draft, ctx, (delivery) => act(delivery, value));
}
