/** The schemas of jobs: one run of an agent for an owner (`work/Job@1`), its preparation, and what its owner is told. */
import { adopted, SESSION_REDUCER, type Tally, tally } from '@reprise/agent/contracts';
import {
  type Address,
  address,
  digestHex,
  inputPart,
  isFilled,
  isWhole,
  keyText,
  partView,
  ref,
  requireArgument,
  requireFields,
  requireMethods,
  value,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, defineEffect, from, fromAll, type ReducerContext, type RowForm } from '@reprise/kernel/define';
import { KEY_DIGITS, planOf } from '../kit/index.js';
import {
  JOB,
  JOB_ATTEMPTS_MAX,
  JOB_INPUTS_MAX,
  JOB_PRIORITY_MAX,
  JOB_STATUSES,
  JOB_TIMEOUT_MS_MAX,
  MESSAGE_PARTS_MAX,
} from './job-names.js';
import { rightsOf } from './made.js';

const some = z.int().min(1);
const alias = z.string().min(1).max(128);
const code = z.string().min(1).max(96);
const sessionKey = keyText();

/** The number of a job, unique among the jobs of its owner. */
export const jobNumber = z.int().min(1).max(9_999_999);

/** The kind of a request: it decides which preparer reads it. */
export const jobKind = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._:-]*$/)
  .max(64);

/** The output of an earlier job that a job is given: a link, shown in full, as a summary, or its head. */
export const jobInput = z.strictObject({ from: jobNumber, output_ref: ref(), view: partView });

/** The output of an earlier job that a job is given. */
export type JobInput = z.infer<typeof jobInput>;

/** What a preparer is asked for: the same in the event that makes a job and in the effect. */
const request = {
  kind: jobKind,
  /** Content that the preparer reads: a value. */
  request_ref: z.nullable(ref()),
  /** What the owner adds itself: a small value, which may hold links. */
  details: z.exactOptional(value()),
  inputs: z.array(jobInput).max(JOB_INPUTS_MAX),
  /** The alias of the model that the owner asks for; null leaves it to the preparer. */
  model: z.nullable(alias),
};

/** `work/Begin@1`: the owner makes a job. The job's key is {@link jobKey} of its owner's key and `n`. */
export const beginJob = z.strictObject({
  n: jobNumber,
  ...request,
  /** The key of the `flow/Queue@1` whose slot the job needs; null: it begins at once. */
  pool: z.nullable(keyText()),
  /** Higher values come first in the line of the pool. */
  priority: z.int().min(-JOB_PRIORITY_MAX).max(JOB_PRIORITY_MAX),
  /** How long it may take from its slot on. */
  timeout_ms: some.max(JOB_TIMEOUT_MS_MAX),
  /** Rights of its session, when it has fewer than the job; null: it has the job's. */
  grant: z.nullable(rightsOf),
  /** The labels of its session. */
  labels: z.exactOptional(z.record(z.string().max(64), z.string().max(256))),
  /** How many sessions are tried when one fails as a cell, or is lost; 1 when absent. */
  attempts: z.exactOptional(some.max(JOB_ATTEMPTS_MAX)),
});

/** What an owner states about a job. */
export type BeginJob = z.infer<typeof beginJob>;

/** The parameters of `work.prepare@1`: the request, its owner, and the number of the job. */
export const workPrepareParams = z.strictObject({ ...request, owner: z.nullable(address), n: jobNumber });

/** The parameters of `work.prepare@1`, see {@link workPrepareParams}. */
export type WorkPrepareParams = z.infer<typeof workPrepareParams>;

/** The receipt of `work.prepare@1`: the definition of the session, its input, and what both were made of. */
export const workPrepared = z.strictObject({
  adopted,
  /** The agents that may be spawned, below the session. */
  agents: z.array(adopted).max(32),
  message_parts: z.array(inputPart).min(1).max(MESSAGE_PARTS_MAX),
  /** The hex SHA-256 of what the preparer read. */
  digest: digestHex(),
  resolved_model: alias,
});

/** The receipt of `work.prepare@1`, see {@link workPrepared}. */
export type WorkPrepared = z.infer<typeof workPrepared>;

/**
 * `work.prepare@1`: turns a request into a definition and an input. Files, pointers and prompts are read here, once;
 * replay needs none of them. A refusal is an error with the code `adapter_error/<reason>`.
 */
export const workPrepare = defineEffect({
  kind: 'work.prepare@1',
  params: workPrepareParams,
  receipt: workPrepared,
  guarantee: 'idempotent',
});

/** `work/prepare_plan@1`: has a request prepared, once for each attempt. */
export const preparePlan = planOf('work/prepare_plan@1', () => ({
  input: z.strictObject({ attempt: some, request: workPrepareParams }),
  effects: [workPrepare],
  *run({ attempt, request }, plan) {
    const prepared = yield* plan.awaitReceipt(plan.emitEffect(workPrepare, request));
    if (prepared.status === 'ok') plan.raiseEvent({ name: 'work/Prepared@1', value: { attempt, ...prepared.payload } });
    else plan.raiseEvent({ name: 'work/NotPrepared@1', value: { attempt, code: prepared.code ?? prepared.status } });
  },
}));

