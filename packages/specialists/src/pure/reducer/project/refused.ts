/** Refusals of calls and commands of a project. */
import { type Hints, Refused as RefusedWith } from '@reprise/org/contracts';
import type { ProjectRefusal } from '../../contracts/index.js';

/** A call or a command of a project is refused. Nothing was changed. */
export class Refused extends RefusedWith<ProjectRefusal> {}

/** What a model can do about a refusal. */
export const HINTS: Hints & Partial<Record<ProjectRefusal, string>> = {
  stale_run: 'Your run has been replaced. End your turn.',
  unknown_tool: 'Call only the tools that you were given.',
  unknown_task: 'Call task_graph for the tasks that exist.',
  task_not_ready: 'Spawn a task that is pending. A blocked one waits for the tasks that are named.',
  task_not_failed: 'Only a task that failed can be tried again.',
  task_final: 'This task has ended for good.',
  task_running: 'Cancel the task, or wait for its end.',
  skill_not_found: 'Choose one of the skills in your list.',
  skill_invalid: 'The skill file has problems: tell the user, or choose another skill.',
  tool_unavailable: 'The skill names a tool that this team does not have: tell the user, or choose another skill.',
  tool_reserved: 'The skill names a tool of the coordinator: tell the user, or choose another skill.',
  tool_denied: 'This project may not use a tool that the skill names: tell the user, or choose another skill.',
  unknown_model: 'Choose one of the models that are named, or leave the model out.',
  unknown_result: 'Call results_list for the results that exist.',
  result_of_other_project: 'Only results of this project can be passed on.',
  result_not_ok: 'Only the result of work that ended well can be passed on or read.',
  too_many_refs: 'Point to fewer results, or depend on fewer tasks.',
  plan_invalid: 'Correct every fault that is listed, and call plan_write again with the whole plan.',
  queue_full: 'Wait until some of the work has ended.',
  limit_jobs: 'This project has done as much work as one may.',
  budget_exceeded: 'The budget of the project is used up: tell the user.',
  project_ended: 'The project was cancelled.',
};
