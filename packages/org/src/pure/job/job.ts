/**
 * `work/Job@1`: one run of an agent for an owner, with a slot of a pool, a recorded preparation, a session and a time
 * limit.
 *
 * Invariants
 * J1  A job has one session for each attempt, and one final change of its status.
 * J2  A job ends through `endJob`: its timers and its plan are gone, its slot is given back when its owner has heard of
 *     the end, and nothing follows.
 * J3  What comes from an earlier attempt, or after the end, changes only what was spent.
 * J4  A job that waits for a person or another agent has no slot.
 * J5  A job that its owner has paused begins nothing, and nothing of it is cancelled.
 * J6  A job reads and makes no content: it passes links on.
 */
import { childNotice, ownerAnswer, ownerCall, ownerParked, session } from '@reprise/agent/contracts';
import { type Address, NOTICES, utf8Length } from '@reprise/contracts';
import { byteLength } from '@reprise/kernel/codec';
import {
  defineReducer,
  type EventHandlers,
  type EventValue,
  fromAll,
  handledBy,
  reducerOnUse,
} from '@reprise/kernel/define';
import { queueEvents } from '../flow/index.js';
import { type BeginJob, jobCommands, jobFacts, jobKey, jobOwner, jobPlanNews } from './contracts.js';
import { CALL_TAG, callRefused, passDown, passUp } from './job-calls.js';
import { DRAIN, END_TAG, endJob, hasEnded, moveJob, reportJob, stopJob, TIMEOUT } from './job-ends.js';
import { JOB, JOB_DETAILS_BYTES_MAX, JOB_KEY_MAX } from './job-names.js';
import { isPaused, pauseJob, resumeJob } from './job-pause.js';
import { attemptLost, countUse, granted, INPUT_TAG, isLive, prepared, sessionNews, TERMS } from './job-session.js';
import { type JobContext, type JobState, jobState, jobTables } from './job-state.js';
import { makingEvents, makingNews } from './made.js';
import { enterPool, LINE_TAG, leavePool, ownPool } from './pool.js';

const EVENTS = {
  ...jobCommands,
  ...jobPlanNews,
  ...fromAll(queueEvents, ownPool),
  ...makingEvents,
  ...fromAll({ 'aos.agent/OwnerCall@1': ownerCall, 'aos.agent/ChildNotice@1': childNotice }, session('sessions')),
  ...fromAll({ 'aos.agent/OwnerAnswer@1': ownerAnswer, 'aos.agent/OwnerParked@1': ownerParked }, ...jobOwner),
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/Undeliverable@1': NOTICES['sys/Undeliverable@1'],
} as const;

type Events = typeof EVENTS;
type Tables = typeof jobTables;