/** What a job tells its owner at every change, in the frame of the change; also a fact. */
export const jobChanged = z.strictObject({
  n: jobNumber,
  status: z.enum(JOB_STATUSES),
  /** The number of this attempt; 0 while the job waits for a slot. */
  attempt: z.int().min(0),
  session: z.exactOptional(sessionKey),
  /** The alias of the model that the session has. */
  model: z.exactOptional(alias),
  /** The digest of what the preparation read. */
  digest: z.exactOptional(digestHex()),
  /** The last answer, whole: a model's output. */
  output_ref: z.exactOptional(ref()),
  /** The value that the run returned, when its agent states a type. */
  value_ref: z.exactOptional(ref()),
  /** Why it failed, or the reason of the stop. */
  code: z.exactOptional(code),
  /** What all attempts used so far. */
  tally,
});

/** What a job tells its owner. */
export type JobChanged = z.infer<typeof jobChanged>;

/** What came too late: after the end of the job, or from an earlier attempt. A fact. */
export const jobLate = z.strictObject({
  n: jobNumber,
  /** The name of the event, or what else came. */
  what: z.string().max(128),
  /** What it reports as used, which the job has counted. */
  tally: z.exactOptional(tally),
});

/** The owner of a job, and people and the app: they command it. Sessions, pools, plans and other cells do not. */
export const jobOwner = [by.outside, by.cell({ state: 'owner' })] as const;

/** The events that a job takes from its owner. */
export const jobCommands = {
  /** Makes the job: the cell that sends it becomes the owner. */
  'work/Begin@1': creates(from(beginJob, by.outside, by.maker)),
  ...fromAll(
    {
      /** Ends the job as soon as what runs has stopped. `reason` becomes its code. */
      'work/Stop@1': z.strictObject({ reason: code }),
      /** Has the job stand still: what runs comes to its end, and nothing begins until it is resumed. */
      'work/Pause@1': z.strictObject({}),
      'work/Resume@1': z.strictObject({}),
      /** Has the job tell its owner again how it stands: for an owner that has failed and was revived. */
      'work/Report@1': z.strictObject({}),
    },
    ...jobOwner,
  ),
} as const;

/** The events that a plan of the job raises. */
export const jobPlanNews = fromAll(
  {
    'work/Prepared@1': z.strictObject({ attempt: some, ...workPrepared.shape }),
    'work/NotPrepared@1': z.strictObject({ attempt: some, code }),
  },
  by.ownPlan,
);

/** The facts of a job. */
export const jobFacts = { 'work/JobChanged@1': jobChanged, 'work/Late@1': jobLate } as const;

/** Between the owner's key and the number, in the key of a job. */
const JOB_MARK = '/j';

/** The events that owners of jobs get: list them among the events of their reducer, beside `aos.agent/OwnerCall@1`. */
export const jobEvents = {
  'work/JobChanged@1': from(jobChanged, by.cell({ reducer: JOB, key: [{ own: true }, JOB_MARK, { event: 'n' }] })),
} as const;

/** The key of a job: unique for its owner. */
export function jobKey(ownerKey: string, n: number): string {
  return `${ownerKey}${JOB_MARK}${n}`;
}

/** The address of a job. */
export function jobAddress(ownerKey: string, n: number): Address {
  requireArgument(isFilled(ownerKey), 'jobAddress(ownerKey)', 'the key of the owner', ownerKey);
  requireArgument(isWhole(n), 'jobAddress(n)', 'the number of a job', n);
  return [JOB, jobKey(ownerKey, n)];
}

/** The number of a job of an owner, by its address; undefined for every other cell. */
export function jobNumberOf(ownerKey: string, [reducer, at]: Address): number | undefined {
  const n = Number(at.slice(ownerKey.length + JOB_MARK.length));
  return reducer === JOB && at === jobKey(ownerKey, n) ? n : undefined;
}

/**
 * What the owner of a job whose cell has failed hears in place of its news.
 *
 * @param used what the job last told that it used; nothing when absent
 */
export function failedJob(n: number, used: Tally | null = null): JobChanged {
  return { n, status: 'failed', attempt: 0, code: 'cell_failed', tally: used ?? NO_USE };
}

const NO_USE: Tally = { steps: 0, tokens_in: 0, tokens_out: 0, micro_money: 0 };

/** Begins the tag of the event that makes a job, whose refusal comes back with it. */
const BEGIN_TAG = 'job.';

/** A job to begin: what is absent is empty, 0 or null. */
export type JobToBegin = Pick<BeginJob, 'n' | 'kind' | 'timeout_ms'> & Partial<BeginJob>;

/** What most jobs do without. */
const NO_MORE = { request_ref: null, inputs: [], model: null, pool: null, priority: 0, grant: null } as const;

