/** The rows of a project: tasks, results, jobs, entries of the narrative. */
import { tally } from '@reprise/agent/contracts';
import { actor, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { share } from '@reprise/org/contracts';
import { PASSES, PROJECT_BOUNDS, RESULT_STATUSES, TASK_STATUSES } from './names.js';

const count = z.int().min(0);
const number = z.int().min(1);

/** The number of a task, from 1 in each project. */
export const taskNumber = number;

/** The number of a result, from 1 in each project: `[agent_result:n]` points to it. */
export const resultNumber = number;

/** The code with which a task, a result or a run failed. */
export const failureText = z.string().min(1).max(96);

/** The name of a skill. */
export const skillName = z.string().min(1).max(64);

/** The title of a task in one line. */
export const title = z.string().min(1).max(PROJECT_BOUNDS.title_bytes);

/** A dependency: the task, and how much of its result is passed on. */
export const dependency = z.strictObject({ task: taskNumber, pass: z.enum(PASSES) });

/** A brief: its text, its size, and the results that it points to. */
export const brief = z.strictObject({
  context_ref: ref(),
  context_bytes: count,
  pointers: z.array(resultNumber).max(PROJECT_BOUNDS.refs),
});

/** The text of a task for its specialist. */
export type Brief = z.infer<typeof brief>;

/** A task of the plan: an entry of the table `tasks`. */
export const taskRow = z.strictObject({
  title,
  ...brief.shape,
  skill: skillName,
  depends_on: z.array(dependency).max(PROJECT_BOUNDS.task_needs),
  priority: z.int().min(-1_000).max(1_000),
  timeout_ms: z.nullable(number),
  /** The model that a retry chose; null for that of the skill. */
  model: z.nullable(z.string().max(128)),
  /** What a retry added to the brief. */
  note_ref: z.nullable(ref()),
  status: z.enum(TASK_STATUSES),
  failure: z.nullable(failureText),
  /** The result of its last job; after a good one, that one. */
  result: z.nullable(resultNumber),
  attempts: count,
  /** The plan that made it: the result of the planner, and its place in that plan. Null for a plan of the app. */
  plan: z.nullable(z.strictObject({ result: resultNumber, index: count })),
  /** How many of its dependencies have not ended well. */
  open: count,
  /** Its place among the ready tasks. */
  place: count,
  /** When it was made, in journal milliseconds. */
  at: count,
  /** Who skipped or cancelled it; absent for one that ended in another way. */
  ended_by: z.exactOptional(actor),
});

/** A task of the plan. */
export type RecordedTask = z.infer<typeof taskRow>;

/** A task that is made: what is not stated follows. */
export type NewTask = Pick<
  RecordedTask,
  'title' | 'context_ref' | 'context_bytes' | 'pointers' | 'skill' | 'depends_on' | 'priority' | 'timeout_ms' | 'plan'
>;

/** A result: what one job makes, and how far it is. */
export const resultRow = z.strictObject({
  task: z.nullable(taskNumber),
  title,
  skill: skillName,
  /** The digest of the skill file that the job was prepared from. */
  digest: z.nullable(z.string().max(80)),
  model: z.nullable(z.string().max(128)),
  /** Whether the spawn named the model. */
  override: z.boolean(),
  status: z.enum(RESULT_STATUSES),
  code: z.nullable(failureText),
  output_ref: z.nullable(ref()),
  session: z.nullable(z.string().max(256)),
  inputs: z.array(resultNumber).max(PROJECT_BOUNDS.refs),
  /** How often a run of the coordinator was shown it. */
  shown: count,
  /** When a run that was shown it had completed. Times are in journal milliseconds. */
  processed_at: z.nullable(count),
  memory_ids: z.array(z.int().min(0)).max(64),
  cost: z.nullable(tally),
  at: count,
  ended_at: z.nullable(count),
});

/** A result of one job. */
export type RecordedResult = z.infer<typeof resultRow>;

/** What the project knows of a job while it is under way. A job has the number of the result that it makes. */
export const jobRow = z.strictObject({
  /** The tools that its skill lists. */
  tools: z.array(z.string().max(64)).max(64),
  /** Those of them that mean a tool of the project. */
  project_tools: z.array(z.string().max(64)).max(8),
  planner: z.boolean(),
  /** How many plans of it were refused. */
  refused: count,
  /** What is set aside for it; null without a budget. */
  share: z.nullable(share),
  /** Whether it waits for a slot. */
  waiting: z.boolean(),
  /** What its task becomes when it was stopped; null while it was not. */
  stopped: z.nullable(
    z.strictObject({ status: z.enum(['failed', 'cancelled']), code: failureText, by: z.exactOptional(actor) }),
  ),
});

/** A job that is under way. */
export type JobRow = z.infer<typeof jobRow>;

/** An entry of the narrative. */
export const narrativeRow = z.strictObject({
  text_ref: ref(),
  bytes: count,
  previous: z.nullable(number),
  memory_ids: z.array(z.int().min(0)).max(16),
  task_ids: z.array(taskNumber).max(16),
  /** The run of the coordinator that wrote it. */
  run: count,
  at: count,
});

/** An entry of the narrative. */
export type NarrativeRow = z.infer<typeof narrativeRow>;
