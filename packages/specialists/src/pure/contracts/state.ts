/** The project as a cell: its state, its tables, and the facts from which every view is drawn. */
import { ownerCall, tally } from '@reprise/agent/contracts';
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { planning, retrying, saying, waitingCall } from './commands.js';
import { PROJECT_STATUSES, RESULT_STATUSES, TASK_STATUSES } from './names.js';
import {
  failureText,
  jobRow,
  narrativeRow,
  resultNumber,
  resultRow,
  skillName,
  taskNumber,
  taskRow,
  title,
} from './rows.js';
import { skillRow, teamName, teamRow } from './team.js';

const count = z.int().min(0);

/** How many tasks are in each state. */
export const taskCounts = z.strictObject({
  pending: count,
  blocked: count,
  running: count,
  completed: count,
  failed: count,
  skipped: count,
  cancelled: count,
});

/** How a project hears that results wait. */
export const wakeState = z.strictObject({
  /** `due`: the timer is set; `composing`: its text is made; `shown`: a run of the coordinator was shown it. */
  phase: z.enum(['none', 'due', 'composing', 'shown']),
  epoch: count,
  /** The results that the run was shown. */
  results: z.array(resultNumber).max(20),
  /** Whether the decision that is needed was shown. */
  decision: z.boolean(),
  /** The run of the coordinator that was shown them; null until it began. */
  run: z.nullable(count),
});

/** The state of a project. */
export const projectState = z.strictObject({
  status: z.enum(PROJECT_STATUSES),
  team: z.nullable(teamName),
  /** The first message; null when there was none. */
  goal_ref: z.nullable(ref()),
  /** The version of team and skills that is known; null before the first. */
  version: z.nullable(z.string().max(80)),
  /** Whether team and skills are being read, and whether they are to be read again. */
  reading: z.enum(['no', 'once', 'again']),
  /** The numbers of the next task, result, inbox entry and entry of the narrative. */
  next: z.strictObject({ task: number(), result: number(), inbox: count, narrative: number() }),
  counts: taskCounts,
  /** Jobs that have not ended, and how many of them wait for a slot. */
  jobs: count,
  waiting: count,
  unprocessed: count,
  /** Results that were shown three times without a completed run: they wait for a person. */
  stuck: count,
  /** The coordinator: whether its session was made, and how many inputs it has not ended. */
  coordinator: z.strictObject({ made: z.boolean(), busy: z.boolean(), run: count, inputs: count }),
  wake: wakeState,
  /** Whether the coordinator was told that a decision is needed, since the last change of a task. */
  told: z.boolean(),
  started: count,
});

function number() {
  return z.int().min(1);
}

/** The state of a project. */
export type ProjectState = z.infer<typeof projectState>;

/** What waits until team and skills were read. */
export const inboxRow = z.union([
  z.strictObject({ kind: z.literal('say'), value: saying }),
  z.strictObject({ kind: z.literal('plan'), value: planning }),
  z.strictObject({ kind: z.literal('retry'), value: retrying }),
  z.strictObject({ kind: z.literal('call'), to: waitingCall.shape.to, call: ownerCall }),
  z.strictObject({ kind: z.literal('wake') }),
]);

/** What waits until team and skills were read. */
export type InboxRow = z.infer<typeof inboxRow>;

/** The tables of a project. Tasks, results, jobs and entries stand under their number in seven digits. */
export const projectTables = {
  tasks: taskRow,
  /** Tasks by the one that they depend on: two numbers with a dot. */
  dependents: z.null(),
  /** Tasks that are ready, by priority and order: dispatched by themselves when the team says so. */
  ready: taskNumber,
  results: resultRow,
  /** Results that have ended and were not processed. */
  unprocessed: z.null(),
  /** Jobs that are under way. */
  jobs: jobRow,
  skills: skillRow,
  /** The team, under `team`. */
  team: teamRow,
  narrative: narrativeRow,
  inbox: inboxRow,
  /** Tasks that have ended, whose dependents have not been changed yet. */
  work: z.null(),
};

/** The facts of a project. */
export const projectFacts = {
  'specialists/ProjectChanged@1': z.strictObject({
    status: z.enum(PROJECT_STATUSES),
    counts: taskCounts,
    unprocessed: count,
    jobs: count,
  }),
  'specialists/PlanWritten@1': z.strictObject({
    /** The result of the planner; null for a plan of the app. */
    result: z.nullable(resultNumber),
    tasks: z.array(taskNumber).max(64),
  }),
  'specialists/TaskChanged@1': z.strictObject({
    task: taskNumber,
    title,
    skill: skillName,
    status: z.enum(TASK_STATUSES),
    code: z.nullable(failureText),
    result: z.nullable(resultNumber),
  }),
  'specialists/ResultStored@1': z.strictObject({
    result: resultNumber,
    task: z.nullable(taskNumber),
    title,
    skill: skillName,
    status: z.enum(RESULT_STATUSES),
    code: z.nullable(failureText),
    output_ref: z.nullable(ref()),
    cost: z.nullable(tally),
  }),
  'specialists/ResultProcessed@1': z.strictObject({ results: z.array(resultNumber).max(20) }),
  'specialists/CoordinatorWoken@1': z.strictObject({ epoch: count, results: z.array(resultNumber).max(20) }),
  'specialists/DecisionNeeded@1': z.strictObject({ tasks: z.array(taskNumber).max(64) }),
  'specialists/SkillsSeen@1': z.strictObject({
    version: z.string().max(80),
    changed: z.array(skillName).max(16),
    removed: z.array(skillName).max(256),
    invalid: z.array(skillName).max(16),
  }),
  'specialists/NarrativeAppended@1': z.strictObject({
    entry: number(),
    previous: z.nullable(number()),
    text_ref: ref(),
  }),
};

/** The name of a fact of a project. */
export type ProjectFactName = keyof typeof projectFacts;

/** The content of a fact of a project. */
export type ProjectFact<K extends ProjectFactName> = z.infer<(typeof projectFacts)[K]>;
