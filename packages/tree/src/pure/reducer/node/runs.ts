/** The run of a node: its slot, its reserve, and what its session is told. */

import { SESSION_REDUCER, type SessionCommand } from '@reprise/agent/contracts';
import type { InputPart, Ref } from '@reprise/contracts';
import { cancelFor, giveBack as giveBackShare, key } from '@reprise/org/contracts';
import { type NodeRow, WITH_SLOT } from '../../contracts/node.js';
import { sendAnswers } from '../delivery/collected-answers.js';
import type { Delivery } from '../delivery/delivery.js';
import { runsEnded } from '../delivery/drafts.js';

/** Moves the run of a node, and counts the slots. */
export function moveRun(delivery: Delivery, row: NodeRow, to: NodeRow['run']): void {
  delivery.state.running += Number(WITH_SLOT.includes(to)) - Number(WITH_SLOT.includes(row.run));
  const wasNone = row.run === 'none';
  row.run = to;
  if (to === 'none') row.plan = null;
  if (wasNone === (to === 'none')) return;
  if (wasNone) delivery.ctx.table('live').set(key(row.n), null);
  else {
    delivery.ctx.table('live').delete(key(row.n));
    runsEnded(delivery);
  }
}

/** Stops the run of a node that has ended: a live one drains, others are over at once. */
export function stopRun(delivery: Delivery, row: NodeRow): void {
  if (row.run === 'live' || row.run === 'waiting') {
    sendCommand(delivery, row, `stop.${row.launch}`, { type: 'Cancel', scope: 'all' });
    moveRun(delivery, row, 'draining');
  } else if (row.run !== 'none' && row.run !== 'draining') {
    cancelFor(delivery.ctx, delivery.ctx.table('plans'), row.plan);
    delivery.ctx.table('launching').delete(key(row.n));
    giveBack(delivery, row);
    moveRun(delivery, row, 'none');
  }
}

export function giveBack({ state }: Delivery, row: NodeRow): void {
  giveBackShare(state, { amount: row.reserved });
  row.reserved = 0;
}

export function sendCommand(delivery: Delivery, row: NodeRow, id: string, command: SessionCommand): void {
  if (row.session === null) return;
  sendAnswers(delivery); // a cancel must not come before the answer that it follows
  const value = { command_id: id, command };
  delivery.ctx.send([SESSION_REDUCER, row.session], { name: 'aos.agent/HostCommand@1', value });
}

/** Sends a text to the session of a node whose run is under way: its model reads it before its next step. */
export function steer(delivery: Delivery, row: NodeRow, id: string, text_ref: Ref): void {
  const parts: InputPart[] = [{ kind: 'text', text_ref }];
  sendCommand(delivery, row, id, { type: 'Steer', parts });
}
