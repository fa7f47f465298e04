/**
 * The calls of a team's agents. Who calls is the sender of the event, which the kernel vouches for: the coordinator's
 * session, or a job with the tools that its skill lists. No argument names the caller.
 */
import type { OwnerCall } from '@reprise/agent/contracts';
import { problemsOf, type Value } from '@reprise/contracts';
import { isMemoryTool } from '@reprise/memory/contracts';
import { stopWork } from '@reprise/work/contracts';
import {
  COORDINATOR_TOOLS,
  type CoordinatorTool,
  type ProjectCallOf,
  type ProjectTool,
  projectCalls,
  type WaitingCall,
} from '../contracts/index.js';
import { agentActed, agentOf } from './acts.js';
import { answerCall, refuseCall } from './answers.js';
import { passToApp } from './app-calls.js';
import { type Caller, callerAt } from './caller.js';
import { type Delivery, tableOf, teamOf } from './delivery.js';
import { key } from './keys.js';
import { callMemory } from './memory.js';
import { appendNarrative } from './narrative.js';
import { cancelTask, retryTask, skipTask } from './people.js';
import { writePlan } from './plan.js';
import { listResults, readGraph, showResult } from './read.js';
import { Refused } from './refused.js';
import { spawnAdHoc, spawnTask } from './spawn.js';
import { afterReading } from './team.js';

type Handler<T extends ProjectTool> = (
  delivery: Delivery,
  args: ProjectCallOf<T>,
  call: WaitingCall,
  caller: Caller,
) => Value | undefined;

/** What each tool does; undefined when the answer comes later. A refusal is thrown before anything is changed. */
const HANDLERS: { readonly [T in ProjectTool]: Handler<T> } = {
  spawn_agent: (delivery, args) => {
    const result_id = 'task_id' in args ? spawnTask(delivery, args.task_id) : spawnAdHoc(delivery, args);
    return { result_id, status: 'queued', position: delivery.state.waiting };
  },
  task_graph: (delivery, args) => readGraph(delivery, args),
  task_retry: (delivery, { task_id, ...change }, call) => {
    const status = retryTask(delivery, task_id, change);
    agentActed(delivery, call, { act: 'retry', task: task_id });
    return { status };
  },
  task_skip: (delivery, { task_id, reason }, call) => {
    const status = skipTask(delivery, task_id, reason, agentOf(call));
    agentActed(delivery, call, { act: 'skip', task: task_id, reason });
    return { status };
  },
  task_cancel: (delivery, { task_id, reason }, call) => {
    const status = cancelTask(delivery, task_id, agentOf(call));
    agentActed(delivery, call, { act: 'cancel', task: task_id, reason });
    return { status };
  },
  results_list: (delivery, args, call) => listResults(delivery, args, call),
  result_read: (delivery, args, call) => showResult(delivery, args, call),
  plan_write: (delivery, { tasks }, _call, caller) => planOf(delivery, tasks, caller),
  narrative_append: (delivery, args) => ({ narrative_id: appendNarrative(delivery, args) }),
};

/** Takes a call, and answers it at once or later. What is not permitted is answered as an error. */
export function takeCall(delivery: Delivery, call: OwnerCall): void {
  const { caller: from } = delivery.ctx;
  if (from === null) return delivery.ctx.reject('not_yours'); // a call comes from a cell: its declaration says which
  const { session, call_id, step_epoch, name } = call;
  const waiting: WaitingCall = { to: [...from], session, call_id, step_epoch };
  answering(delivery, waiting, () => {
    const caller = callerAt(delivery, waiting.to);
    requireTool(delivery, caller, name);
    if (isAppTool(delivery, caller, name)) return passToApp(delivery, waiting, call);
    if (isMemoryTool(name)) return callMemory(delivery, call, caller);
    const tool = name as ProjectTool;
    const args = parsed(tool, call.args);
    if (!waits(delivery, waiting, tool, args)) act(delivery, waiting, tool, args, caller);
  });
}

/** What decides by what the skills are now waits until they were read. */
function waits(delivery: Delivery, call: WaitingCall, tool: ProjectTool, args: unknown): boolean {
  if (tool === 'plan_write') {
    const { tasks } = args as ProjectCallOf<'plan_write'>;
    afterReading(delivery, { kind: 'plan_call', call }, tasks);
  } else if (tool === 'task_retry') {
    afterReading(delivery, { kind: 'retry_call', call, args: args as ProjectCallOf<'task_retry'> });
  } else return false;
  return true;
}

/** Goes on with a call that waited until the skills were read. Its caller may have ended meanwhile. */
export function takeCallAfterReading<T extends ProjectTool>(
  delivery: Delivery,
  call: WaitingCall,
  tool: T,
  args: ProjectCallOf<T>,
): void {
  answering(delivery, call, () => act(delivery, call, tool, args, callerAt(delivery, call.to)));
}

function answering(delivery: Delivery, call: WaitingCall, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refuseCall(delivery, call, error);
  }
}

function act(delivery: Delivery, call: WaitingCall, tool: ProjectTool, args: unknown, caller: Caller): void {
  // The name determines the type of the arguments; TypeScript cannot express that for a union.
  const value = (HANDLERS[tool] as Handler<ProjectTool>)(delivery, args as never, call, caller);
  if (value !== undefined) answerCall(delivery, call, value);
}

function parsed(tool: ProjectTool, args: Value): unknown {
  const checked = projectCalls[tool].safeParse(args);
  if (checked.success) return checked.data;
  throw new Refused('invalid_arguments', { problems: problemsOf(checked.error.issues) });
}

/** A caller has the tools of its role, and no other (SPEC-17). */
function requireTool(delivery: Delivery, caller: Caller, name: string): void {
  if (delivery.state.status === 'cancelled') throw new Refused('project_ended');
  if (isAppTool(delivery, caller, name)) return;
  const isTheirs =
    caller.role === 'coordinator'
      ? COORDINATOR_TOOLS.includes(name as CoordinatorTool) || isMemoryTool(name)
      : caller.job.project_tools.includes(name) && (name !== 'plan_write' || caller.job.planner);
  if (!isTheirs) throw new Refused('unknown_tool', { name });
}

/** Whether the app's cell answers the tool: one that the app defined under this name, and that this agent lists. */
function isAppTool(delivery: Delivery, caller: Caller, name: string): boolean {
  const { calls, app_tools, coordinator_tools } = teamOf(delivery);
  if (calls === null) return false;
  if (caller.role === 'coordinator') return coordinator_tools.includes(name);
  const { tools, project_tools } = caller.job;
  return tools.includes(name) && !project_tools.includes(name) && app_tools.includes(name);
}

/** How many wrong plans a planner may write, before its task has failed. */
const PLANS_REFUSED_MAX = 3;

function planOf(delivery: Delivery, tasks: ProjectCallOf<'plan_write'>['tasks'], caller: Caller): Value {
  if (caller.role === 'coordinator') throw new Refused('unknown_tool', { name: 'plan_write' });
  const { n, job } = caller;
  try {
    const { task_ids, warnings } = writePlan(delivery, tasks, n);
    return { task_ids, warnings: [...warnings] };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const refused = job.refused + 1;
    const isLast = refused >= PLANS_REFUSED_MAX;
    const stopped = isLast ? ({ status: 'failed', code: 'plan_failed' } as const) : job.stopped;
    tableOf(delivery, 'jobs').set(key(n), { ...job, refused, stopped });
    if (isLast) stopWork(delivery.ctx, n, 'plan_failed');
    throw error;
  }
}
