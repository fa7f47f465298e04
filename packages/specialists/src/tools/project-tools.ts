/**
 * The tools of a project: the coordinator's, and `plan_write` of planners. The project answers them.
 *
 * Owns: what a model is told of each tool, and how long texts of a call become links, so that what reaches the project
 * passes `projectCalls`. Does not own: what a call does (the reducer), who may call what (the reducer too).
 */
import { defineOwnerTool, putText, type Tool } from '@reprise/agent';
import { present, startOfText, wellFormed } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import type * as z from 'zod';
import {
  DEPENDS_ON_MAX,
  PROJECT_BOUNDS,
  type ProjectCallOf,
  type ProjectTool,
  type TaskToMake,
} from '../pure/index.js';
import { endArgs, graphArgs, listArgs, narrativeArgs, planArgs, readArgs, retryArgs, spawnArgs } from './arguments.js';
import { pointersIn } from './pointers.js';

const DESCRIPTIONS: Readonly<Record<ProjectTool, string>> = {
  spawn_agent:
    'Starts a specialist: give task_id alone for a task of the plan that is pending, or task and skill for work that stands in no plan. Answers at once with the number of the result to come. Do not wait for it: end your turn, and you are woken when results are there.',
  task_graph:
    'Lists the tasks of the plan: number, title, skill, status, what each depends on, and the number of its result. A task is pending when it can be spawned, and blocked while another one has to end first.',
  task_retry:
    'Tries a failed task again, if you like with a note for the specialist, another skill or another model. It becomes pending; spawn it then.',
  task_skip: 'Skips a task that is not needed. For tasks that depend on it, it counts as done.',
  task_cancel: 'Cancels a task; one that runs is stopped. Tasks that depend on it do not begin.',
  results_list: 'Lists results with the beginning of each: what your specialists have done.',
  result_read: 'Reads a piece of one result, 8 KiB at most. Use it when the summary is not enough.',
  plan_write:
    'Writes tasks into the plan of the project, all of them or none. When the answer lists faults, correct all of them and call it again with the whole plan; after the third refusal your task has failed.',
  narrative_append:
    'Adds an entry to the story of the project: what was decided or found, and why. You are shown the newest entries at each turn.',
};

/** The tools of the coordinator, beside those of its memory and of the app. */
export function coordinatorTools(): readonly Tool[] {
  return [spawnAgent, taskGraph, taskRetry, taskSkip, taskCancel, resultsList, resultRead, narrativeAppend];
}

/** The tools that a specialist may have when its skill lists them; `plan_write` is for planners. */
export function specialistTools(): readonly Tool[] {
  return [resultRead, planWrite];
}

const spawnAgent: Tool = defineOwnerTool({
  name: 'spawn_agent',
  description: DESCRIPTIONS.spawn_agent,
  args: spawnArgs,
  keep: async ({ task, context = '', ...asked }, { content }) => {
    // With the number of a task, or without a task, this is what the project refuses or takes as it is.
    if (task === undefined || asked.task_id !== undefined)
      return { ...present({ ...asked, task }), ...(context === '' ? {} : { context: startOfText(context, 64) }) };
    const work = { task: titleOf(task), task_ref: await putText(content, wellFormed(task)) };
    return { ...present(asked), ...work, ...(await keptBrief(content, context, task)) };
  },
}) as Tool;

const taskGraph: Tool = defineOwnerTool({
  name: 'task_graph',
  description: DESCRIPTIONS.task_graph,
  args: graphArgs,
  keep: (asked) => present(asked) as ProjectCallOf<'task_graph'>,
}) as Tool;

const taskRetry: Tool = defineOwnerTool({
  name: 'task_retry',
  description: DESCRIPTIONS.task_retry,
  args: retryArgs,
  keep: async ({ task_id, note, skill, model }, { content }): Promise<ProjectCallOf<'task_retry'>> => ({
    task_id,
    ...present({ note_ref: note === undefined ? undefined : await putText(content, wellFormed(note)), skill, model }),
  }),
}) as Tool;