const HANDLERS: EventHandlers<JobState, Events, Tables> = {
  'work/Begin@1': (draft, value, ctx) => begin(draft, value, ctx),
  'work/Stop@1': (draft, { reason }, ctx) => {
    if (hasEnded(draft)) return late(draft, 'work/Stop@1', ctx);
    stopJob(draft, 'cancelled', reason, ctx);
  },
  'work/Pause@1': (draft, _, ctx) => pauseJob(draft, ctx),
  'work/Resume@1': (draft, _, ctx) => resumeJob(draft, ctx),
  'work/Report@1': (draft, _, ctx) => reportJob(draft, ctx),
  'flow/Granted@1': fromPool('flow/Granted@1', (draft, ctx) => {
    if (draft.status !== 'queued') return late(draft, 'flow/Granted@1', ctx);
    draft.slot = 'held';
    ctx.forget(LINE_TAG);
    if (!isPaused(ctx)) granted(draft, ctx);
  }),
  'flow/Expired@1': fromPool('flow/Expired@1', (draft, ctx) => {
    draft.slot = 'none'; // the pool has taken it back
    stopJob(draft, 'timeout', 'slot_expired', ctx);
  }),
  'flow/ItemCancelled@1': fromPool('flow/ItemCancelled@1', (draft, ctx) => {
    draft.slot = 'none';
    stopJob(draft, 'cancelled', 'removed_from_pool', ctx);
  }),
  'work/Prepared@1': fromPlan('work/Prepared@1', (draft, value, ctx) => {
    if (isPaused(ctx)) draft.plan = null;
    else prepared(draft, value, ctx);
  }),
  'work/NotPrepared@1': fromPlan('work/NotPrepared@1', (draft, { code }, ctx) => {
    draft.plan = null;
    endJob(draft, { status: 'failed', code }, ctx);
  }),
  'aos.agent/ChildNotice@1': (draft, notice, ctx) => {
    const { news } = notice;
    if (isLive(draft, ctx.rowKey ?? '')) return sessionNews(draft, notice, ctx);
    if (news.kind === 'settled') countUse(draft, news.tally);
    const used = news.kind === 'settled' ? { tally: news.tally } : {};
    ctx.record('work/Late@1', { n: draft.n, what: `session.${news.kind}`, ...used });
  },
  'aos.agent/OwnerCall@1': (draft, call, ctx) => {
    // A session of an earlier attempt that names the present one would be heard as that one.
    if (call.session !== ctx.rowKey) ctx.reject('not_yours');
    passUp(draft, call, ctx);
  },
  'aos.agent/OwnerAnswer@1': (draft, value, ctx) => down(draft, { name: 'aos.agent/OwnerAnswer@1', value }, ctx),
  'aos.agent/OwnerParked@1': (draft, value, ctx) => down(draft, { name: 'aos.agent/OwnerParked@1', value }, ctx),
  'sys/TimerFired@1': (draft, { name }, ctx) => {
    if (hasEnded(draft)) return late(draft, `timer.${name}`, ctx);
    if (name === TIMEOUT) stopJob(draft, 'timeout', 'timeout', ctx);
    else if (name === DRAIN && draft.stopping !== null) endJob(draft, { status: draft.stopping }, ctx);
  },
  'sys/PlanFailed@1': (draft, { plan, code }, ctx) => {
    if (hasEnded(draft) || plan[2] !== draft.plan) return late(draft, 'sys/PlanFailed@1', ctx);
    draft.plan = null;
    endJob(draft, { status: 'failed', code: `plan/${code}`.slice(0, 96) }, ctx);
  },
  'sys/ChildFailed@1': (draft, { cell }, ctx) => {
    if (hasEnded(draft) || cell[1] !== draft.session) return late(draft, 'sys/ChildFailed@1', ctx);
    attemptLost(draft, 'session_failed', ctx);
  },
  'sys/Undeliverable@1': (draft, { to, event, code }, ctx) => {
    if (hasEnded(draft)) return late(draft, 'sys/Undeliverable@1', ctx);
    const { owner } = draft;
    // Work for an owner that is gone has no reader.
    if (owner !== null && to[0] === owner[0] && to[1] === owner[1] && code === 'cell_absent')
      stopJob(draft, 'cancelled', 'owner_absent', ctx);
    else if (event === 'flow/Enqueue@1') notEnqueued(draft, code, ctx);
  },
  'sys/Reply@1': (draft, value, ctx) => {
    // The owner has heard of the end, or never will.
    if (value.tag === END_TAG) return leavePool(draft, ctx);
    if (hasEnded(draft)) return late(draft, 'sys/Reply@1', ctx);
    if (made(draft, { name: 'sys/Reply@1', value }, ctx)) return;
    const { tag = '', code = '' } = value;
    if (tag === LINE_TAG) notEnqueued(draft, code, ctx);
    else if (tag === `${INPUT_TAG}${draft.attempt}`) attemptLost(draft, `session/${code}`.slice(0, 96), ctx);
    else if (tag.startsWith(CALL_TAG)) callRefused(draft, tag, code, ctx);
  },
  'sys/CommandRefused@1': (draft, value, ctx) => {
    if (hasEnded(draft)) return late(draft, 'sys/CommandRefused@1', ctx);
    made(draft, { name: 'sys/CommandRefused@1', value }, ctx);
  },
  'work/RightsStand@1': (draft, value, ctx) => {
    if (hasEnded(draft)) return late(draft, 'work/RightsStand@1', ctx);
    made(draft, { name: 'work/RightsStand@1', value }, ctx);
  },
};

