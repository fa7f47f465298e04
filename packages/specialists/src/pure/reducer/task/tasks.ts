/** Tasks: how they are made, and how they move. Every change of a task's status is made by {@link moveTask}. */

import { present } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { key, pair, pairsOf, placeInLine, secondOf } from '@reprise/org/contracts';
import { type NewTask, type RecordedTask, TASK_FINAL, type TaskStatus } from '../../contracts/index.js';
import { type Delivery, isFull, teamOf } from '../project/delivery.js';
import { linkTask } from '../project/links.js';
import { countAnew } from '../project/status.js';

/** Adds a task whose dependencies exist. */
export function addTask(delivery: Delivery, task: NewTask): number {
  const { state, ctx } = delivery;
  const n = state.next.task++;
  const tasks = delivery.ctx.table('tasks');
  const open = task.depends_on.filter((need) => !hasEndedWell(tasks.get(key(need.task)))).length;
  const row: RecordedTask = {
    ...task,
    model: null,
    note_ref: null,
    status: open === 0 ? 'pending' : 'blocked',
    failure: null,
    result: null,
    attempts: 0,
    open,
    place: 0,
    at: ctx.now,
  };
  for (const need of task.depends_on) delivery.ctx.table('dependents').set(pair(need.task, n), null);
  tasks.set(key(n), row);
  state.counts[row.status]++;
  linkTask(delivery, n, row);
  changed(delivery, n, row, null);
  if (row.depends_on.some((need) => hasEndedBadly(tasks.get(key(need.task))))) tellLater(delivery, row.depends_on);
  return n;
}

/** A task is made after one that it depends on had failed: what follows from that failure follows for it as well. */
function tellLater(delivery: Delivery, needs: RecordedTask['depends_on']): void {
  const tasks = delivery.ctx.table('tasks');
  for (const { task } of needs) {
    if (hasEndedBadly(tasks.get(key(task)))) delivery.ctx.table('work').set(key(task), null);
  }
}

/** Moves a task to another status, and what follows from it. */
export function moveTask(
  delivery: Delivery,
  n: number,
  row: RecordedTask,
  status: TaskStatus,
  change: Partial<
    Pick<RecordedTask, 'failure' | 'result' | 'attempts' | 'skill' | 'model' | 'note_ref' | 'open' | 'ended_by'>
  > = {},
): void {
  const { state } = delivery;
  state.counts[row.status]--;
  state.counts[status]++;
  const { ended_by: _before, ...rest } = row;
  const moved: RecordedTask = { ...rest, failure: null, ...change, status };
  delivery.ctx.table('tasks').set(key(n), moved);
  changed(delivery, n, moved, row);
  if (ENDED.includes(status)) delivery.ctx.table('work').set(key(n), null);
}

/** The states that the dependents of a task have to hear of. */
const ENDED: readonly TaskStatus[] = ['completed', 'failed', 'skipped', 'cancelled'];

/** Whether a task that depends on this one may begin, as far as this one is concerned. */
export function hasEndedWell(row: RecordedTask | undefined): boolean {
  return row !== undefined && (row.status === 'completed' || row.status === 'skipped');
}

function hasEndedBadly(row: RecordedTask | undefined): boolean {
  return row !== undefined && (row.status === 'failed' || row.status === 'cancelled');
}

/** Keeps the line of ready tasks, states the change, and lets the need of a decision be told anew. */
function changed(delivery: Delivery, n: number, row: RecordedTask, before: RecordedTask | null): void {
  const { state, ctx } = delivery;
  const ready = delivery.ctx.table('ready');
  if (before?.status === 'pending') ready.delete(placeInLine(before.priority, before.place));
  if (row.status === 'pending') {
    row.place = state.next.place++;
    delivery.ctx.table('tasks').set(key(n), row);
    ready.set(placeInLine(row.priority, row.place), n);
  }
  delivery.changes++;
  if (TASK_FINAL.includes(row.status)) countAnew(delivery);
  state.decision = 'none';
  state.wake.vain = 0;
  const { title, skill, status, failure, result, ended_by } = row;
  const stated = { task: n, title, skill, status, code: failure, result };
  ctx.record('specialists/TaskChanged@1', { ...stated, ...present({ by: ended_by }) });
}

/**
 * Passes ends of tasks on to the tasks that depend on them, as far as one delivery may.
 *
 * @returns whether something is left for another delivery
 */
export function passOnEnds(delivery: Delivery): boolean {
  const work = delivery.ctx.table('work');
  for (let first = work.first(); first !== undefined; first = work.first()) {
    const [at, after] = first;
    if (!passOnEnd(delivery, Number(at), after)) return true;
    work.delete(at);
  }
  return false;
}

function passOnEnd(delivery: Delivery, n: number, after: number | null): boolean {
  const tasks = delivery.ctx.table('tasks');
  const ended = tasks.get(key(n));
  if (ended === undefined) return true;
  let last = after;
  for (const [at] of allRows(delivery.ctx.table('dependents'), pairsOf(n, after))) {
    if (isFull(delivery)) {
      delivery.ctx.table('work').set(key(n), last);
      return false;
    }
    last = secondOf(at);
    const row = tasks.get(key(last));
    if (row !== undefined) hear(delivery, last, row, ended);
  }
  return true;
}

/** A blocked task hears of the end of one that it depends on. */
function hear(delivery: Delivery, n: number, row: RecordedTask, ended: RecordedTask): void {
  if (row.status !== 'blocked') return;
  if (hasEndedWell(ended)) {
    const open = openNeeds(delivery, row);
    if (open === 0) moveTask(delivery, n, row, 'pending', { open });
    else delivery.ctx.table('tasks').set(key(n), { ...row, open });
  } else if (teamOf(delivery).on_failed === 'cascade') {
    moveTask(delivery, n, row, 'failed', { failure: 'dependency_failed' });
  }
}

/** How many dependencies of a task have not ended well. */
export function openNeeds(delivery: Delivery, { depends_on }: RecordedTask): number {
  const tasks = delivery.ctx.table('tasks');
  return depends_on.filter(({ task }) => !hasEndedWell(tasks.get(key(task)))).length;
}
