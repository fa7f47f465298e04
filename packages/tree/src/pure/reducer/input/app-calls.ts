/** Calls of an agent's own tools that a cell of the app answers: the tree passes them on, and the answers back. */
import { type OwnerCall, SESSION_REDUCER } from '@reprise/agent/contracts';
import { isPassedTag, type PassedNews, passedFor, passedRefused, passOn } from '@reprise/org/contracts';
import type { NodeRow } from '../../contracts/node.js';
import { answerCall } from '../ask/ask-answers.js';
import type { Delivery } from '../delivery/delivery.js';
import { Refused } from '../delivery/refused.js';
import { refuseWithoutRight } from '../node/rights.js';

/** Passes a call on to the cell of the app, when the node's agent lists the tool. */
export function passToApp(delivery: Delivery, row: NodeRow, call: OwnerCall): void {
  const { state, ctx } = delivery;
  const listed = delivery.ctx.table('agents').get(row.agent)?.calls ?? [];
  if (state.calls === null || !listed.includes(call.name)) throw new Refused('unknown_tool');
  refuseWithoutRight(delivery, row, 'tool', call.name);
  const { session, call_id, step_epoch } = call;
  if (!passOn(ctx, state.calls, call, { session, call_id, step_epoch })) throw new Refused('unknown_tool');
}

/** Passes an answer, or the news that a call waits, back to the session: from the cell of the app only, and once. */
export function passBack(news: PassedNews, ctx: Delivery['ctx']): void {
  const { session } = passedFor(ctx, news);
  ctx.send([SESSION_REDUCER, session], news);
}

/** The cell of the app did not take a call. @returns whether it was one */
export function appRefused({ ctx }: Delivery, tag: string, code: string): boolean {
  if (!isPassedTag(tag)) return false;
  const open = passedRefused(ctx, tag);
  if (open !== undefined) answerCall({ ctx }, open, { value: { code: 'no_owner', because: code }, is_error: true });
  return true;
}