/** The reducer of jobs: part of the app of every world with `workPart`. */
export const jobReducer = reducerOnUse(JOB, () =>
  defineReducer({
    name: JOB,
    state: jobState,
    events: EVENTS,
    facts: jobFacts,
    tables: jobTables,
    init: (_key, event): JobState => initial(event.value as BeginJob),
    reduce: handledBy(HANDLERS),
  }),
);

function initial({ details: _, grant: _grant, labels: _labels, attempts = 1, ...asked }: BeginJob): JobState {
  return {
    ...asked,
    attempts,
    owner: null,
    status: 'queued',
    slot: 'none',
    attempt: 0,
    plan: null,
    session: null,
    digest: null,
    output_ref: null,
    value_ref: null,
    code: null,
    stopping: null,
    grace_ms: 0,
    tally: { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 },
    since: null,
    begun: null,
  };
}

function begin(draft: JobState, job: BeginJob, ctx: JobContext): void {
  const { caller, address } = ctx;
  const begun = ctx.hash(job);
  if (draft.begun !== null) {
    if (draft.begun === begun) return;
    ctx.reject('already_begun');
  }
  if (utf8Length(address[1]) > JOB_KEY_MAX) ctx.reject('key_too_long');
  const owner: Address | null = caller === null ? null : [...caller];
  if (owner !== null && address[1] !== jobKey(owner[1], job.n)) ctx.reject('not_your_key');
  const { details, grant, labels = {}, pool } = job;
  if (details !== undefined && byteLength(details) > JOB_DETAILS_BYTES_MAX) ctx.reject('details_too_large');
  draft.begun = begun;
  draft.owner = owner;
  ctx.table('terms').set(TERMS, { grant, labels, ...(details === undefined ? {} : { details }) });
  if (pool === null) return granted(draft, ctx);
  moveJob(draft, 'queued', ctx);
  enterPool(draft, pool, ctx);
}

/** The pool does not take the job: there is no such pool, or it may not be reached. */
function notEnqueued(draft: JobState, code: string, ctx: JobContext): void {
  if (draft.status !== 'queued') return;
  draft.slot = 'none';
  endJob(draft, { status: 'failed', code: `pool/${code}`.slice(0, 96) }, ctx);
}

/** Takes what comes back while the session is given its rights. @returns whether it belongs there */
function made(
  draft: JobState,
  event: { readonly name: keyof typeof makingEvents; readonly value: unknown },
  ctx: JobContext,
): boolean {
  const news = makingNews(ctx, event);
  if (news === 'other') return false;
  if (news === undefined || news.tag !== `${INPUT_TAG}${draft.attempt}`) return true;
  if (news.made) moveJob(draft, 'running', ctx);
  else endJob(draft, { status: 'failed', code: `rights/${news.code}`.slice(0, 96) }, ctx);
  return true;
}

function down(draft: JobState, event: Parameters<typeof passDown>[1], ctx: JobContext): void {
  if (!passDown(draft, event, ctx)) late(draft, event.name, ctx);
}

function late({ n }: JobState, what: string, ctx: JobContext): void {
  ctx.record('work/Late@1', { n, what });
}

/** An event of the pool of the job. */
function fromPool(name: string, act: (draft: JobState, ctx: JobContext) => void) {
  return (draft: JobState, _value: unknown, ctx: JobContext): void => {
    if (hasEnded(draft)) return late(draft, name, ctx);
    act(draft, ctx);
  };
}

/** An event of the plan of an attempt: it counts for the attempt that is under way. */
function fromPlan<N extends keyof typeof jobPlanNews>(
  name: N,
  act: (draft: JobState, value: EventValue<typeof jobPlanNews, N>, ctx: JobContext) => void,
) {
  return (draft: JobState, value: EventValue<typeof jobPlanNews, N>, ctx: JobContext): void => {
    if (hasEnded(draft) || draft.plan !== ctx.plan || value.attempt !== draft.attempt) return late(draft, name, ctx);
    act(draft, value, ctx);
  };
}
