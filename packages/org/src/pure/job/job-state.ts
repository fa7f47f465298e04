/** The state of a job, below 4 KiB, and its tables. */
import { tally } from '@reprise/agent/contracts';
import { address, digestHex, keyText, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ReducerContext } from '@reprise/kernel/define';
import { jobInput, jobKind, jobNumber } from './contracts.js';
import { JOB_INPUTS_MAX, JOB_STATUSES } from './job-names.js';
import { makingTables, rightsOf } from './made.js';

const count = z.int().min(0);
const alias = z.nullable(z.string().min(1).max(128));

/** Where a job stands with its pool: without a slot, in line, or with a slot. */
const SLOTS = ['none', 'line', 'held'] as const;

/** The state of a job. */
export const jobState = z.strictObject({
  /** The cell that made it; null when it was made from outside. */
  owner: z.nullable(address),
  n: jobNumber,
  kind: jobKind,
  request_ref: z.nullable(ref()),
  inputs: z.array(jobInput).max(JOB_INPUTS_MAX),
  pool: z.nullable(keyText()),
  priority: z.int(),
  timeout_ms: count,
  /** The model that the owner asks for, then the one that the session has. */
  model: alias,
  status: z.enum(JOB_STATUSES),
  slot: z.enum(SLOTS),
  attempt: count,
  attempts: count,
  /** The plan that prepares the attempt; null while none does. */
  plan: z.nullable(count),
  /** The session of this attempt. */
  session: z.nullable(keyText()),
  digest: z.nullable(digestHex()),
  output_ref: z.nullable(ref()),
  value_ref: z.nullable(ref()),
  code: z.nullable(z.string().max(96)),
  /** How it ends when its session has stopped; null while it has not been stopped. */
  stopping: z.nullable(z.enum(['cancelled', 'timeout'])),
  /** How much time the session has to stop. */
  grace_ms: count,
  tally,
  /** When the status changed last. */
  since: z.nullable(count),
  /** The digest of the event that began it; null until it has begun. */
  begun: z.nullable(digestHex()),
});

/** The state of a job. */
export type JobState = z.infer<typeof jobState>;

/** What is needed once: an entry of the table `terms`. */
const jobTerms = z.strictObject({
  details: z.exactOptional(value()),
  grant: z.nullable(rightsOf),
  labels: z.record(z.string().max(64), z.string().max(256)),
});

/** What a job needs once: its details, its grant and its labels. */
export type JobTerms = z.infer<typeof jobTerms>;

/** The tables of a job. */
export const jobTables = {
  terms: jobTerms,
  /** The number of the attempt, by the key of its session. */
  sessions: count,
  /** Has an entry while the job stands still. */
  paused: z.null(),
  ...makingTables,
} as const;

/** What the reducer may do, with the tables of a job. */
export type JobContext = ReducerContext<typeof jobTables>;
