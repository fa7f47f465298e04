/** What the coordinator's session tells of its inputs and runs. */
import type { ChildNotice, Tally } from '@reprise/agent/contracts';
import type { Delivery } from './delivery.js';
import { budgetOf, countUse, giveBack } from './spending.js';
import { wakeEnded } from './wake.js';

/** The session has taken an input, or refused it. What it tells of its runs comes in the order in which it acts. */
export function inputAnswered(delivery: Delivery, isTaken: boolean): void {
  const { coordinator, wake } = delivery.state;
  coordinator.sent--;
  if (!isTaken) giveBack(delivery, coordinator.shares.pop() ?? 0);
  if (isTaken) coordinator.busy = true;
  else if (!coordinator.busy && coordinator.sent === 0 && wake.phase === 'shown') wakeEnded(delivery, false);
}

/** Counts what a run used, and gives back what was set aside for it and for inputs that were dropped. */
function spend(delivery: Delivery, tally: Tally | null, more: boolean): void {
  const { coordinator } = delivery.state;
  const unit = budgetOf(delivery)?.unit ?? 'tokens';
  const [amount] = coordinator.shares.splice(0, 1);
  countUse(delivery, amount === undefined ? null : { unit, amount }, tally);
  if (more) return;
  const dropped = coordinator.shares.splice(0, Math.max(0, coordinator.shares.length - coordinator.sent));
  giveBack(
    delivery,
    dropped.reduce((sum, one) => sum + one, 0),
  );
}

/** Takes a notice of the coordinator's session. */
export function coordinatorNews(delivery: Delivery, { run, news }: ChildNotice): void {
  const { coordinator, wake } = delivery.state;
  if (news.kind !== 'settled') return;
  coordinator.run = run;
  coordinator.busy = news.more;
  spend(delivery, news.tally, news.more);
  if (wake.phase === 'shown') wakeEnded(delivery, news.stop.kind === 'Completed');
}

/** The session has failed as a cell: the next input makes another one. */
export function coordinatorFailed(delivery: Delivery): void {
  const { coordinator, wake } = delivery.state;
  coordinator.busy = false;
  coordinator.sent = 0;
  coordinator.adopted = null;
  if (coordinator.shares.length > 0) spend(delivery, null, false);
  if (wake.phase === 'shown') wakeEnded(delivery, false);
}
