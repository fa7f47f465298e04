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
 * P8  One delivery changes a bounded number of tasks; the rest follows in deliveries of their own, before any other input.
 * P9  No text of a brief, a skill or an output enters the state: links only.
 */
import { childNotice, ownerAnswer, ownerCall, ownerParked, SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, NOTICES } from '@reprise/contracts';
import {
  by,
  defineReducer,
  type EventHandlers,
  type EventValue,
  from,
  fromAll,
  handledBy,
  reducerOnUse,
} from '@reprise/kernel/define';
import {
  answerCall,
  commanded,
  job,
  jobEvents,
  jobNotMade,
  jobNumberOf,
  leaveRest,
  memoryEvents,
  memoryNews,
  openStore,
  ownPlan,
  purposeOf,
  restEvent,
  takePurpose,
} from '@reprise/org/contracts';
import {
  COORDINATOR_KEY,
  INPUTS_MAX,
  isCoordinator,
  PROJECT,
  PROJECT_ID,
  type ProjectPurpose,
  type ProjectState,
  projectCommands,
  projectFacts,
  projectNews,
  projectState,
  projectTables,
  scopeOf,
} from '../contracts/index.js';
import { appRefused, passBack } from './call/app-calls.js';
import { takeCall } from './call/calls.js';
import { memoryWritten, remember } from './call/memory.js';
import { cancelProject, sweep } from './cancel.js';
import { ADOPTED_TAG, FIRST_TAG, INPUT_TAG } from './coordinator/coordinator.js';
import { adoptionAnswered, coordinatorFailed, coordinatorNews, inputAnswered } from './coordinator/coordinator-news.js';
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
} from './coordinator/wake.js';
import { takeFromInbox } from './inbox.js';
import { acted } from './project/acts.js';
import type { Delivery, ProjectContext } from './project/delivery.js';
import { linkMessage } from './project/links.js';
import { Refused } from './project/refused.js';
import { canCount, stateUse } from './project/spending.js';
import { countAnew, setStatus, standingOf } from './project/status.js';
import { afterReading, teamRead } from './project/team.js';
import { coordinatorStands, revived, STANDING_TAG } from './revived.js';
import { jobChanged, jobFailed } from './task/jobs.js';
import { cancelTask, skipTask } from './task/people.js';
import { dispatch } from './task/spawn.js';
import { passOnEnds } from './task/tasks.js';

/** The session of the coordinator, see `coordinatorOf`. */
const coordinator = by.cell({ reducer: SESSION_REDUCER, key: [{ own: true }, COORDINATOR_KEY] });

/** The cell of the app to which the project passes calls on. */
const app = by.cell({ state: 'calls' });

const EVENTS = {
  ...projectCommands,
  ...fromAll(projectNews, by.ownPlan),
  ...restEvent,
  ...jobEvents,
  ...memoryEvents,
  'aos.agent/OwnerCall@1': from(ownerCall, coordinator, job('jobs')),
  'aos.agent/OwnerAnswer@1': from(ownerAnswer, app),
  'aos.agent/OwnerParked@1': from(ownerParked, app),
  'aos.agent/ChildNotice@1': from(childNotice, coordinator),
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/Reply@1': NOTICES['sys/Reply@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/Revived@1': NOTICES['sys/Revived@1'],
} as const;

