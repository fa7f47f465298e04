/**
 * A project goes on after its own cell has failed and was revived: what it waited for may have come meanwhile, or never
 * comes, since its plans are gone.
 */
import { allRows } from '@reprise/kernel/define';
import { reportWork } from '@reprise/org/contracts';
import { coordinatorOf } from '../contracts/index.js';
import { adoptAgain, dropAdopting } from './coordinator/coordinator.js';
import { coordinatorFailed, dropShares } from './coordinator/coordinator-news.js';
import { wakeAgain, wakeEnded } from './coordinator/wake.js';
import type { Delivery } from './project/delivery.js';
import { readAgain } from './project/team.js';

/** The tag of the question how the coordinator stands, whose answer comes after what the session tells. */
export const STANDING_TAG = 'standing';

/** Asks its jobs and its coordinator how they stand, and begins anew what its plans did. */
export function revived(delivery: Delivery): void {
  const { ctx } = delivery;
  const plans = delivery.ctx.table('plans');
  for (let first = plans.first(); first !== undefined; first = plans.first()) plans.delete(first[0]);
  readAgain(delivery);
  wakeAgain(delivery);
  for (const [n] of allRows(delivery.ctx.table('jobs'))) reportWork(ctx, Number(n));
  askCoordinator(delivery);
}

/** The session counts as asked, as for an input, so that nothing is decided before it has answered. */
function askCoordinator(delivery: Delivery): void {
  const { ctx } = delivery;
  const { coordinator } = delivery.state;
  coordinator.busy = false;
  coordinator.sent = 0;
  if (coordinator.adopted === null) return dropAdopting(delivery, 'cell_failed');
  coordinator.sent = 1;
  const answer = { reply: true, tag: STANDING_TAG } as const;
  ctx.send(coordinatorOf(ctx.address[1]), { name: 'aos.agent/Report@1', value: {} }, answer);
}

/**
 * The session has told how it stands: without a run, nothing of it is under way. The definitions that it has not answered by
 * now are sent again, and their inputs come then.
 */
export function coordinatorStands(delivery: Delivery, isThere: boolean): void {
  const { coordinator, wake } = delivery.state;
  if (!isThere) return coordinatorFailed(delivery);
  const adopting = delivery.ctx.table('adopting');
  coordinator.sent = adopting.size;
  const isToBeShown = [...allRows(adopting)].some(([, { input }]) => input.cause.kind === 'app');
  adoptAgain(delivery);
  if (coordinator.busy) return;
  coordinator.taken = 0;
  dropShares(delivery);
  if (wake.phase === 'shown' && !isToBeShown) wakeEnded(delivery, false);
}
