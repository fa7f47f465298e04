/** What people, the app and the coordinator may do to tasks. A refusal is thrown before anything is changed. */
import { type Actor, present, type Ref, startOfText } from '@reprise/contracts';
import { key, stopWork } from '@reprise/org/contracts';
import { type JobRow, type RecordedTask, TASK_FINAL, type TaskStatus } from '../../contracts/index.js';
import { type Delivery, taskOr } from '../project/delivery.js';
import { Refused } from '../project/refused.js';
import { skillFor } from './spawn.js';
import { moveTask, openNeeds } from './tasks.js';

interface RetryChange {
  readonly skill?: string | undefined;
  readonly model?: string | undefined;
  readonly note_ref?: Ref | undefined;
}

/** Tries a failed task again. @returns its status */
export function retryTask(delivery: Delivery, n: number, { skill, model, note_ref }: RetryChange): TaskStatus {
  const row = taskOr(delivery, n);
  if (row.status !== 'failed') throw new Refused('task_not_failed', { status: row.status });
  skillFor(delivery, skill ?? row.skill);
  requireModel(delivery, model);
  const open = openNeeds(delivery, row);
  const status = open === 0 ? 'pending' : 'blocked';
  moveTask(delivery, n, row, status, present({ skill, model, note_ref, open }));
  return status;
}

function requireModel(delivery: Delivery, model: string | undefined): void {
  const known = delivery.ctx.table('models').get('models') ?? [];
  if (model !== undefined && !known.includes(model)) {
    throw new Refused('unknown_model', { model, known: known.slice(0, 40) });
  }
}

/** Skips a task that does not run: for those that depend on it, it counts as done. @returns its status */
export function skipTask(delivery: Delivery, n: number, reason: string, by: Actor): TaskStatus {
  const row = taskOr(delivery, n);
  requireOpen(row);
  if (row.status === 'running') throw new Refused('task_running');
  moveTask(delivery, n, row, 'skipped', { failure: codeOf('skipped', reason), ended_by: by });
  return 'skipped';
}

/** Cancels a task; one that runs is cancelled when its job has ended. @returns its status */
export function cancelTask(delivery: Delivery, n: number, by: Actor): TaskStatus {
  const row = taskOr(delivery, n);
  requireOpen(row);
  if (row.status !== 'running' || row.result === null) {
    moveTask(delivery, n, row, 'cancelled', { failure: 'cancelled', ended_by: by });
    return 'cancelled';
  }
  stopJob(delivery, row.result, { status: 'cancelled', code: 'cancelled', by });
  return row.status;
}

/** Stops a job that is under way. */
export function stopJob(delivery: Delivery, n: number, stopped: NonNullable<JobRow['stopped']>): void {
  const jobs = delivery.ctx.table('jobs');
  const job = jobs.get(key(n));
  if (job === undefined || job.stopped !== null) return;
  jobs.set(key(n), { ...job, stopped });
  stopWork(delivery.ctx, n, stopped.code);
}

function requireOpen({ status }: RecordedTask): void {
  if (TASK_FINAL.includes(status)) throw new Refused('task_final', { status });
}

/** A reason as a code: its beginning, in one line. */
function codeOf(what: string, reason: string): string {
  const line = reason.replace(/\s+/g, ' ').trim();
  return line === '' ? what : startOfText(`${what}/${line}`, CODE_MAX);
}

const CODE_MAX = 96;
