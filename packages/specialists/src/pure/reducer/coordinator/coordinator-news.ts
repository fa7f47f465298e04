/** What the coordinator's session tells of its inputs and runs. */
import type { ChildNotice, Tally } from '@reprise/agent/contracts';
import { forgetPassed } from '@reprise/org/contracts';
import { coordinatorOf, type ProjectRefusal } from '../../contracts/index.js';
import type { Delivery } from '../project/delivery.js';
import { budgetOf, countUse, hasReachedShare, returnShare } from '../project/spending.js';
import { ADOPTED_TAG, dropAdopting, FIRST_TAG, INPUT_TAG, sendInput } from './coordinator.js';
import { wakeEnded } from './wake.js';

/**
 * The session has taken an input, or has not: then nothing else says so to its sender. What it tells of its runs comes
 * in the order in which it acts. Nobody waits for the run of an input that a failed session did not take.
 */
export function inputAnswered(delivery: Delivery, { tag = '', outcome, code = '' }: Answered): void {
  const { coordinator, wake } = delivery.state;
  coordinator.sent = Math.max(0, coordinator.sent - 1);
  if (outcome === 'accepted') {
    coordinator.taken++;
    return;
  }
  returnShare(delivery, coordinator.shares.pop() ?? 0);
  if (!coordinator.busy && coordinator.sent === 0 && wake.phase === 'shown') wakeEnded(delivery, false);
  const isFirst = tag.startsWith(FIRST_TAG);
  if (isFirst) coordinator.adopted = null; // the definition came with the input
  const command_id = tag.slice(isFirst ? FIRST_TAG.length : INPUT_TAG.length);
  const refusal = refusalOf(code, isFirst);
  delivery.ctx.record('specialists/Commanded@1', { command_id, code: refusal, value: null });
  if (refusal === 'cell_failed') coordinatorFailed(delivery);
}

/** The session has taken a definition, or has not: then it keeps the one before, and the input is refused (SPEC-56). */
export function adoptionAnswered(delivery: Delivery, { tag = '', ...answer }: Answered): void {
  const adopting = delivery.ctx.table('adopting');
  const key = tag.slice(ADOPTED_TAG.length);
  const asked = adopting.get(key);
  if (asked === undefined || !adopting.delete(key)) return;
  const { input, version } = asked;
  if (answer.outcome !== 'accepted')
    return inputAnswered(delivery, { ...answer, tag: `${INPUT_TAG}${input.command_id}` });
  delivery.state.coordinator.adopted = version;
  sendInput(delivery, input);
}

/** Why an input was not taken. A session that is not there after its first event has failed of it. */
function refusalOf(code: string, isFirst: boolean): ProjectRefusal {
  const [, denied] = DENIED.exec(code) ?? [];
  if (denied !== undefined) return denied as 'policy_denied' | 'cap_denied';
  return isFirst || NOT_THERE.includes(code) ? 'cell_failed' : 'input_refused';
}

interface Answered {
  readonly tag?: string;
  readonly outcome: 'accepted' | 'rejected';
  readonly code?: string;
}

/** The codes with which the kernel answers for a session that has failed, or failed as it was made. */
const NOT_THERE: readonly string[] = ['faulted', 'cell_failed', 'cell_absent'];

/** The codes with which the gate refuses an event: no session was asked. */
const DENIED = /^(policy_denied|cap_denied)(?:\/|$)/;

/** A run of the coordinator that used up its share needs another budget. */
function noteLimit(delivery: Delivery, limit: string): void {
  const budget = budgetOf(delivery);
  if (hasReachedShare(budget, limit)) delivery.state.exhausted = true;
}

/** Counts what a run used, and gives back what was set aside for it and for inputs that were dropped. */
function spend(delivery: Delivery, tally: Tally | null, more: boolean, code: string | null): void {
  const { coordinator } = delivery.state;
  const unit = budgetOf(delivery)?.unit ?? 'tokens';
  const [amount] = coordinator.shares.splice(0, 1);
  countUse(delivery, amount === undefined ? null : { unit, amount }, tally, code ?? '');
  if (!more) dropShares(delivery);
}

/** Gives back what was set aside for inputs that no run takes any more. */
export function dropShares(delivery: Delivery): void {
  const { shares, sent } = delivery.state.coordinator;
  const dropped = shares.splice(0, Math.max(0, shares.length - sent));
  returnShare(
    delivery,
    dropped.reduce((sum, one) => sum + one, 0),
  );
}

export function coordinatorNews(delivery: Delivery, { run, news }: ChildNotice): void {
  const { coordinator, wake } = delivery.state;
  if (news.kind === 'running') coordinator.busy = true;
  if (news.kind === 'waiting') coordinator.busy = true; // a report of a run that waits
  if (news.kind !== 'settled' || run <= coordinator.run) return; // a report of a run that is known to have ended
  coordinator.run = run;
  forgetPassed(delivery.ctx, coordinatorOf(delivery.ctx.address[1])[1]);
  coordinator.busy = news.more;
  coordinator.failure = failureOf(news.stop);
  coordinator.taken = Math.max(0, coordinator.taken - 1);
  if (coordinator.failure !== null && !news.more) goOn(delivery);
  if (news.stop.kind === 'LimitsExceeded') noteLimit(delivery, news.stop.limit);
  spend(delivery, news.tally, news.more, coordinator.failure);
  if (wake.phase === 'shown') wakeEnded(delivery, news.stop.kind === 'Completed');
}

type RunEnd = Extract<ChildNotice['news'], { readonly kind: 'settled' }>['stop'];

/** Why a run failed: then a person hears of it, since nothing else goes on with what it was to do (SPEC-43). */
function failureOf(stop: RunEnd): string | null {
  if (stop.kind === 'Failed') return stop.code.slice(0, CODE_MAX);
  return stop.kind === 'LimitsExceeded' ? `limit/${stop.limit}`.slice(0, CODE_MAX) : null;
}

const CODE_MAX = 96;

/** A session keeps what waits behind a run that failed until it is told to go on: each message gets its answer. */
function goOn({ state: { coordinator }, ctx }: Delivery): void {
  if (coordinator.taken === 0) return;
  const value = { command_id: `go-on/${coordinator.run}`, command: { type: 'Resume' } };
  ctx.send(coordinatorOf(ctx.address[1]), { name: 'aos.agent/HostCommand@1', value });
}

/** The session has failed as a cell: the next input makes another one. */
export function coordinatorFailed(delivery: Delivery): void {
  const { coordinator, wake } = delivery.state;
  dropAdopting(delivery, 'cell_failed');
  coordinator.busy = false;
  coordinator.sent = 0;
  coordinator.taken = 0;
  coordinator.adopted = null;
  coordinator.failure = 'cell_failed';
  if (coordinator.shares.length > 0) spend(delivery, null, false, null);
  if (wake.phase === 'shown') wakeEnded(delivery, false);
}
