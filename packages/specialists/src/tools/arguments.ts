/** What a model may write as arguments of the project's tools. */
import * as z from 'zod';
import { PASSES, PROJECT_BOUNDS, TASK_STATUSES } from '../pure/index.js';

const taskId = z.int().min(1).describe('The number of a task.');
const resultId = z.int().min(1).describe('The number of a result.');
const reason = z.string().min(1).max(500).describe('Why, in a sentence.');
const model = z.string().min(1).max(128).optional().describe('The alias of a model; that of the skill when left out.');
const skill = z.string().min(1).max(64).describe('The name of a skill in your list.');
const after = z.int().min(0).optional().describe('Begins behind this number: the `next` of the page before.');
const timeoutSeconds = z
  .int()
  .min(1)
  .max(7 * 86_400)
  .optional();

/** The characters of a text in a call. All calls of one answer share 22 KiB once long texts are links. */
const TEXT_MAX = 100_000;

/** `spawn_agent`: a task by its number alone, or work that stands in no plan. Which of both it is, the project checks. */
export const spawnArgs = z.strictObject({
  task_id: taskId.optional().describe('The number of a task that is pending. Then leave everything else out.'),
  task: z.string().min(1).max(TEXT_MAX).optional().describe('What the specialist shall do, complete in itself.'),
  skill: skill.optional(),
  context: z
    .string()
    .max(TEXT_MAX)
    .optional()
    .describe('What it must know. Write [agent_result:3] to hand over result 3 whole, without reading it.'),
  model,
});

export const graphArgs = z.strictObject({
  status: z.array(z.enum(TASK_STATUSES)).max(7).optional().describe('Only tasks in these states.'),
  after,
});

export const retryArgs = z.strictObject({
  task_id: taskId,
  note: z.string().min(1).max(TEXT_MAX).optional().describe('What the next try shall do differently.'),
  skill: skill.optional(),
  model,
});

export const endArgs = z.strictObject({ task_id: taskId, reason });

export const listArgs = z.strictObject({
  processed: z.boolean().optional().describe('true: those that you were shown; false: those that wait.'),
  after,
});

export const readArgs = z.strictObject({
  result_id: resultId,
  offset: z.int().min(0).optional().describe('The byte at which to begin.'),
  bytes: z.int().min(1).max(PROJECT_BOUNDS.read_bytes).optional(),
});

const taskKey = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
  .describe('A name for the task within this plan.');

const dependency = z.union([
  taskKey,
  taskId,
  z.strictObject({
    task: z.union([taskKey, taskId]),
    pass: z.enum(PASSES).optional().describe('How much of its result the task is shown: none, summary or full.'),
  }),
]);

export const planArgs = z.strictObject({
  tasks: z
    .array(
      z.strictObject({
        key: taskKey,
        title: z.string().min(1).max(500).describe('What the task is, in one line.'),
        context: z
          .string()
          .max(TEXT_MAX)
          .describe(
            `The brief: all that the specialist is told, at least ${PROJECT_BOUNDS.brief_bytes} bytes. It sees no other task. Write [agent_result:3] to hand over result 3 whole.`,
          ),
        skill,
        depends_on: z.array(dependency).max(256).optional().describe('Tasks that must be completed before.'),
        priority: z.union([z.literal(10), z.literal(50), z.literal(100)]).optional(),
        timeout_seconds: timeoutSeconds,
      }),
    )
    .max(PROJECT_BOUNDS.plan + 1),
});

export const narrativeArgs = z.strictObject({
  text: z.string().min(1).max(PROJECT_BOUNDS.narrative_bytes).describe('What happened and why it matters, briefly.'),
  memory_ids: z.array(z.int().min(0)).max(16).optional(),
  task_ids: z.array(taskId).max(16).optional(),
});
