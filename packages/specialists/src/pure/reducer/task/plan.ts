/** Plans: checked whole, with every fault that they have, and written whole or not at all (SPEC-12). */
import { startOfText, type Value } from '@reprise/contracts';
import { circleIn, key } from '@reprise/org/contracts';
import { type NewTask, PASSES, PROJECT_BOUNDS, type TaskToMake } from '../../contracts/index.js';
import type { Delivery } from '../project/delivery.js';
import { Refused } from '../project/refused.js';
import { addTask } from './tasks.js';

interface Fault {
  /** The key of the task; absent for a fault of the whole plan. */
  readonly key?: string;
  readonly fault: string;
  readonly detail: string;
}

interface WrittenPlan {
  /** The numbers of the tasks by their keys. */
  readonly task_ids: Record<string, number>;
  readonly warnings: readonly string[];
}

/**
 * Writes tasks.
 *
 * @param result the result of the planner; null for a plan of the app
 * @throws Refused `plan_invalid` with every fault; nothing has changed then
 */
export function writePlan(delivery: Delivery, tasks: readonly TaskToMake[], result: number | null): WrittenPlan {
  const faults = faultsOf(delivery, tasks);
  if (faults.length > 0) {
    throw new Refused('plan_invalid', { faults: faults.slice(0, FAULTS_MAX).map(written), count: faults.length });
  }
  const { state, ctx } = delivery;
  const first = state.next.task;
  const ids = new Map(inOrder(tasks).map(({ key }, i) => [key, first + i]));
  for (const task of inOrder(tasks)) addTask(delivery, newTask(task, ids, result, tasks.indexOf(task)));
  const numbers = [...ids.values()];
  ctx.record('specialists/PlanWritten@1', { result, tasks: numbers });
  const task_ids = Object.fromEntries(tasks.map((task) => [task.key, ids.get(task.key) ?? 0]));
  return { task_ids, warnings: warningsOf(tasks) };
}

/** The faults that are listed: an answer has at most 4 KiB. */
const FAULTS_MAX = 24;

function written({ key: at, fault, detail }: Fault): Value {
  return { ...(at === undefined ? {} : { key: at }), fault, detail: startOfText(detail, DETAIL_MAX) };
}

const DETAIL_MAX = 80;

/** Each task behind those of its plan that it depends on, else in the order of the plan: so numbers tell the order. */
function inOrder(tasks: readonly TaskToMake[]): readonly TaskToMake[] {
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const placed = new Set<TaskToMake>();
  const place = (task: TaskToMake): void => {
    if (placed.has(task)) return;
    for (const { task: need } of task.depends_on) {
      const other = typeof need === 'string' ? byKey.get(need) : undefined;
      if (other !== undefined) place(other);
    }
    placed.add(task);
  };
  for (const task of tasks) place(task);
  return [...placed];
}

function newTask(
  { title, context_ref, context_bytes, pointers, skill, depends_on, priority = USUAL, timeout_ms }: TaskToMake,
  ids: ReadonlyMap<string, number>,
  result: number | null,
  index: number,
): NewTask {
  const needs = depends_on.map(({ task, pass }) => ({
    task: typeof task === 'number' ? task : (ids.get(task) ?? 0),
    pass,
  }));
  const plan = result === null ? null : { result, index };
  return {
    ...{ title, context_ref, context_bytes, pointers, skill, priority, plan },
    timeout_ms: timeout_ms ?? null,
    depends_on: needs.sort((a, b) => a.task - b.task),
  };
}

/** The priority of a task that states none. */
const USUAL = 50;

function faultsOf(delivery: Delivery, tasks: readonly TaskToMake[]): Fault[] {
  const keys = new Set(tasks.map((task) => task.key));
  return [
    ...boundFaults(delivery, tasks),
    ...repeatedKeys(tasks),
    ...tasks.flatMap((task) => [
      ...skillFaults(delivery, task),
      ...briefFaults(task),
      ...needFaults(delivery, task, keys),
      ...pointerFaults(delivery, task),
    ]),
    ...circleFaults(tasks),
  ];
}

function boundFaults({ state }: Delivery, tasks: readonly TaskToMake[]): Fault[] {
  const needs = tasks.reduce((sum, { depends_on }) => sum + depends_on.length, 0);
  const made = state.next.task - 1;
  return [
    ...exceeds('too_many_tasks', 'tasks in one plan', tasks.length, PROJECT_BOUNDS.plan),
    ...exceeds('too_many_dependencies', 'dependencies in one plan', needs, PROJECT_BOUNDS.needs),
    ...exceeds('limit_tasks', 'tasks in the project', made + tasks.length, PROJECT_BOUNDS.tasks),
    ...(tasks.length === 0 ? [{ fault: 'no_tasks', detail: 'the plan has no task' }] : []),
  ];
}

