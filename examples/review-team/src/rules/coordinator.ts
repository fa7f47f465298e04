/** The rules of the coordinator: it has the work planned, starts what can begin, and tells what came of it. */
import type { ScriptStep } from 'reprise/providers';
import { type Called, type Conversation, done } from './conversation.js';

/** A task, as `task_graph` lists it. */
interface Task {
  readonly id: number;
  readonly title: string;
  readonly skill: string;
  readonly status: string;
  readonly result_id?: number;
}

/** The steps that one run makes at most. */
const STEPS_MAX = 8;

/** The coordinator's answer. */
export function coordinate({ asked, all, calls }: Conversation): ScriptStep {
  if (!all.some(({ tool }) => tool === 'spawn_agent')) return havePlanned(asked);
  const graphs = calls.filter(({ tool }) => tool === 'task_graph');
  if (graphs.length === 0 && calls.some(({ tool }) => tool === 'spawn_agent'))
    return { text: 'The planner looks at the repository.' };
  const tasks = tasksIn(done(calls, 'task_graph'));
  const next = nextOf(graphs.at(-1));
  if (graphs.length === 0 || next !== undefined)
    return { calls: [{ tool: 'task_graph', args: next === undefined ? {} : { after: next } }] };
  if (calls.at(-1)?.tool === 'task_graph' && calls.length <= STEPS_MAX) {
    const acts = actsFor(tasks, all);
    if (acts.length > 0) return { calls: acts.slice(0, 16) };
  }
  if (['task_retry', 'task_skip'].includes(calls.at(-1)?.tool ?? '') && graphs.length < STEPS_MAX)
    return { calls: [{ tool: 'task_graph', args: {} }] };
  return conclude(tasks, all);
}

function havePlanned(asked: string): ScriptStep {
  const context = `The user asks for this:\n\n${asked}\n\nPlan the whole review, so that one report comes of it.`;
  return {
    calls: [{ tool: 'spawn_agent', args: { task: 'Plan the review of the repository', skill: 'planner', context } }],
  };
}

/** Starts what is pending; tries again what failed once, and skips what failed twice. */
function actsFor(tasks: readonly Task[], all: readonly Called[]): NonNullable<ScriptStep['calls']>[number][] {
  return tasks.flatMap(({ id, status }) => {
    if (status === 'pending') return [{ tool: 'spawn_agent', args: { task_id: id } }];
    if (status !== 'failed') return [];
    const wasRetried = done(all, 'task_retry').some(({ args }) => args.task_id === id);
    if (!wasRetried) return [{ tool: 'task_retry', args: { task_id: id } }];
    return [{ tool: 'task_skip', args: { task_id: id, reason: 'It failed twice.' } }];
  });
}

/** Keeps what the review came to, once it is over; else says what is under way. */
function conclude(tasks: readonly Task[], all: readonly Called[]): ScriptStep {
  const report = tasks.find(({ skill, status }) => skill === 'report' && status === 'completed');
  const open = tasks.filter(({ status }) => ['pending', 'running', 'blocked', 'failed'].includes(status));
  if (tasks.length === 0) return { text: 'There is no plan. The planner could not make one.' };
  if (report === undefined || report.result_id === undefined) {
    const under = open.map(({ id, title }) => `#${id} ${title}`).join(', ');
    return { text: under === '' ? 'The review ended without a report.' : `Under way or to come: ${under}.` };
  }
  const words = `The review is done: result ${report.result_id} is the report.`;
  if (all.some(({ tool }) => tool === 'narrative_append')) return { text: words };
  return {
    calls: [
      { tool: 'memory_store', args: { text: words, result_id: report.result_id, task_id: report.id, key: 'report' } },
      { tool: 'narrative_append', args: { text: words, task_ids: [report.id] } },
    ],
  };
}

function tasksIn(graphs: readonly Called[]): readonly Task[] {
  const byId = new Map<number, Task>();
  for (const graph of graphs) for (const task of rowsOf(graph).tasks ?? []) byId.set(task.id, task);
  return [...byId.values()];
}

function nextOf(graph: Called | undefined): number | undefined {
  return graph === undefined || graph.isError ? undefined : rowsOf(graph).next;
}

function rowsOf({ text }: Called): { readonly tasks?: readonly Task[]; readonly next?: number } {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as { readonly tasks: readonly Task[] };
  } catch {
    return {};
  }
}
