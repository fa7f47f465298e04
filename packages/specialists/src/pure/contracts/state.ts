/** The project as a cell: its state, its tables, and the facts from which every view is drawn. */
import { userInput } from '@reprise/agent/contracts';
import { actor, address, ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { memoryFacts, memoryTables, share, used, waitingCall } from '@reprise/org/contracts';
import { projectCalls } from './calls.js';
import { retrying, saying, taskToMake } from './commands.js';
import { DECISION_REASONS, INPUTS_MAX, PROJECT_ACTS, PROJECT_REFUSALS, PROJECT_STATUSES } from './names.js';
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
import { skillRow } from './skills.js';
import { teamName, teamRow } from './team.js';

const count = z.int().min(0);
const number = z.int().min(1);

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
  /** When its timer is due; null while none is set. */
  due: z.nullable(count),
  /** The results that the run is shown. */
  results: z.array(resultNumber).max(20),
  /** Whether it tells that a decision is needed, and how often that was told in vain since the last change of a task. */
  decides: z.boolean(),
  vain: count,
  /** How often the coordinator was woken since a person acted or a task ended for good. */
  unattended: count,
});

/** The state of a project. */
export const projectState = z.strictObject({
  status: z.enum(PROJECT_STATUSES),
  /** Why it needs a decision; null when it needs none. */
  needs: z.nullable(z.enum(DECISION_REASONS)),
  team: z.nullable(teamName),
  /** The cell of the app that answers the app's own owner tools; null without one. */
  calls: z.nullable(address),
  /** The first message; null without one. */
  goal_ref: z.nullable(ref()),
  /** The last message: the hint of skills follows it. */
  said_ref: z.nullable(ref()),
  /** How many messages of people came: the last one is what the coordinator's runs follow from. */
  message: count,
  /** The versions of the team and of the skills that are known; null before the first. */
  version: z.nullable(z.string().max(80)),
  skills: z.nullable(ref()),
  /**
   * The reading of team and skills that is under way, and the number of the next entry of the inbox when it began; null
   * while nothing is read.
   */
  reading: z.nullable(z.strictObject({ id: count, upto: count })),
  /** The numbers of the next task, result, entry of the inbox, entry of the narrative, place among ready tasks, and reading. */
  next: z.strictObject({ task: number, result: number, inbox: count, narrative: number, place: count, read: count }),
  counts: taskCounts,
  /** Jobs that have not ended, and how many of them wait for a slot. */
  jobs: count,
  waiting: count,
  /** A budget that people set in place of the team's; null for that of the team. */
  budget: z.nullable(share),
  /** What was used, and what is set aside, in the unit of the budget. */
  spent: used,
  reserved: count,
  /** Whether a run has reached the limit of its share: nothing more is begun until people set another budget. */
  exhausted: z.boolean(),
  /** Results that have ended and were not processed. */
  unprocessed: count,
  /** Those of them that were shown three times without a completed run: they wait for a person. */
  stuck: count,
  coordinator: z.strictObject({
    /** The version of the team whose definition its session has adopted; null before it was made. */
    adopted: z.nullable(z.string().max(80)),
    /** Whether a run of it is under way. */
    busy: z.boolean(),
    /** Inputs that were sent to it and not accepted or refused yet. */
    sent: count,
    /** Inputs that it has taken and whose run has not ended. */
    taken: count,
    /** What is set aside for each of its inputs that has not ended, in the order in which they were sent. */
    shares: z.array(count).max(INPUTS_MAX),
    /** The last run that ended, -1 before the first; and why it failed, null when it did not. */
    run: z.int().min(-1),
    failure: z.nullable(failureText),
  }),
  wake: wakeState,
  /** Whether it was stated, and shown to the coordinator, that a decision is needed: since the last change of a task. */
  decision: z.enum(['none', 'stated', 'shown']),
  /** Of a cancelled project: the next task and the next job that are to be cancelled; null when all were. */
  sweep: z.nullable(z.strictObject({ task: number, job: number })),
  /** Who cancelled it; null while nobody did. */
  cancelled_by: z.nullable(actor),
  started: count,
});

/** The state of a project. */
export type ProjectState = z.infer<typeof projectState>;

/**
 * What waits until team and skills were read. The tasks of a plan stand in the table `planned`: one entry of a table has
 * at most 16 KiB.
 */
export const inboxRow = z.union([
  z.strictObject({ kind: z.literal('say'), value: saying }),
  z.strictObject({ kind: z.literal('plan'), command_id: z.string().max(128) }),
  z.strictObject({ kind: z.literal('retry'), value: retrying }),
  z.strictObject({ kind: z.literal('plan_call'), call: waitingCall }),
  z.strictObject({ kind: z.literal('retry_call'), call: waitingCall, args: projectCalls.task_retry.call }),
  z.strictObject({ kind: z.literal('wake') }),
]);

/** What waits until team and skills were read. */
export type InboxRow = z.infer<typeof inboxRow>;

