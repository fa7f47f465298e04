/** What jobs tell their project: a result is stored before anything else hears of it. */
import { present } from '@reprise/contracts';
import {
  failedJob,
  forgetPassed,
  JOB_ENDED,
  type JobChanged,
  key,
  LOST,
  stopSessionOfFailed,
} from '@reprise/org/contracts';
import type { JobRow, RecordedResult } from '../../contracts/index.js';
import { changeResult, type Delivery, resultOr, taskOr } from '../project/delivery.js';
import { countUse, hasReachedShare } from '../project/spending.js';
import { moveTask } from './tasks.js';

/** Takes the news of a job. @param countAs the code by which its use is counted when it has ended */
export function jobChanged(delivery: Delivery, news: JobChanged, countAs = news.code ?? ''): void {
  const { n, digest, session, model } = news;
  const job = delivery.ctx.table('jobs').get(key(n));
  if (job === undefined) return; // the job had ended: nothing comes after that
  const status = news.status === 'preparing' ? 'running' : news.status;
  if (job.waiting && status !== 'queued') startedWaitingEnded(delivery, n, job);
  const row = resultOr(delivery, n);
  const known = { digest: digest ?? row.digest, session: session ?? row.session, model: model ?? row.model };
  if (JOB_ENDED.includes(status)) return jobEnded(delivery, job, { ...row, ...known, status }, news, countAs);
  changeResult(delivery, n, { ...known, status, cost: news.tally });
}

/**
 * The cell of a job has failed: nothing more comes from it, so its result is a failure. Its session stops: nobody would hear
 * of what it does.
 */
export function jobFailed(delivery: Delivery, n: number): void {
  if (delivery.ctx.table('jobs').get(key(n)) === undefined) return;
  const { cost, session } = resultOr(delivery, n);
  if (session !== null) stopSessionOfFailed(delivery.ctx, session);
  jobChanged(delivery, failedJob(n, cost), LOST);
}

function startedWaitingEnded({ ctx, state }: Delivery, n: number, job: JobRow): void {
  ctx.table('jobs').set(key(n), { ...job, waiting: false });
  state.waiting--;
}

/** Stores the result, moves the task, and lets the coordinator be woken: in one delivery (SPEC-23). */
function jobEnded(delivery: Delivery, job: JobRow, row: RecordedResult, news: JobChanged, countAs: string): void {
  const { state, ctx } = delivery;
  const { n, output_ref = null, tally } = news;
  const code = row.status === 'ok' ? null : codeOf(job, row, news);
  const stored: RecordedResult = { ...row, code, output_ref, cost: tally, ended_at: ctx.now };
  delivery.ctx.table('results').set(key(n), stored);
  delivery.ctx.table('jobs').delete(key(n));
  forgetPassed(ctx, row.session);
  delivery.ctx.table('unprocessed').set(key(n), null);
  countUse(delivery, job.share, tally, countAs);
  const isShort = hasReachedShare(job.share, code?.replace('limit/', '') ?? '');
  if (isShort) state.exhausted = true;
  state.jobs--;
  state.unprocessed++;
  const { task, title, skill, status, cost } = stored;
  ctx.record('specialists/ResultStored@1', { result: n, task, title, skill, status, code, output_ref, cost });
  if (task !== null) taskEnded(delivery, { task, n, status, code: code ?? status, isShort }, job);
}

interface EndedResult extends Pick<RecordedResult, 'status'> {
  readonly task: number;
  readonly n: number;
  readonly code: string;
  /** Whether its share of the budget was too small: then the task waits for another budget. */
  readonly isShort: boolean;
}

function taskEnded(delivery: Delivery, { task, n, status, code, isShort }: EndedResult, { stopped }: JobRow): void {
  const row = taskOr(delivery, task);
  if (row.status !== 'running' || row.result !== n) return;
  if (stopped !== null) {
    const { code: failure, by } = stopped;
    return moveTask(delivery, task, row, stopped.status, { failure, ...present({ ended_by: by }) });
  }
  if (status === 'ok') return moveTask(delivery, task, row, 'completed');
  if (isShort) return moveTask(delivery, task, row, 'pending');
  moveTask(delivery, task, row, 'failed', { failure: code });
}

function codeOf(job: JobRow, { status }: RecordedResult, { code }: JobChanged): string {
  if (job.stopped !== null) return job.stopped.code;
  return code ?? status;
}
