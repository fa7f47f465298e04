/**
 * Jobs of agents within a budget, for an owner that says no more than which agent is shown which texts: each job waits in
 * line until its share of the budget is free, then for a slot of its pool, and is counted when it ends.
 *
 * Invariants
 * A1  The budget holds as the ledger says (kit/ledger).
 * A2  Each job that was started is told as ended once, also when it was not made, its cell has failed, or it asks for more
 *     than the whole budget.
 */
import {
  type Address,
  isFilled,
  keyText,
  NOTICES,
  ref,
  requireArgument,
  requireFields,
  requireMethods,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { EventOf, ReducerContext } from '@reprise/kernel/define';
import { QUEUE } from '../flow/index.js';
import { key, placeInLine } from '../kit/keys.js';
import { beginInLine, type Share, setAside, settleRun, share, UNUSED, used } from '../kit/ledger.js';
import { leaveRest, REST, restEvent } from '../kit/rest.js';
import { beginWork, failedJob, type JobChanged, jobEvents, jobNotMade, jobNumberOf } from './contracts.js';
import { JOB_ENDED, JOB_PRIORITY_MAX, JOB_TIMEOUT_MS_MAX } from './job-names.js';

/** The kind of the requests of these jobs. */
export const AGENT_JOB = 'agent';

const BEGUN_AT_ONCE = 16;

/** The ledger of an owner's jobs: a field of its state. `asked` counts the jobs; the last one has this number. */
export const ledger = z.strictObject({
  budget: z.nullable(share),
  spent: used,
  reserved: z.int().min(0),
  asked: z.int().min(0),
});

/** The ledger of an owner's jobs. */
export type Ledger = z.infer<typeof ledger>;

/** A ledger in which nothing was used. @param budget what all jobs may use together; null: no bound */
export function openLedger(budget: Share | null): Ledger {
  return { budget, spent: UNUSED, reserved: 0, asked: 0 };
}

/** What the session of such a job is made of. */
export const agentJobDetails = z.strictObject({
  agent: z.string().min(1).max(64),
  shows: z.array(z.strictObject({ label: z.string().max(256), ref: ref() })).max(16),
  aside: z.nullable(share),
  wall_ms: z.int().min(1).max(JOB_TIMEOUT_MS_MAX),
});

const agentJob = z.strictObject({
  /** What the job is for: a number of the owner, which comes back with its news and calls. */
  of: z.int().min(0),
  /** The name of an agent of the world. */
  agent: agentJobDetails.shape.agent,
  /** The texts of its first message. They are words of others: each stands below its label, between marks. */
  shows: agentJobDetails.shape.shows,
  /** What it may use, in the unit of the budget; it counts where there is a budget. */
  share: z.int().min(1),
  /** How long its agent may work, in milliseconds; time in which a call of it waits does not count. */
  wall_ms: agentJobDetails.shape.wall_ms,
  /** The pool whose slot it needs, see {@link openPool}; without one it needs none. */
  pool: z.exactOptional(keyText()),
  /** Higher ones come first; 0 when absent. */
  priority: z.exactOptional(z.int().min(-JOB_PRIORITY_MAX).max(JOB_PRIORITY_MAX)),
});

/** A job of an agent. */
export type AgentJob = z.infer<typeof agentJob>;

/** The tables that an owner of such jobs declares: those that have begun, by their numbers, and those in line. */
export const agentJobTables = {
  jobs: z.strictObject({ of: z.int().min(0), aside: z.nullable(share) }),
  jobs_in_line: z.strictObject({ n: z.int().min(1), ...agentJob.shape }),
};

/** The events that an owner of such jobs declares; `jobNews` takes them. */
export const agentJobEvents = {
  ...jobEvents,
  ...restEvent,
  'sys/Reply@1': NOTICES['sys/Reply@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
} as const;

type JobsContext = ReducerContext<typeof agentJobTables>;

/** Sorts before every place in line. */
const FIRST = '-';

/** Opens a pool: so many jobs with this pool run at once. */
export function openPool(ctx: Pick<ReducerContext, 'send'>, pool: string, slots: number): void {
  requireMethods(ctx, ['send'], 'openPool(ctx)', 'the ctx of a reducer');
  requireArgument(isFilled(pool), 'openPool(pool)', 'the name of a pool', pool);
  ctx.send([QUEUE, pool], { name: 'flow/OpenQueue@1', value: { limit: slots } });
}

/**
 * Starts a job: it begins when its share of the budget and a slot are free. A job whose share is larger than the whole
 * budget does not begin: it ends with `cap_denied/share`.
 *
 * @returns its number
 */
export function startJob(ctx: JobsContext, state: Ledger, job: AgentJob): number {
  requireMethods(ctx, ['send', 'table'], 'startJob(ctx)', 'the ctx of a reducer');
  requireFields(job, 'startJob(job)', 'an object with of, agent, shows, share and wall_ms');
  const n = ++state.asked;
  // A job that can never begin stands before all others: it ends at once.
  const place = canNeverBegin(state, job) ? `${FIRST}${key(n)}` : placeInLine(job.priority ?? 0, n);
  ctx.table('jobs_in_line').set(place, { n, ...job });
  beginJobs(ctx, state);
  return n;
}

/** Adds to the budget: jobs that wait for it begin. A ledger without a budget has no bound to raise. */
export function addBudget(ctx: JobsContext, state: Ledger, amount: number): void {
  requireMethods(ctx, ['send', 'table'], 'addBudget(ctx)', 'the ctx of a reducer');
  requireArgument(Number.isSafeInteger(amount) && amount > 0, 'addBudget(amount)', 'a whole number from 1', amount);
  if (state.budget === null) return;
  state.budget = { ...state.budget, amount: state.budget.amount + amount };
  beginJobs(ctx, state);
}

/** What an owner hears of a job. */
export interface JobNews extends JobChanged {
  /** What the job is for, as given to {@link startJob}. */
  readonly of: number;
  /** Whether it is over: nothing comes after that. */
  readonly ended: boolean;
  /** What to do about a job that asked for more than the whole budget (`cap_denied/share`). */
  readonly problem?: string;
}

/**
 * Takes an event of {@link agentJobEvents}: counts what a job used when it has ended, and begins those that wait for it.
 *
 * @returns the news of a job; undefined for an event without news of one that is under way
 * @example
 * reduce(draft, event, ctx) {
 *   const news = jobNews(ctx, draft.ledger, event)
 *   if (news?.ended) draft.results.push(news.status)
 * }
 */
export function jobNews(
  ctx: JobsContext,
  state: Ledger,
  event: { readonly name: string; readonly value: unknown },
): JobNews | undefined {
  requireMethods(ctx, ['send', 'table'], 'jobNews(ctx)', 'the ctx of a reducer');
  requireFields(event, 'jobNews(event)', 'the event of the reducer');
  if (event.name === REST) return goOn(ctx, state);
  const news = changeIn(ctx.address, event as EventOf<typeof agentJobEvents>);
  const job = news === undefined ? undefined : ctx.table('jobs').get(key(news.n));
  if (news === undefined || job === undefined) return undefined;
  const ended = JOB_ENDED.includes(news.status);
  // Of a job whose cell has failed nothing was heard: it may have used all that was set aside for it.
  const tally = event.name === 'sys/ChildFailed@1' ? null : news.tally;
  if (ended) {
    ctx.table('jobs').delete(key(news.n));
    settleRun(state, job.aside, tally, news.code ?? '');
    if (ctx.table('jobs_in_line').size > 0) leaveRest(ctx);
  }
  return { ...news, of: job.of, ended };
}

/** What an event says of a job of the cell: its own news, that it was not made, or that its cell has failed. */
function changeIn([, owner]: Address, { name, value }: EventOf<typeof agentJobEvents>): JobChanged | undefined {
  if (name === 'work/JobChanged@1') return value;
  if (name === 'sys/Reply@1') return jobNotMade(value);
  const n = name === 'sys/ChildFailed@1' ? jobNumberOf(owner, value.cell) : undefined;
  return n === undefined ? undefined : failedJob(n);
}

/** Begins those in line; the first one ends instead when it can never begin. @returns the news of its end */
function goOn(ctx: JobsContext, state: Ledger): JobNews | undefined {
  const first = ctx.table('jobs_in_line').first();
  const refused = first !== undefined && canNeverBegin(state, first[1]) ? first : undefined;
  if (refused !== undefined) ctx.table('jobs_in_line').delete(refused[0]);
  beginJobs(ctx, state);
  if (refused === undefined) return undefined;
  const [, { n, of, share }] = refused;
  const { unit = 'tokens', amount = 0 } = state.budget ?? {};
  const problem = `share of job ${n} is too large: it asks for ${share} ${unit}, and the whole budget is ${amount}; start it again with a smaller share, or after addBudget`;
  return { ...failedJob(n), of, ended: true, code: 'cap_denied/share', problem };
}

/** Whether a job asks for more than the whole budget: it would wait for ever. */
function canNeverBegin({ budget }: Ledger, { share }: Pick<AgentJob, 'share'>): boolean {
  return budget !== null && share > budget.amount;
}

/**
 * Begins the jobs in line, as far as the budget goes (kit/ledger/L4). The time limit is one of the session: that of a job
 * would count the time in which a person thinks.
 */
function beginJobs(ctx: JobsContext, state: Ledger): void {
  const line = ctx.table('jobs_in_line');
  let begun = 0;
  const isLeft = beginInLine(
    line,
    () => begun >= BEGUN_AT_ONCE,
    (place, row) => {
      const { n, of, agent, shows, wall_ms, pool = null, priority = 0, share } = row;
      const aside = setAside(state, state.budget, { amount: share });
      if (canNeverBegin(state, row)) leaveRest(ctx); // the owner is told of its end
      if (typeof aside === 'string') return false;
      begun++;
      line.delete(place);
      ctx.table('jobs').set(key(n), { of, aside });
      const details = { agent, shows, aside, wall_ms };
      beginWork(ctx, { n, kind: AGENT_JOB, details, pool, priority, timeout_ms: JOB_TIMEOUT_MS_MAX });
      return true;
    },
  );
  if (isLeft) leaveRest(ctx);
}
