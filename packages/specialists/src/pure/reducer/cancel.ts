/** Cancels a project: its coordinator, its jobs and its tasks, in as many deliveries as that takes. */
import { type Actor, present } from '@reprise/contracts';
import { coordinatorOf, TASK_FINAL } from '../contracts/index.js';
import { type Delivery, isFull, tableOf } from './delivery.js';
import { key } from './keys.js';
import { stopJob } from './people.js';
import { moveTask } from './tasks.js';
import { clearWakeTimers } from './wake.js';

/** Begins to cancel everything. What waits for the team is dropped. */
export function cancelProject(delivery: Delivery, by: Actor): void {
  const { state, ctx } = delivery;
  if (state.status === 'cancelled') return;
  state.status = 'cancelled';
  state.cancelled_by = by;
  state.sweep = { task: 1, job: 1 };
  clearWakeTimers(delivery);
  state.wake = { ...state.wake, phase: 'none', due: null, results: [], decides: false };
  dropInbox(delivery);
  if (state.coordinator.adopted === null) return;
  const command = { type: 'Cancel', scope: 'all' };
  const value = { command_id: `cancel/${ctx.id('cancel')}`, command };
  ctx.send(coordinatorOf(ctx.address[1]), { name: 'aos.agent/HostCommand@1', value });
}

/** What waited for the team is dropped, and its sender learns so. */
function dropInbox(delivery: Delivery): void {
  const inbox = tableOf(delivery, 'inbox');
  for (let first = inbox.first(); first !== undefined; first = inbox.first()) {
    const [at, row] = first;
    inbox.delete(at);
    const command_id = row.kind === 'plan' ? row.command_id : 'value' in row ? row.value.command_id : undefined;
    if (command_id === undefined) continue;
    delivery.ctx.record('specialists/Commanded@1', { command_id, code: 'project_ended', value: null });
  }
  const planned = tableOf(delivery, 'planned');
  for (let first = planned.first(); first !== undefined; first = planned.first()) planned.delete(first[0]);
}

/** Goes on with cancelling, as far as one delivery may. @returns whether something is left */
export function sweep(delivery: Delivery): boolean {
  const { state } = delivery;
  if (state.sweep === null) return false;
  if (!sweepJobs(delivery, state.sweep) || !sweepTasks(delivery, state.sweep)) return true;
  state.sweep = null;
  return false;
}

function sweepJobs(delivery: Delivery, at: { job: number }): boolean {
  const jobs = tableOf(delivery, 'jobs');
  for (let page = jobs.range({ from: key(at.job) }); page.length > 0; page = jobs.range({ from: key(at.job) })) {
    for (const [n] of page) {
      if (isFull(delivery)) return false;
      at.job = Number(n) + 1;
      delivery.changes++;
      stopJob(delivery, Number(n), {
        status: 'cancelled',
        code: 'cancelled',
        ...present({ by: cancelledBy(delivery) }),
      });
    }
  }
  return true;
}

function sweepTasks(delivery: Delivery, at: { task: number }): boolean {
  const tasks = tableOf(delivery, 'tasks');
  for (let page = tasks.range({ from: key(at.task) }); page.length > 0; page = tasks.range({ from: key(at.task) })) {
    for (const [n, row] of page) {
      if (isFull(delivery)) return false;
      at.task = Number(n) + 1;
      if (row.status === 'running' || TASK_FINAL.includes(row.status)) continue;
      moveTask(delivery, Number(n), row, 'cancelled', {
        failure: 'cancelled',
        ...present({ ended_by: cancelledBy(delivery) }),
      });
    }
  }
  return true;
}

/** Who cancelled the project. */
function cancelledBy({ state }: Delivery): Actor | undefined {
  return state.cancelled_by ?? undefined;
}
