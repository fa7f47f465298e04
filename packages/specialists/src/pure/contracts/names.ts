/** Names of projects, their tables, and their bounds. */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import { QUEUE } from '@reprise/org/contracts';
import { SKILL_REFUSALS } from './skills.js';

/** The wire name of the project's reducer. The key of a cell is the project's id. */
export const PROJECT = 'specialists/Project@1';

/** The kind of preparation of a team's jobs: an agent of a skill file. */
export function specialistKind(team: string): string {
  return `specialists.skill:${team}`;
}

/** The id of a project: from it the keys of its sessions and jobs are made. */
export const PROJECT_ID = /^[a-z0-9._-]{1,100}$/;

/** The states of a project. */
export const PROJECT_STATUSES = ['open', 'working', 'needs_decision', 'done', 'cancelled'] as const;

/** The state of a project. */
export type ProjectStatus = (typeof PROJECT_STATUSES)[number];

/** The states of a task. `pending` is ready to be spawned; `blocked` waits for another task. */
export const TASK_STATUSES = ['pending', 'blocked', 'running', 'completed', 'failed', 'skipped', 'cancelled'] as const;

/** The state of a task. */
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The final states of a task. A failed task is not final: it may be tried again. */
export const TASK_FINAL: readonly TaskStatus[] = ['completed', 'skipped', 'cancelled'];

/** The states of a result: of the job that makes it. */
export const RESULT_STATUSES = ['queued', 'running', 'waiting', 'ok', 'failed', 'timeout', 'cancelled'] as const;

/** The state of a result. */
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** How a task is shown the result of one that it depends on. */
export const PASSES = ['none', 'summary', 'full'] as const;

/** How much of a dependency's result a task is shown. */
export type Pass = (typeof PASSES)[number];

/** What becomes of a task when one that it depends on has failed. */
export const ON_FAILED = ['wait', 'cascade'] as const;

/** Who spawns a task that is ready: the coordinator, or the project itself. */
export const DISPATCHES = ['coordinator', 'auto'] as const;

/** The bounds of a project. */
export const PROJECT_BOUNDS = {
  /** The tasks of a project. */
  tasks: 1_000,
  /** Jobs, planned and ad hoc, retries included. */
  jobs: 10_000,
  /** Tasks of one call of `plan_write`. */
  plan: 64,
  /** Dependencies of all tasks of one call. */
  needs: 512,
  /** The dependencies that one task has. */
  task_needs: 32,
  /** Pointers and dependencies of one task or spawn that are passed on. */
  refs: 14,
  /** The least bytes of a brief. */
  brief_bytes: 200,
  /** The bytes of a title. */
  title_bytes: 200,
  /** The bytes of an entry of the narrative. */
  narrative_bytes: 2_000,
  /** Results that one wake shows. */
  shown: 20,
  /** Results that wait for the coordinator. */
  unprocessed: 256,
  /** Jobs that wait for a slot. */
  waiting: 1_000,
  /** The bytes that one call of `result_read` shows. */
  read_bytes: 8_192,
} as const;

/** How long ends of jobs are gathered before they wake the coordinator, in milliseconds. */
export const WAKE_AFTER_MS = 500;

/** How often a result is shown to runs that do not complete, before it waits for a person. */
export const SHOWN_MAX = 3;

/**
 * How often in a row results and decisions wake the coordinator, while no person acts and no task ends for good, before a
 * person decides. A run can hand out work again and again: this bounds it where nothing else does. Work in rounds, each
 * of which builds on the one before, seldom needs a third of it.
 */
export const WAKES_MAX = 24;

/**
 * Why a project needs a decision: its team could not be read, so that messages wait; its budget is used up; its coordinator was woken as often as it may be without a person;
 * results were shown in vain; the coordinator's last run failed; tasks failed or are blocked. Of several the first holds.
 */
export const DECISION_REASONS = ['team', 'budget', 'wakes', 'results', 'coordinator', 'tasks'] as const;

/** Why a project needs a decision. */
export type DecisionReason = (typeof DECISION_REASONS)[number];

/** The inputs of the coordinator that have not ended: beyond it, messages are refused. */
export const INPUTS_MAX = 256;

/** The priorities of a project's inputs: words of people come before results. */
export const INPUT_PRIORITY = { people: 100, results: 50 } as const;

/** The tools of a project that a skill may list; `plan_write` only one that the team names as planner. */
export const WORKER_TOOLS = ['result_read', 'memory_query', 'plan_write'] as const;

/** The codes with which a project refuses a command or call. */
export const PROJECT_REFUSALS = [
  'invalid_name',
  'other_team',
  'not_yours',
  'stale_run',
  'unknown_tool',
  'invalid_arguments',
  'unknown_task',
  'task_not_ready',
  'task_not_failed',
  'task_final',
  'task_running',
  'skill_not_found',
  ...SKILL_REFUSALS,
  'no_price',
  'unknown_result',
  'result_of_other_project',
  'result_not_ok',
  'too_many_refs',
  'plan_invalid',
  'queue_full',
  'limit_jobs',
  'budget_exceeded',
  'project_ended',
  'cell_failed',
  'policy_denied',
  'cap_denied',
  'input_refused',
] as const;

/** Why a command or call was refused. */
export type ProjectRefusal = (typeof PROJECT_REFUSALS)[number];

/** The codes with which a task fails, besides those of its run. */
export const TASK_FAILURES = [
  'dependency_failed',
  'timeout',
  'cancelled',
  'plan_failed',
  'skill_not_found',
  ...SKILL_REFUSALS,
  'no_price',
  'result_not_ok',
  'too_many_refs',
] as const;

/** What the key of the coordinator's session has behind that of its project. */
export const COORDINATOR_KEY = '/coordinator';

/** The coordinator's session of a project. */
export function coordinatorOf(project: string): Address {
  return [SESSION_REDUCER, `${project}${COORDINATOR_KEY}`];
}

/** Whether an address is that of the coordinator of a project. */
export function isCoordinator(project: string, [reducer, at]: Address): boolean {
  const [itsReducer, itsKey] = coordinatorOf(project);
  return reducer === itsReducer && at === itsKey;
}

/** The pool of slots that all projects of a team share. */
export function poolOf(team: string): Address {
  return [QUEUE, `specialists/${team}`];
}

/** The memory of a project. */
export function scopeOf(project: string): string {
  return `project:${project}`;
}

/** What people, programs and agents do to a project. */
export const PROJECT_ACTS = ['say', 'plan', 'open', 'remember', 'retry', 'skip', 'limit', 'cancel'] as const;
