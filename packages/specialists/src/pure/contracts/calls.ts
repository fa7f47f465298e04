/** The calls of a project's tools, as the project receives them: long texts are links. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { taskToMake } from './commands.js';
import { PROJECT_BOUNDS, TASK_STATUSES } from './names.js';
import { brief, resultNumber, skillName, taskNumber, title } from './rows.js';

/** Bounds a list's page by the number of its last item. */
const after = z.exactOptional(z.int().min(0));

const reason = z.string().min(1).max(500);

/** Work that stands in no plan. */
export const adHoc = z.strictObject({
  task: title,
  task_ref: ref(),
  skill: skillName,
  model: z.exactOptional(z.string().min(1).max(128)),
  ...brief.shape,
  /** Pointers of its texts to results of other projects. */
  foreign: z.exactOptional(z.array(z.string().max(64)).max(16)),
});

/** Work that stands in no plan. */
export type AdHoc = z.infer<typeof adHoc>;

/** The arguments of each tool. */
export const projectCalls = {
  spawn_agent: z.union([z.strictObject({ task_id: taskNumber }), adHoc]),
  task_graph: z.strictObject({ status: z.exactOptional(z.array(z.enum(TASK_STATUSES)).max(7)), after }),
  task_retry: z.strictObject({
    task_id: taskNumber,
    note_ref: z.exactOptional(ref()),
    skill: z.exactOptional(skillName),
    model: z.exactOptional(z.string().min(1).max(128)),
  }),
  task_skip: z.strictObject({ task_id: taskNumber, reason }),
  task_cancel: z.strictObject({ task_id: taskNumber, reason }),
  results_list: z.strictObject({ processed: z.exactOptional(z.boolean()), after }),
  result_read: z.strictObject({
    result_id: resultNumber,
    offset: z.exactOptional(z.int().min(0)),
    bytes: z.exactOptional(z.int().min(1).max(PROJECT_BOUNDS.read_bytes)),
  }),
  plan_write: z.strictObject({ tasks: z.array(taskToMake).max(PROJECT_BOUNDS.plan + 1) }),
  narrative_append: z.strictObject({
    text_ref: ref(),
    bytes: z.int().min(1).max(PROJECT_BOUNDS.narrative_bytes),
    memory_ids: z.exactOptional(z.array(z.int().min(0)).max(16)),
    task_ids: z.exactOptional(z.array(taskNumber).max(16)),
  }),
};

/** The arguments of a tool. */
export type ProjectCallOf<T extends keyof typeof projectCalls> = z.infer<(typeof projectCalls)[T]>;
