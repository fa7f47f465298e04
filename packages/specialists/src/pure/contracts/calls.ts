/**
 * The tools of a project, each stated once: what a coordinator or a specialist writes, in the words that models read, and what
 * the project receives of it.
 */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { apart, type CallTo, optional, ownerTool, text, withinBytes } from '@reprise/org/contracts';
import { taskKey, taskToMake } from './commands.js';
import { PASSES, PROJECT_BOUNDS, TASK_STATUSES } from './names.js';
import { brief, resultNumber, skillName, taskNumber, title } from './rows.js';

/** The characters of a text in a call. All calls of one answer share 22 KiB once long texts are links. */
const TEXT_MAX = 100_000;

const task_id = taskNumber.describe('The number of a task.');
const reason = z.string().min(1).max(500).describe('Why, in a sentence.');
const model = z.string().min(1).max(128).describe('The alias of a model; that of the skill when left out.');
const skill = skillName.describe('The name of a skill in your list.');
const after = z.int().min(0).describe('Begins behind this number: the `next` of the page before.');

const key = taskKey.describe('A name for the task within this plan.');
const pass = z.enum(PASSES).describe('How much of its result the task is shown: none, summary or full.');

/** A task as a planner or an app states it. */
const statedTask = z.strictObject({
  key,
  title: z.string().min(1).max(500).describe('What the task is, in one line.'),
  context: z
    .string()
    .max(TEXT_MAX)
    .describe(
      `The brief: all that the specialist is told, at least ${PROJECT_BOUNDS.brief_bytes} bytes. It sees no other task. Write [agent_result:3] to hand over result 3 whole.`,
    ),
  skill,
  depends_on: z
    .array(z.union([key, task_id, z.strictObject({ task: z.union([key, task_id]), pass: pass.optional() })]))
    .max(256)
    .describe('Tasks that must be completed before.')
    .optional(),
  priority: z.union([z.literal(10), z.literal(50), z.literal(100)]).optional(),
  timeout_seconds: z
    .int()
    .min(1)
    .max(7 * 86_400)
    .optional(),
});

/** A task as a planner or an app states it. */
export type StatedTask = z.infer<typeof statedTask>;

/** Work that stands in no plan. */
export const adHoc = z.strictObject({
  task: title,
  task_ref: ref(),
  skill: skillName,
  model: z.exactOptional(model),
  ...brief.shape,
  /** Pointers of its texts to results of other projects. */
  foreign: z.exactOptional(z.array(z.string().max(64)).max(16)),
});

/** Work that stands in no plan. */
export type AdHoc = z.infer<typeof adHoc>;

/** The tools of a project, by their names. */
export const projectCalls = {
  /** A task by its number alone, or work that stands in no plan. Which of both it is, the project checks. */
  spawn_agent: {
    ...ownerTool({
      description:
        'Starts a specialist: give task_id alone for a task of the plan that is pending, or task and skill for work that stands in no plan. Answers at once with the number of the result to come. Do not wait for it: end your turn, and you are woken when results are there.',
      args: z.strictObject(
        optional({
          task_id: task_id.describe('The number of a task that is pending. Then leave everything else out.'),
          task: apart(z.string().min(1).max(TEXT_MAX)).describe('What the specialist shall do, complete in itself.'),
          skill,
          context: apart(z.string().max(TEXT_MAX)).describe(
            'What it must know. Write [agent_result:3] to hand over result 3 whole, without reading it.',
          ),
          model,
        }),
      ),
    }),
    call: z.union([z.strictObject({ task_id }), adHoc]),
  },
  task_graph: ownerTool({
    description:
      'Lists the tasks of the plan: number, title, skill, status, what each depends on, and the number of its result. A task is pending when it can be spawned, and blocked while another one has to end first.',
    args: z.strictObject(
      optional({ status: z.array(z.enum(TASK_STATUSES)).max(7).describe('Only tasks in these states.'), after }),
    ),
  }),
  task_retry: ownerTool({
    description:
      'Tries a failed task again, if you like with a note for the specialist, another skill or another model. It becomes pending; spawn it then.',
    args: z.strictObject({
      task_id,
      ...optional({
        note: text().min(1).max(TEXT_MAX).describe('What the next try shall do differently.'),
        skill,
        model,
      }),
    }),
  }),
  task_skip: ownerTool({
    description: 'Skips a task that is not needed. For tasks that depend on it, it counts as done.',
    args: z.strictObject({ task_id, reason }),
  }),
  task_cancel: ownerTool({
    description: 'Cancels a task; one that runs is stopped. Tasks that depend on it do not begin.',
    args: z.strictObject({ task_id, reason }),
  }),
  results_list: ownerTool({
    description: 'Lists results with the beginning of each: what your specialists have done.',
    args: z.strictObject(
      optional({
        processed: z.boolean().describe('true: those that you were shown; false: those that wait.'),
        after,
      }),
    ),
  }),
  result_read: ownerTool({
    description: 'Reads a piece of one result, 8 KiB at most. Use it when the summary is not enough.',
    args: z.strictObject({
      result_id: resultNumber.describe('The number of a result.'),
      ...optional({
        offset: z.int().min(0).describe('The byte at which to begin.'),
        bytes: z.int().min(1).max(PROJECT_BOUNDS.read_bytes),
      }),
    }),
  }),
  narrative_append: ownerTool({
    description:
      'Adds an entry to the story of the project: what was decided or found, and why. You are shown the newest entries at each turn.',
    args: z.strictObject({
      text: text()
        .min(1)
        .max(PROJECT_BOUNDS.narrative_bytes)
        .superRefine(withinBytes(PROJECT_BOUNDS.narrative_bytes))
        .describe('What happened and why it matters, briefly.'),
      ...optional({ memory_ids: z.array(z.int().min(0)).max(16), task_ids: z.array(task_id).max(16) }),
    }),
    also: { bytes: z.int().min(1).max(PROJECT_BOUNDS.narrative_bytes) },
  }),
  plan_write: ownerTool({
    description:
      'Writes tasks into the plan of the project, all of them or none. When the answer lists faults, correct all of them and call it again with the whole plan; after the third refusal your task has failed.',
    args: z.strictObject({ tasks: apart(z.array(statedTask).max(PROJECT_BOUNDS.plan + 1)) }),
    also: { tasks: z.array(taskToMake).max(PROJECT_BOUNDS.plan + 1) },
  }),
};

/** The name of a tool of a project. */
export type ProjectTool = keyof typeof projectCalls;

/** The name of a tool of the coordinator. */
export type CoordinatorTool = Exclude<ProjectTool, 'plan_write'>;

/** The coordinator's own tools, beside those of the memory. */
export const COORDINATOR_TOOLS = Object.keys(projectCalls).filter(isCoordinators);

function isCoordinators(tool: string): tool is CoordinatorTool {
  return tool !== 'plan_write';
}

/** The arguments of a tool, as the project receives them. */
export type ProjectCallOf<T extends ProjectTool> = CallTo<(typeof projectCalls)[T]>;