const HANDLERS: EventHandlers<ProjectState, typeof EVENTS, typeof projectTables> = {
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
  'specialists/TeamRead@1': delivered((delivery, read) => {
    if (read.seen?.skills.more !== true) planEnded(delivery, 'team');
    teamRead(delivery, read, takeFromInbox);
  }),
  'specialists/WakeComposed@1': delivered((delivery, value) => {
    planEnded(delivery, 'wake');
    wakeComposed(delivery, value);
  }),
  'specialists/Answered@1': delivered((delivery, { call, value, refs, code }) => {
    planEnded(delivery, 'call');
    answerCall(delivery.ctx, call, code === null ? { value, refs } : { value: { code }, is_error: true });
  }),
  'org/Rest@1': delivered(() => undefined),
  'work/JobChanged@1': delivered(jobChanged),
  'memory/Done@1': delivered((delivery, value) => {
    const news = memoryNews(delivery.ctx, { name: 'memory/Done@1', value });
    if (news !== 'other') memoryWritten(delivery, news);
  }),
  'aos.agent/OwnerCall@1': delivered(takeCall),
  'aos.agent/OwnerAnswer@1': delivered((delivery, value) =>
    passBack(delivery, { name: 'aos.agent/OwnerAnswer@1', value }),
  ),
  'aos.agent/OwnerParked@1': delivered((delivery, value) =>
    passBack(delivery, { name: 'aos.agent/OwnerParked@1', value }),
  ),
  'aos.agent/ChildNotice@1': delivered(coordinatorNews),
  'sys/TimerFired@1': delivered((delivery, { name }) => {
    if (name === WAKE) wakeDue(delivery);
    if (name === WAKE_LOST) wakeLost(delivery);
  }),
  'sys/PlanFailed@1': delivered((delivery, value) => {
    if (memoryNews(delivery.ctx, { name: 'sys/PlanFailed@1', value }) === 'other') planFailed(delivery, value);
  }),
  'sys/Reply@1': delivered((delivery, reply) => {
    const { tag = '' } = reply;
    const unmade = jobNotMade(reply);
    if (unmade !== undefined) jobChanged(delivery, unmade);
    else if (tag === STANDING_TAG) coordinatorStands(delivery, reply.outcome === 'accepted');
    else if (tag.startsWith(ADOPTED_TAG)) adoptionAnswered(delivery, reply);
    else if (tag.startsWith(INPUT_TAG) || tag.startsWith(FIRST_TAG)) inputAnswered(delivery, reply);
    else appRefused(delivery, tag);
  }),
  'sys/ChildFailed@1': delivered((delivery, { cell: [reducer, at] }) => childFailed(delivery, [reducer, at])),
  'sys/Revived@1': delivered(revived),
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

/** Handles an event, then passes on what follows from it. */
function deliver(state: ProjectState, ctx: ProjectContext, act: (delivery: Delivery) => void): void {
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
  if (isLeft) leaveRest(ctx);
}

/** The plan that raises this event has raised its last one: it is forgotten. */
function planEnded({ ctx }: Delivery, kind: ProjectPurpose['kind']): void {
  const plans = ctx.table('plans');
  const plan = ownPlan(ctx);
  if (purposeOf(plans, plan)?.kind === kind) takePurpose(plans, plan);
}

/** A plan of the project ended in error: what it was for has failed. */
function planFailed(delivery: Delivery, { plan, code }: EventValue<typeof EVENTS, 'sys/PlanFailed@1'>): void {
  const purpose = takePurpose(delivery.ctx.table('plans'), plan[2]);
  if (purpose === undefined) return;
  if (purpose.kind === 'call') return answerCall(delivery.ctx, purpose.call, { value: { code }, is_error: true });
  const failure = code.slice(0, CODE_MAX);
  if (purpose.kind === 'wake') notWoken(delivery, purpose.results, failure);
  teamRead(delivery, { id: purpose.reading, seen: null, code: failure }, takeFromInbox);
}

const CODE_MAX = 96;

/** A session or job that has failed as a cell takes no more events. */
function childFailed(delivery: Delivery, cell: Address): void {
  const [, project] = delivery.ctx.address;
  if (isCoordinator(project, cell)) return coordinatorFailed(delivery);
  const n = jobNumberOf(project, cell);
  if (n !== undefined) jobFailed(delivery, n);
}

/** A command of people, of the app, or of the cell that opened the project; no team but its own may (SPEC-41). */
function command<V extends { readonly team?: string | undefined }>(act: (delivery: Delivery, value: V) => void) {
  return (draft: ProjectState, value: V, ctx: ProjectContext): void =>
    commanded(ctx, () => {
      if (isOfOther(draft.team, value.team)) throw new Refused('other_team');
      deliver(draft, ctx, (delivery) => act(delivery, value));
    });
}

function isOfOther(own: string | null, named: string | undefined): boolean {
  return named !== undefined && own !== null && named !== own;
}

function delivered<V>(act: (delivery: Delivery, value: V) => void) {
  return (draft: ProjectState, value: V, ctx: ProjectContext): void =>
    deliver(draft, ctx, (delivery) => act(delivery, value));
}
