/** What the coordinator's session tells of its inputs and runs. */
import type { ChildNotice } from '@reprise/agent/contracts';
import type { Delivery } from './delivery.js';
import { wakeEnded } from './wake.js';

/** The session has taken an input, or refused it. What it tells of its runs comes in the order in which it acts. */
export function inputAnswered(delivery: Delivery, isTaken: boolean): void {
  const { coordinator, wake } = delivery.state;
  coordinator.sent--;
  if (isTaken) coordinator.busy = true;
  else if (!coordinator.busy && coordinator.sent === 0 && wake.phase === 'shown') wakeEnded(delivery, false);
}

/** Takes a notice of the coordinator's session. */
export function coordinatorNews(delivery: Delivery, { run, news }: ChildNotice): void {
  const { coordinator, wake } = delivery.state;
  if (news.kind !== 'settled') return;
  coordinator.run = run;
  coordinator.busy = news.more;
  if (wake.phase === 'shown') wakeEnded(delivery, news.stop.kind === 'Completed');
}

/** The session has failed as a cell: the next input makes another one. */
export function coordinatorFailed(delivery: Delivery): void {
  const { coordinator, wake } = delivery.state;
  coordinator.busy = false;
  coordinator.sent = 0;
  coordinator.adopted = null;
  if (wake.phase === 'shown') wakeEnded(delivery, false);
}
