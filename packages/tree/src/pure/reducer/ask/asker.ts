/** What an asker has of its questions: it goes on when they have an outcome, or when its call has waited long enough. */
import { cancelFor, key, pair } from '@reprise/org/contracts';
import type { NodeRow } from '../../contracts/node.js';
import { asksOf, openAsks, unpassed } from '../delivery/around.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded } from '../delivery/nodes.js';
import { enterLine, waitAgain } from '../node/end-node.js';
import { answerCall, passOn } from './ask-answers.js';
import { answeredBy, closeAsk, defaultOf } from './outcome.js';
import { askOf, changeAsk, deadlineTimer, programTimer } from './rows.js';

/** Ends what a question has under way; called when its node ends, however that comes about. */
export function askEnded(delivery: Delivery, n: number): void {
  const { state, ctx } = delivery;
  const row = askOf(delivery, n);
  const outcome = row.outcome ?? { how: 'cancelled' as const, by: null, picked: null, text_ref: null };
  // A person who answers the item later is told who was first.
  cancelFor(ctx, ctx.table('plans'), row.plan, outcome.by === null ? {} : { actor: outcome.by });
  ctx.clearTimer(deadlineTimer(n));
  ctx.clearTimer(programTimer(n));
  for (const to of row.route) ctx.table('routes').delete(pair(to, n));
  state.asks--;
  changeAsk(delivery, n, { ...row, outcome, plan: null });
  ctx.record('tree/Answered@1', { ask: n, asker: row.asker, ...outcome });
  toAsker(delivery, row.asker);
}

/** Lets an asker go on: its calls are answered when it has a slot, or it runs again with the answers. */
function toAsker(delivery: Delivery, n: number): void {
  const asker = delivery.nodes.change(n);
  if (isEnded(asker)) return;
  const closed = unpassed(delivery, n);
  const isCallOpen = openAsks(delivery, n).some(([, { call }]) => call !== null);
  if (asker.run === 'waiting' && !isCallOpen && closed.some(([, { call }]) => call !== null)) {
    return enterLine(delivery, asker);
  }
  for (const [ask, row] of closed) if (row.call !== null && asker.run !== 'none') passOn(delivery, ask, row, row.call);
  if (asker.run === 'none') goOnWithAnswers(delivery, asker);
}

/** Runs a node again that waits for answers only, once there are no more to come. */
export function goOnWithAnswers(delivery: Delivery, asker: NodeRow): void {
  if (asker.status !== 'waiting_input' || openAsks(delivery, asker.n).length > 0) return;
  asker.status = 'pending';
  asker.answering = false; // its own run reads what it is asked, too
  delivery.changes++;
  enterLine(delivery, asker);
  waitAgain(delivery, asker);
}

/** A run has ended: its calls wait no longer, and outcomes come with the next prompt. */
export function releaseCalls(delivery: Delivery, row: NodeRow): void {
  for (const [n, asked] of asksOf(delivery, row.n)) {
    if (asked.call === null) continue;
    delivery.ctx.clearTimer(programTimer(n));
    changeAsk(delivery, n, { ...asked, call: null });
  }
}

/** Takes a timer of a question. @returns whether it was one */
export function askTimer(delivery: Delivery, name: string): boolean {
  const [what, number] = name.split('.');
  const n = Number(number);
  if (what !== 'ask' && what !== 'program') return false;
  const row = delivery.ctx.table('asks').get(key(n));
  if (row === undefined || row.outcome !== null) return true;
  if (what === 'ask') {
    closeAsk(delivery, n, row.answers.length > 0 ? answeredBy(delivery, row.answers) : defaultOf(row));
  } else if (row.call !== null) {
    const hint = 'End your turn: the answer comes with your next one.';
    answerCall(delivery, row.call, { value: { ask_id: n, status: 'pending', hint } });
    changeAsk(delivery, n, { ...row, call: null });
  }
  return true;
}
