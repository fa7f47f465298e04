/** What waited until the team and its skills were read: it is taken up in the order in which it came. */
import type { Value } from '@reprise/contracts';
import { refusalBy } from '@reprise/org/contracts';
import { INPUT_PRIORITY, type InboxRow, type TaskToMake } from '../contracts/index.js';
import { planAfterReading, retryAfterReading } from './call/calls.js';
import { tellCoordinator } from './coordinator/coordinator.js';
import type { Delivery } from './project/delivery.js';
import { retryTask } from './task/people.js';
import { writePlan } from './task/plan.js';

/** Takes an entry of the inbox, and of a plan its tasks. */
export function takeFromInbox(delivery: Delivery, row: InboxRow, tasks: readonly TaskToMake[]): void {
  switch (row.kind) {
    case 'say': {
      const { command_id, parts, priority = INPUT_PRIORITY.people } = row.value;
      return tellCoordinator(delivery, { command_id, parts, priority });
    }
    case 'plan':
      return stating(delivery, row, () => ({ task_ids: writePlan(delivery, tasks, null).task_ids }));
    case 'retry':
      return stating(delivery, row.value, () => ({ status: retryTask(delivery, row.value.task, row.value) }));
    case 'plan_call':
      return planAfterReading(delivery, row.call, tasks);
    case 'retry_call':
      return retryAfterReading(delivery, row.call, row.args);
    default:
      return undefined;
  }
}

/** Does what a command that waited asks for, and states the outcome. */
function stating({ ctx }: Delivery, { command_id }: { readonly command_id: string }, run: () => Value): void {
  const refused = refusalBy(() => {
    ctx.record('specialists/Commanded@1', { command_id, code: null, value: run() });
  });
  if (refused === undefined) return;
  ctx.record('specialists/Commanded@1', { command_id, code: refused.code, value: { ...refused.details } });
}