/** The purpose of a plan that is under way. */
export const projectPurpose = z.union([
  z.strictObject({ kind: z.literal('team'), reading: z.nullable(count) }),
  z.strictObject({
    kind: z.literal('wake'),
    /** The reading that it does as well; null when another plan reads. */
    reading: z.nullable(count),
    results: z.array(resultNumber).max(20),
  }),
  z.strictObject({ kind: z.literal('call'), call: waitingCall }),
]);

/** The purpose of a plan that is under way. */
export type ProjectPurpose = z.infer<typeof projectPurpose>;

/** The tables of a project. Tasks, results, jobs and entries stand under their number, see `key`. */
export const projectTables = {
  tasks: taskRow,
  /** Tasks by the one that they depend on: two numbers with a dot. */
  dependents: z.null(),
  /** Tasks that are ready, by priority and order: dispatched by themselves when the team says so. */
  ready: taskNumber,
  results: resultRow,
  /** The numbers of results that have ended and were not processed; those that wait for a person stand in `stuck`. */
  unprocessed: z.null(),
  stuck: z.null(),
  /** Jobs that are under way. */
  jobs: jobRow,
  skills: skillRow,
  /** The team, and the models of the world; each its only entry, under its own name. */
  team: teamRow,
  models: z.array(z.string().max(128)).max(256),
  narrative: narrativeRow,
  inbox: inboxRow,
  /**
   * Inputs whose session takes a definition of a version and with a share as its limit first, in the order in which they
   * came: by their number and the digest of their id.
   */
  adopting: z.strictObject({
    version: projectState.shape.version,
    share: z.nullable(share),
    input: userInput.omit({ allowance: true }),
  }),
  /** Tasks of plans in the inbox: by the number of the entry and their place, two numbers with a dot. */
  planned: taskToMake,
  /** Tasks that have ended, with the last dependent that was changed for it. */
  work: z.nullable(taskNumber),
  /** The purposes of plans that are under way. */
  plans: projectPurpose,
  /** Calls that a cell of the app is to answer, by their session and id. */
  passed: waitingCall,
  ...memoryTables,
};

const { task, status, code, output_ref, cost } = resultRow.shape;

/** The facts of a project. */
export const projectFacts = {
  'specialists/ProjectChanged@1': z.strictObject({
    team: z.nullable(teamName),
    status: z.enum(PROJECT_STATUSES),
    needs: projectState.shape.needs,
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
    ...{ task: taskNumber, title, skill: skillName, status: taskRow.shape.status },
    ...{ code: taskRow.shape.failure, result: taskRow.shape.result },
    /** Who skipped or cancelled it. */
    by: z.exactOptional(actor),
  }),
  /** An act on the project: what, on which task, why, and by whom. */
  'specialists/Acted@1': z.strictObject({
    act: z.enum(PROJECT_ACTS),
    task: z.nullable(taskNumber),
    /** Why, where a reason was given. */
    reason: z.exactOptional(z.string().max(500)),
    by: actor,
  }),
  'specialists/ResultStored@1': z.strictObject({
    result: resultNumber,
    ...{ task, title, skill: skillName, status, code, output_ref, cost },
  }),
  'specialists/ResultProcessed@1': z.strictObject({ results: z.array(resultNumber).max(20) }),
  'specialists/CoordinatorWoken@1': z.strictObject({ epoch: count, results: z.array(resultNumber).max(20) }),
  'specialists/DecisionNeeded@1': z.strictObject({
    why: z.enum(DECISION_REASONS),
    /** Why the coordinator's run failed, where that is the reason. */
    code: z.nullable(failureText),
    /** Tasks that failed or are blocked, where they are the reason. */
    tasks: z.array(taskNumber).max(64),
  }),
  'specialists/SkillsSeen@1': z.strictObject({
    version: ref(),
    changed: z.array(skillName).max(64),
    removed: z.array(skillName).max(64),
    /** How many of all skills cannot be spawned. */
    invalid: count,
  }),
  /** The outcome of a command that waited until the team was read: numbers of tasks, or why it was refused. */
  'specialists/Commanded@1': z.strictObject({
    command_id: z.string().max(128),
    code: z.nullable(z.enum(PROJECT_REFUSALS)),
    value: value(),
  }),
  /** The team could not be read: what waits is tried with the next message. */
  'specialists/NotRead@1': z.strictObject({ code: failureText }),
  /** The text that wakes the coordinator could not be composed. */
  'specialists/NotWoken@1': z.strictObject({ epoch: count, code: failureText }),
  /** Where messages, tasks, results and entries come from, and what people did to the memory. */
  ...memoryFacts,
  /** What was used and is set aside, where a budget bounds it. */
  'specialists/Budget@1': z.strictObject({ budget: share, spent: used, reserved: count }),
  'specialists/NarrativeAppended@1': z.strictObject({ entry: number, previous: z.nullable(number), text_ref: ref() }),
};

/** The name of a fact of a project. */
export type ProjectFactName = keyof typeof projectFacts;

/** The content of a fact of a project. */
export type ProjectFact<K extends ProjectFactName> = z.infer<(typeof projectFacts)[K]>;