function exceeds(fault: string, what: string, actual: number, max: number): Fault[] {
  return actual > max ? [{ fault, detail: `${actual} ${what}; at most ${max}` }] : [];
}

function repeatedKeys(tasks: readonly TaskToMake[]): Fault[] {
  const seen = new Set<string>();
  return tasks.flatMap(({ key: at }) => {
    if (seen.has(at)) return [{ key: at, fault: 'duplicate_key', detail: 'this key stands twice' }];
    seen.add(at);
    return [];
  });
}

function skillFaults(delivery: Delivery, { key: at, skill }: TaskToMake): Fault[] {
  const known = delivery.ctx.table('skills').get(skill);
  if (known === undefined) return [{ key: at, fault: 'skill_not_found', detail: skill }];
  const [problem] = known.problems;
  return known.refusal === null ? [] : [{ key: at, fault: known.refusal, detail: problem?.message ?? skill }];
}

function briefFaults({ key: at, context_bytes }: TaskToMake): Fault[] {
  if (context_bytes >= PROJECT_BOUNDS.brief_bytes) return [];
  const detail = `${context_bytes} bytes; a specialist sees this text only: at least ${PROJECT_BOUNDS.brief_bytes}`;
  return [{ key: at, fault: 'thin_brief', detail }];
}

function needFaults(delivery: Delivery, { key: at, depends_on }: TaskToMake, keys: ReadonlySet<string>): Fault[] {
  const tasks = delivery.ctx.table('tasks');
  const unknown = depends_on.flatMap(({ task }) => {
    const isKnown = typeof task === 'number' ? tasks.get(key(task)) !== undefined : keys.has(task);
    return isKnown ? [] : [{ key: at, fault: 'unknown_dependency', detail: String(task) }];
  });
  const repeated = new Set(depends_on.map(({ task }) => task)).size < depends_on.length;
  return [
    ...unknown,
    ...exceedsAt(at, 'too_many_dependencies', depends_on.length, PROJECT_BOUNDS.task_needs),
    ...(repeated ? [{ key: at, fault: 'duplicate_dependency', detail: 'a task stands twice in depends_on' }] : []),
  ];
}

function exceedsAt(at: string, fault: string, actual: number, max: number): Fault[] {
  return actual > max ? [{ key: at, fault, detail: `${actual}; at most ${max}` }] : [];
}

/** A pointer must lead to a result that ended well, or to one of a task that this one depends on. */
function pointerFaults(delivery: Delivery, { key: at, pointers, foreign = [], depends_on }: TaskToMake): Fault[] {
  const needed = new Set(depends_on.map(({ task }) => task));
  const passed = depends_on.filter(({ pass }) => pass !== PASSES[0]).length;
  const wrong = pointers.flatMap((n): Fault[] => {
    const result = delivery.ctx.table('results').get(key(n));
    if (result === undefined) return [{ key: at, fault: 'unknown_result', detail: `[agent_result:${n}]` }];
    const isComing = result.task !== null && needed.has(result.task);
    return result.status === 'ok' || isComing
      ? []
      : [{ key: at, fault: 'result_not_ok', detail: `[agent_result:${n}] is ${result.status}` }];
  });
  return [
    ...wrong,
    ...foreign.map((detail) => ({ key: at, fault: 'result_of_other_project', detail })),
    ...exceedsAt(at, 'too_many_refs', pointers.length + passed, PROJECT_BOUNDS.refs),
  ];
}

/** Tasks that exist never depend on new ones, so a circle has new tasks only. */
function circleFaults(tasks: readonly TaskToMake[]): Fault[] {
  const needs = new Map(
    tasks.map(({ key: at, depends_on }) => [
      at,
      depends_on.flatMap(({ task }) => (typeof task === 'string' ? [task] : [])),
    ]),
  );
  const circle = circleIn(needs);
  return circle === undefined ? [] : [{ fault: 'circle', detail: circle.join(' → ') }];
}

/** What is allowed, and probably not meant. */
function warningsOf(tasks: readonly TaskToMake[]): string[] {
  const many = tasks.filter(({ depends_on }) => depends_on.length > MANY_NEEDS).map(({ key: at }) => at);
  return many.length === 0
    ? []
    : [`these tasks wait for more than ${MANY_NEEDS} others: ${many.slice(0, 8).join(', ')}`];
}

const MANY_NEEDS = 16;