/**
 * Makes a job of this cell, in this frame. A job that cannot be made is told by `sys/Reply@1`: see {@link jobNotMade}.
 *
 * @example beginWork(ctx, { n: ++draft.jobs, kind: 'review', details: { text_ref }, pool: 'reviewers', timeout_ms: 300_000 })
 */
export function beginWork(ctx: ReducerContext, job: JobToBegin): void {
  requireMethods(ctx, ['send', 'emit'], 'beginWork(ctx)', 'the ctx of a reducer');
  requireFields(job, 'beginWork(job)', 'the value of work/Begin@1');
  const answer = { reply: 'refusal', tag: `${BEGIN_TAG}${job.n}` } as const;
  ctx.send(jobAddress(ctx.address[1], job.n), { name: 'work/Begin@1', value: { ...NO_MORE, ...job } }, answer);
}

/** What the kernel answers about an event that did not take place. */
interface NotTaken {
  readonly tag?: string;
  readonly code?: string;
}

/**
 * What the owner of a job hears when the job was not made: its cell failed of its first event, or refused it. Such a job
 * tells nothing itself.
 *
 * @param reply the value of `sys/Reply@1`
 * @returns the end of the job; undefined for the answer to something else, and for a job that was there before, which
 *   tells itself
 */
export function jobNotMade(reply: NotTaken): JobChanged | undefined {
  requireFields(reply, 'jobNotMade(reply)', 'the value of sys/Reply@1');
  const { tag = '', code = '' } = reply;
  const n = tag.startsWith(BEGIN_TAG) ? Number(tag.slice(BEGIN_TAG.length)) : Number.NaN;
  if (!jobNumber.safeParse(n).success || code === 'already_begun') return undefined;
  const isFailed = ['faulted', 'cell_failed', 'cell_absent'].includes(code);
  return isFailed ? failedJob(n) : { ...failedJob(n), code: `job/${code}`.slice(0, 96) };
}

/**
 * Has a job of this cell tell again how it stands. A job that is not there, or whose cell has failed, is told by
 * `sys/Reply@1`: see {@link jobNotMade}.
 */
export function reportWork(ctx: ReducerContext, n: number): void {
  requireMethods(ctx, ['send', 'emit'], 'reportWork(ctx)', 'the ctx of a reducer');
  requireArgument(isWhole(n), 'reportWork(n)', 'the number of a job', n);
  const answer = { reply: 'refusal', tag: `${BEGIN_TAG}${n}` } as const;
  ctx.send(jobAddress(ctx.address[1], n), { name: 'work/Report@1', value: {} }, answer);
}

/** Stops a job of this cell. */
export function stopWork(ctx: ReducerContext, n: number, reason: string): void {
  requireMethods(ctx, ['send', 'emit'], 'stopWork(ctx)', 'the ctx of a reducer');
  requireArgument(isWhole(n), 'stopWork(n)', 'the number of a job', n);
  ctx.send(jobAddress(ctx.address[1], n), { name: 'work/Stop@1', value: { reason } });
}

/**
 * Stops the session of a job whose cell has failed: nobody hears of what it does. For owners that a session takes commands
 * of when they stand above it, see `aos.agent/HostCommand@1`.
 */
export function stopSessionOfFailed(ctx: ReducerContext, session: string): void {
  requireMethods(ctx, ['send', 'emit'], 'stopSessionOfFailed(ctx)', 'the ctx of a reducer');
  requireArgument(isFilled(session), 'stopSessionOfFailed(session)', 'the key of a session', session);
  const value = { command_id: 'job_failed', command: { type: 'Cancel', scope: 'all' } };
  ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/HostCommand@1', value });
}

/** Has a job of this cell stand still: what runs comes to its end, nothing begins. */
export function pauseWork(ctx: ReducerContext, n: number): void {
  ctx.send(jobAddress(ctx.address[1], n), { name: 'work/Pause@1', value: {} });
}

/** Lets a job of this cell go on. */
export function resumeWork(ctx: ReducerContext, n: number): void {
  ctx.send(jobAddress(ctx.address[1], n), { name: 'work/Resume@1', value: {} });
}

/**
 * The number of the job of this cell that sends the event; undefined for any other sender. For owners without a row for
 * each job: an owner with one declares {@link job}.
 */
export function jobOfSender(ctx: ReducerContext): number | undefined {
  requireMethods(ctx, ['send', 'emit'], 'jobOfSender(ctx)', 'the ctx of a reducer');
  return ctx.caller === null ? undefined : jobNumberOf(ctx.address[1], ctx.caller);
}

/**
 * A sender of an owner's events: a job of its own for which it has a row, see `by.row`.
 *
 * @param table the table with a row for each job that has not ended
 * @param digits the digits of the numbers in its keys, which have leading zeros; those of `key` when absent
 * @example 'aos.agent/OwnerCall@1': from(ownerCall, job('jobs'))
 */
export function job<const N extends string>(table: N, digits: number = KEY_DIGITS): RowForm<N> {
  return by.row(table, { reducer: JOB, key: [{ own: true }, JOB_MARK, { row: true, digits }] });
}
