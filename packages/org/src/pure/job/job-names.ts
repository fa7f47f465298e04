/** Names of jobs, and their bounds. */

/** The wire name of the job's reducer. */
export const JOB = 'work/Job@1';

/** The states of a job. */
export const JOB_STATUSES = [
  'queued',
  'preparing',
  'running',
  'waiting',
  'ok',
  'failed',
  'cancelled',
  'timeout',
] as const;

/** The state of a job. */
export type JobStatus = (typeof JOB_STATUSES)[number];

/** The final states of a job. */
export const JOB_ENDED: readonly JobStatus[] = ['ok', 'failed', 'cancelled', 'timeout'];

/** The bytes of a job's key at most. */
export const JOB_KEY_MAX = 200;

/** The outputs of earlier jobs that one job is given. */
export const JOB_INPUTS_MAX = 14;

/** The message parts of a job's input. */
export const MESSAGE_PARTS_MAX = 16;

/** How many attempts a job has at most. */
export const JOB_ATTEMPTS_MAX = 8;

/** The longest time limit of a job: a week. */
export const JOB_TIMEOUT_MS_MAX = 7 * 86_400_000;

/** The largest absolute value of a priority. */
export const JOB_PRIORITY_MAX = 1_000_000;

/** The bytes of the details that an owner adds to a request. */
export const JOB_DETAILS_BYTES_MAX = 2_048;
