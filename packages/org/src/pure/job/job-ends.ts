/** How a job changes, how it is stopped, and how it ends, once. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { present } from '@reprise/contracts';
import type { JobChanged } from './contracts.js';
import { JOB_ENDED, type JobStatus } from './job-names.js';
import type { JobContext, JobState } from './job-state.js';
import { dropMade } from './made.js';
import { leavePool } from './pool.js';

/** The timer of the time limit, and the one that ends the wait for a session that was told to stop. */
export const TIMEOUT = 'timeout';
export const DRAIN = 'drain';

/** The tag of the news of the end, whose answer gives the slot back. */
export const END_TAG = 'end';

/** How much longer than its own grace a session may take to stop. */
const DRAIN_MS_BEYOND = 60_000;

interface Outcome extends Partial<Pick<JobState, 'output_ref' | 'value_ref' | 'code'>> {
  readonly status: JobStatus;
}

export function hasEnded({ status }: JobState): boolean {
  return JOB_ENDED.includes(status);
}

/** Moves a job to a status, and tells its owner and watchers. @returns whether the owner hears of it; it answers a tag */
export function moveJob(draft: JobState, status: JobStatus, ctx: JobContext, tag?: string): boolean {
  draft.status = status;
  draft.since = ctx.now;
  const changed = changeOf(draft);
  ctx.record('work/JobChanged@1', changed);
  const { owner } = draft;
  if (owner === null || !ctx.takes(owner, 'work/JobChanged@1')) return false;
  const answer = tag === undefined ? undefined : ({ reply: true, tag } as const);
  ctx.send(owner, { name: 'work/JobChanged@1', value: changed }, answer);
  return true;
}

/** Tells the owner again how the job stands: nothing has changed. */
export function reportJob(draft: JobState, ctx: JobContext): void {
  const { owner } = draft;
  if (owner !== null && ctx.takes(owner, 'work/JobChanged@1'))
    ctx.send(owner, { name: 'work/JobChanged@1', value: changeOf(draft) });
}

function changeOf(draft: JobState): JobChanged {
  const { n, status, attempt, tally } = draft;
  const isBegun = draft.session !== null;
  return present({
    n,
    status,
    attempt,
    session: draft.session ?? undefined,
    model: isBegun ? (draft.model ?? undefined) : undefined,
    digest: draft.digest ?? undefined,
    output_ref: draft.output_ref ?? undefined,
    value_ref: draft.value_ref ?? undefined,
    code: draft.code ?? undefined,
    tally: { ...tally },
  });
}

/**
 * Ends a job (job/J2): nothing of it is under way or due, and its slot is given back. What the owner begins when it hears
 * of the end is in line before that: so a slot goes to the first of all that are ready.
 */
export function endJob(draft: JobState, { status, ...outcome }: Outcome, ctx: JobContext): void {
  ctx.forget(); // it waits for nobody
  Object.assign(draft, outcome);
  if (draft.plan !== null) ctx.cancel(draft.plan);
  draft.plan = null;
  dropMaking(draft, ctx);
  ctx.clearTimer(TIMEOUT);
  ctx.clearTimer(DRAIN);
  if (draft.slot !== 'held') leavePool(draft, ctx);
  if (!moveJob(draft, status, ctx, draft.slot === 'held' ? END_TAG : undefined)) leavePool(draft, ctx);
}

/** A session that waits for its rights never begins. */
export function dropMaking({ session }: JobState, ctx: JobContext): void {
  if (session !== null) dropMade(ctx, [SESSION_REDUCER, session]);
}

/** Stops a job: at once before its session works, else when the session has stopped. */
export function stopJob(draft: JobState, as: 'cancelled' | 'timeout', code: string, ctx: JobContext): void {
  if (draft.stopping !== null) return;
  const { status, session } = draft;
  if (status !== 'running' && status !== 'waiting') return endJob(draft, { status: as, code }, ctx);
  draft.stopping = as;
  draft.code = code;
  ctx.clearTimer(TIMEOUT);
  ctx.timer(DRAIN, ctx.now + draft.grace_ms + DRAIN_MS_BEYOND);
  const value = { command_id: 'stop', command: { type: 'Cancel', scope: 'all' } };
  ctx.send([SESSION_REDUCER, session ?? ''], { name: 'aos.agent/HostCommand@1', value });
}
