/** Cancels a project: its coordinator, its jobs and its tasks, in as many deliveries as that takes. */

import { type Actor, present } from '@reprise/contracts';
import { allRows } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import { coordinatorOf, TASK_FINAL } from '../contracts/index.js';
import { dropAdopting } from './coordinator/coordinator.js';
import { clearWakeTimers } from './coordinator/wake.js';
import { type Delivery, isFull } from './project/delivery.js';
import { stopJob } from './task/people.js';
import { moveTask } from './task/tasks.js';

/** Begins to cancel everything. What waits for the team, or for its coordinator to take a definition, is dropped. */
export function cancelProject(delivery: Delivery, by: Actor): void {
  const { state, ctx } = delivery;
  if (state.status === 'cancelled') return;
  state.status = 'cancelled';
  state.cancelled_by = by;
  state.sweep = { task: 1, job: 1 };
  clearWakeTimers(delivery);
  state.wake = { ...state.wake, phase: 'none', due: null, results: [], decides: false };
  dropInbox(delivery);
  dropAdopting(delivery, 'project_ended');
  if (state.coordinator.adopted === null) return;
  const command = { type: 'Cancel', scope: 'all' };
  const value = { command_id: `cancel/${ctx.id('cancel')}`, command };
  ctx.send(coordinatorOf(ctx.address[1]), { name: 'aos.agent/HostCommand@1', value });
}

/** What waited for the team is dropped, and its sender learns so. */
function dropInbox(delivery: Delivery): void {
  const inbox = delivery.ctx.table('inbox');
  for (let first = inbox.first(); first !== undefined; first = inbox.first()) {
    const [at, row] = first;
    inbox.delete(at);
    const command_id = row.kind === 'plan' ? row.command_id : 'value' in row ? row.value.command_id : undefined;
    if (command_id === undefined) continue;
    delivery.ctx.record('specialists/Commanded@1', { command_id, code: 'project_ended', value: null });
  }
  const planned = delivery.ctx.table('planned');
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
  for (const [n] of allRows(delivery.ctx.table('jobs'), { from: key(at.job) })) {
    if (isFull(delivery)) return false;
    at.job = Number(n) + 1;
    delivery.changes++;
    stopJob(delivery, Number(n), { status: 'cancelled', code: 'cancelled', ...present({ by: cancelledBy(delivery) }) });
  }
  return true;
}

function sweepTasks(delivery: Delivery, at: { task: number }): boolean {
  for (const [n, row] of allRows(delivery.ctx.table('tasks'), { from: key(at.task) })) {
    if (isFull(delivery)) return false;
    at.task = Number(n) + 1;
    if (row.status === 'running' || TASK_FINAL.includes(row.status)) continue;
    const ended_by = cancelledBy(delivery);
    moveTask(delivery, Number(n), row, 'cancelled', { failure: 'cancelled', ...present({ ended_by }) });
  }
  return true;
}

function cancelledBy({ state }: Delivery): Actor | undefined {
  return state.cancelled_by ?? undefined;
}
