/**
 * The calls of a team's agents. Who calls is the sender of the event, which the kernel vouches for: the coordinator's
 * session, or a job with the tools that its skill lists. No argument names the caller.
 */
import type { OwnerCall } from '@reprise/agent/contracts';
import { present, type Value } from '@reprise/contracts';
import {
  type ArgumentSchema,
  answering,
  isMemoryTool,
  jobNumberOf,
  key,
  parsedCall,
  stopWork,
  type WaitingCall,
  waitingCallOf,
} from '@reprise/org/contracts';
import {
  COORDINATOR_TOOLS,
  type CoordinatorTool,
  isCoordinator,
  type JobRow,
  type ProjectCallOf,
  type ProjectTool,
  projectCalls,
  type TaskToMake,
} from '../../contracts/index.js';
import { agentActed, agentOf } from '../project/acts.js';
import { type Delivery, taskOr, teamOf } from '../project/delivery.js';
import { linkEntry } from '../project/links.js';
import { HINTS, Refused } from '../project/refused.js';
import { afterReading } from '../project/team.js';
import { cancelTask, retryTask, skipTask } from '../task/people.js';
import { writePlan } from '../task/plan.js';
import { spawnAdHoc, spawnTask } from '../task/spawn.js';
import { passToApp } from './app-calls.js';
import { callMemory } from './memory.js';
import { listResults, readGraph, showResult } from './read.js';

/** The agent that makes a call: the coordinator, or the specialist of a job. */
export type Caller =
  | { readonly role: 'coordinator' }
  | { readonly role: 'specialist'; readonly n: number; readonly job: JobRow };

/** The caller at an address. @throws Refused `stale_run` for a job that has ended */
function callerAt({ ctx }: Pick<Delivery, 'ctx'>, at: WaitingCall['to']): Caller {
  const [, project] = ctx.address;
  if (isCoordinator(project, at)) return { role: 'coordinator' };
  const n = jobNumberOf(project, at);
  const job = n === undefined ? undefined : ctx.table('jobs').get(key(n));
  if (n === undefined || job === undefined) throw new Refused('stale_run');
  return { role: 'specialist', n, job };
}

/** Does what a call asks for. @returns the answer; undefined when it comes later. A refusal is thrown before anything is changed */
type Handler<A> = (delivery: Delivery, args: A, call: WaitingCall) => Value | undefined;

/** What a tool does, from the arguments as they came. */
function handles<A>(tool: { readonly call: ArgumentSchema<A> }, act: Handler<A>): Handler<Value> {
  return (delivery, args, call) => act(delivery, parsedCall(tool.call, args), call);
}

const HANDLERS: { readonly [T in ProjectTool]: Handler<Value> } = {
  spawn_agent: handles(projectCalls.spawn_agent, (delivery, args) => {
    const result_id = 'task_id' in args ? spawnTask(delivery, args.task_id) : spawnAdHoc(delivery, args);
    return { result_id, status: 'queued', position: delivery.state.waiting };
  }),
  task_graph: handles(projectCalls.task_graph, readGraph),
  task_retry: handles(projectCalls.task_retry, (delivery, args, call) => {
    afterReading(delivery, { kind: 'retry_call', call, args });
    return undefined;
  }),
  task_skip: handles(projectCalls.task_skip, (delivery, { task_id, reason }, call) => {
    const status = skipTask(delivery, task_id, reason, agentOf(call));
    agentActed(delivery, call, { act: 'skip', task: task_id, reason });
    return { status };
  }),
  task_cancel: handles(projectCalls.task_cancel, (delivery, { task_id, reason }, call) => {
    const status = cancelTask(delivery, task_id, agentOf(call));
    agentActed(delivery, call, { act: 'cancel', task: task_id, reason });
    return { status };
  }),
  results_list: handles(projectCalls.results_list, listResults),
  result_read: handles(projectCalls.result_read, showResult),
  plan_write: handles(projectCalls.plan_write, (delivery, { tasks }, call) => {
    afterReading(delivery, { kind: 'plan_call', call }, tasks);
    return undefined;
  }),
  narrative_append: handles(projectCalls.narrative_append, (delivery, args) => ({
    narrative_id: appendNarrative(delivery, args),
  })),
};

/** Takes a call, and answers it at once or later. What is not permitted is answered as an error. */
export function takeCall(delivery: Delivery, call: OwnerCall): void {
  const waiting = waitingCallOf(call, delivery.ctx);
  answerBy(delivery, waiting, () => {
    const { name } = call;
    const caller = callerAt(delivery, waiting.to);
    requireTool(delivery, caller, name);
    if (isAppTool(delivery, caller, name)) passToApp(delivery, waiting, call);
    else if (isMemoryTool(name)) callMemory(delivery, call, caller);
    else return HANDLERS[name as ProjectTool](delivery, call.args, waiting);
    return undefined; // another cell or a plan answers
  });
}

/** Goes on with a retry that waited until the skills were read. Its caller may have ended meanwhile. */
export function retryAfterReading(
  delivery: Delivery,
  call: WaitingCall,
  { task_id, ...change }: ProjectCallOf<'task_retry'>,
): void {
  answerBy(delivery, call, () => {
    callerAt(delivery, call.to);
    const status = retryTask(delivery, task_id, change);
    agentActed(delivery, call, { act: 'retry', task: task_id });
    return { status };
  });
}

/** Goes on with a plan that waited until the skills were read. */
export function planAfterReading(delivery: Delivery, call: WaitingCall, tasks: readonly TaskToMake[]): void {
  answerBy(delivery, call, () => planOf(delivery, tasks, callerAt(delivery, call.to)));
}

function answerBy({ ctx }: Delivery, call: WaitingCall, run: () => Value | undefined): void {
  answering(ctx, call, HINTS, () => {
    const value = run();
    return value === undefined ? undefined : { value };
  });
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

function planOf(delivery: Delivery, tasks: readonly TaskToMake[], caller: Caller): Value {
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
    delivery.ctx.table('jobs').set(key(n), { ...job, refused, stopped });
    if (isLast) stopWork(delivery.ctx, n, 'plan_failed');
    throw error;
  }
}

/** Adds an entry to the narrative, which only grows: each names the one before it (SPEC-34). @returns its number */
function appendNarrative(
  delivery: Delivery,
  { text_ref, bytes, memory_ids = [], task_ids = [] }: ProjectCallOf<'narrative_append'>,
): number {
  const { state, ctx } = delivery;
  for (const n of task_ids) taskOr(delivery, n);
  const n = state.next.narrative++;
  const previous = n === 1 ? null : n - 1;
  const { run } = state.coordinator;
  const row = { text_ref, bytes, previous, memory_ids, task_ids, run: run + 1, at: ctx.now };
  delivery.ctx.table('narrative').set(key(n), row);
  linkEntry(delivery, n, row);
  ctx.record('specialists/NarrativeAppended@1', present({ entry: n, previous, text_ref }));
  return n;
}
