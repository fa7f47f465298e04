/** The events that a project takes: from people and apps, and from its plans. */
import { inputPart, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { share, storeSay, waitingCall } from '@reprise/org/contracts';
import { lookReceipt } from './effects.js';
import { PROJECT_BOUNDS } from './names.js';
import { brief, dependency, failureText, resultNumber, skillName, taskNumber, title } from './rows.js';
import { teamName } from './team.js';

const count = z.int().min(0);

/** Names a command whose outcome is stated later, by `specialists/Commanded@1`. */
const command_id = z.string().min(1).max(128);

/** The key of a task within one plan. */
export const taskKey = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);

/** The dependencies that a task may name: one more than it may have, so that too many are refused as a fault of its plan. */
export const DEPENDS_ON_MAX = PROJECT_BOUNDS.task_needs + 1;

/** A task that is to be made. A dependency is named by its key in the plan, or by its number. */
export const taskToMake = z.strictObject({
  key: taskKey,
  title,
  ...brief.shape,
  skill: skillName,
  depends_on: z
    .array(z.strictObject({ task: z.union([taskKey, taskNumber]), pass: dependency.shape.pass }))
    .max(DEPENDS_ON_MAX),
  priority: z.exactOptional(z.int().min(-1_000).max(1_000)),
  timeout_ms: z.exactOptional(
    z
      .int()
      .min(1)
      .max(7 * 86_400_000),
  ),
  /** Pointers of the text to results of other projects: kept, so that the plan is refused with all its faults. */
  foreign: z.exactOptional(z.array(z.string().max(64)).max(16)),
});

/** A task that is to be made. */
export type TaskToMake = z.infer<typeof taskToMake>;

const taskChange = {
  skill: z.exactOptional(skillName),
  model: z.exactOptional(z.string().min(1).max(128)),
  note_ref: z.exactOptional(ref()),
};

/**
 * The team through which a command is sent; absent in a world with one team. A project keeps the team that opened it, and
 * refuses a command that names another.
 */
const team = z.exactOptional(teamName);

/** A message to the coordinator. */
export const saying = z.strictObject({
  command_id,
  team,
  parts: z.array(inputPart).min(1).max(16),
  priority: z.exactOptional(z.int().min(0).max(1_000)),
});

/** Tasks that the app plans, without a planner. */
export const planning = z.strictObject({
  command_id,
  team,
  tasks: z.array(taskToMake).min(1).max(PROJECT_BOUNDS.plan),
});

/** Another try of a failed task. */
export const retrying = z.strictObject({ command_id, team, task: taskNumber, ...taskChange });

/** What people and apps write to the memory of a project. */
const remembering = z.strictObject({ ...storeSay.shape, team });

/** What people and apps write to the memory of a project. */
export type Remembering = z.infer<typeof remembering>;

/** Who commands a project: people and the app, and the cell that opened it. */
const COMMANDERS = [by.outside, by.maker] as const;

/** The commands of people, of the app, and of the cell that opened the project. The first three open it. */
export const projectCommands = {
  'specialists/Say@1': creates(from(saying, ...COMMANDERS)),
  'specialists/Plan@1': creates(from(planning, ...COMMANDERS)),
  /** Opens the project without a message, or has its team and skills read again. */
  'specialists/Open@1': creates(from(z.strictObject({ team }), ...COMMANDERS)),
  /** People and apps write to the memory of the project (SPEC-36). */
  'specialists/Remember@1': from(remembering, by.outside),
  'specialists/Retry@1': from(retrying, ...COMMANDERS),
  'specialists/Skip@1': from(z.strictObject({ team, task: taskNumber, reason: z.string().max(500) }), ...COMMANDERS),
  /** Sets what all agents of the project may use. */
  'specialists/Limit@1': from(z.strictObject({ team, budget: share }), ...COMMANDERS),
  'specialists/Cancel@1': from(
    z.strictObject({
      team,
      /** Null for all tasks, jobs and the coordinator's run: the project has ended. */
      task: z.nullable(taskNumber),
      reason: z.string().max(500),
    }),
    ...COMMANDERS,
  ),
};

/** The name of a command. */
export type ProjectCommandName = keyof typeof projectCommands;

/** The events of the project's plans. */
export const projectNews = {
  /** The team and the skills were read, or could not be. */
  'specialists/TeamRead@1': z.strictObject({
    /** The reading, for which entries of the inbox wait; null when none does. */
    id: z.nullable(count),
    seen: z.nullable(lookReceipt),
    code: z.nullable(failureText),
  }),
  /** The text that wakes the coordinator was composed, or could not be. */
  'specialists/WakeComposed@1': z.strictObject({
    epoch: count,
    results: z.array(resultNumber).max(PROJECT_BOUNDS.shown),
    text_ref: z.nullable(ref()),
    code: z.nullable(failureText),
  }),
  /** What a call reads was composed, or could not be. */
  'specialists/Answered@1': z.strictObject({
    call: waitingCall,
    value: value(),
    refs: z.array(z.strictObject({ label: z.string().max(64), ref: ref() })).max(4),
    code: z.nullable(failureText),
  }),
};
