/**
 * The tools of a project: the coordinator's, and `plan_write` of planners. The project answers them.
 *
 * Owns: what a project receives of a call where that does not follow from the statement of the tool (`projectCalls`). Does
 * not own: what a model may write and is told (the statement), what a call does and who may make it (the reducer).
 */
import { putText, type Tool } from '@reprise/agent';
import { present, startOfText, wellFormed } from '@reprise/contracts';
import type { ContentStore } from '@reprise/kernel';
import { offerTools } from '@reprise/org';
import { bytesOf } from '@reprise/org/contracts';
import { DEPENDS_ON_MAX, PROJECT_BOUNDS, projectCalls, type StatedTask, type TaskToMake } from '../pure/index.js';
import { pointersIn } from './pointers.js';

const { plan_write, ...coordinators } = offerTools(projectCalls, {
  spawn_agent: async ({ task_id, task, context = '' }, { content }) => {
    // With the number of a task, or without a task, this is what the project refuses or takes as it is.
    if (task === undefined || task_id !== undefined)
      return { ...present({ task }), ...(context === '' ? {} : { context: startOfText(context, 64) }) };
    const work = { task: titleOf(task), task_ref: await putText(content, wellFormed(task)) };
    return { ...work, ...(await keptBrief(content, context, task)) };
  },
  narrative_append: ({ text }) => ({ bytes: bytesOf(text) }),
  plan_write: async ({ tasks }, { content }) => ({
    tasks: await Promise.all(tasks.map((task) => keptTask(content, task))),
  }),
});

/** The tools of the coordinator, beside those of its memory and of the app. */
export function coordinatorTools(): readonly Tool[] {
  return Object.values(coordinators);
}

/** The tools that a specialist may have when its skill lists them; `plan_write` is for planners. */
export function specialistTools(): readonly Tool[] {
  return [coordinators.result_read, plan_write];
}

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
    context_bytes: bytesOf(text.trim()),
    ...pointersIn(text, ...others),
  };
}

/** The beginning of a text as a title: in one line, within its bytes. */
function titleOf(text: string): string {
  const line = wellFormed(text).replace(/\s+/g, ' ').trim();
  if (bytesOf(line) <= PROJECT_BOUNDS.title_bytes) return line === '' ? '(no title)' : line;
  let title = startOfText(line, PROJECT_BOUNDS.title_bytes - 3);
  while (bytesOf(title) > PROJECT_BOUNDS.title_bytes - 3) title = startOfText(title, title.length - 1);
  return `${title}…`;
}