const taskSkip: Tool = defineOwnerTool({
  name: 'task_skip',
  description: DESCRIPTIONS.task_skip,
  args: endArgs,
}) as Tool;

const taskCancel: Tool = defineOwnerTool({
  name: 'task_cancel',
  description: DESCRIPTIONS.task_cancel,
  args: endArgs,
}) as Tool;

const resultsList: Tool = defineOwnerTool({
  name: 'results_list',
  description: DESCRIPTIONS.results_list,
  args: listArgs,
  keep: (asked) => present(asked) as ProjectCallOf<'results_list'>,
}) as Tool;

const resultRead: Tool = defineOwnerTool({
  name: 'result_read',
  description: DESCRIPTIONS.result_read,
  args: readArgs,
  keep: (asked) => present(asked) as ProjectCallOf<'result_read'>,
}) as Tool;

const narrativeAppend: Tool = defineOwnerTool({
  name: 'narrative_append',
  description: DESCRIPTIONS.narrative_append,
  args: narrativeArgs,
  keep: async ({ text, ...named }, { content }): Promise<ProjectCallOf<'narrative_append'>> => {
    const bytes = encoder.encode(wellFormed(text));
    if (bytes.length > PROJECT_BOUNDS.narrative_bytes) throw new Error(tooLong(bytes.length));
    return { text_ref: await content.put(bytes), bytes: bytes.length, ...present(named) };
  },
}) as Tool;

const planWrite: Tool = defineOwnerTool({
  name: 'plan_write',
  description: DESCRIPTIONS.plan_write,
  args: planArgs,
  keep: async ({ tasks }, { content }): Promise<ProjectCallOf<'plan_write'>> => ({
    tasks: await Promise.all(tasks.map((task) => keptTask(content, task))),
  }),
}) as Tool;

const encoder = new TextEncoder();

function tooLong(bytes: number): string {
  return `text has ${bytes} bytes; at most ${PROJECT_BOUNDS.narrative_bytes}`;
}

/** A task as an app or a model states it. */
export type StatedTask = z.infer<typeof planArgs>['tasks'][number];

/** A task as the project takes it: its brief by link, its title in one line. */
export async function keptTask(content: ContentStore, task: StatedTask): Promise<TaskToMake> {
  const { key, title, context, skill, depends_on = [], priority, timeout_seconds } = task;
  return {
    key,
    title: titleOf(title),
    skill,
    ...(await keptBrief(content, context)),
    depends_on: depends_on
      .slice(0, DEPENDS_ON_MAX)
      .map((need) =>
        typeof need === 'object' ? { task: need.task, pass: need.pass ?? 'summary' } : { task: need, pass: 'summary' },
      ),
    ...present({ priority, timeout_ms: timeout_seconds === undefined ? undefined : timeout_seconds * 1_000 }),
  };
}

/** A brief as content. Blanks around it do not count. */
async function keptBrief(
  content: ContentStore,
  context: string,
  ...others: readonly string[]
): Promise<Pick<TaskToMake, 'context_ref' | 'context_bytes' | 'pointers' | 'foreign'>> {
  const text = wellFormed(context);
  return {
    context_ref: await putText(content, text),
    context_bytes: encoder.encode(text.trim()).length,
    ...pointersIn(text, ...others),
  };
}

/** The beginning of a text as a title: in one line, within its bytes. */
function titleOf(text: string): string {
  const line = wellFormed(text).replace(/\s+/g, ' ').trim();
  if (encoder.encode(line).length <= PROJECT_BOUNDS.title_bytes) return line === '' ? '(no title)' : line;
  let title = startOfText(line, PROJECT_BOUNDS.title_bytes - 3);
  while (encoder.encode(title).length > PROJECT_BOUNDS.title_bytes - 3) title = startOfText(title, title.length - 1);
  return `${title}…`;
}
