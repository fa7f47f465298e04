/** Calls of an agent's own tools that a cell of the app answers: the tree passes them on, and the answers back. */
import { type OwnerAnswer, type OwnerCall, type OwnerParked, SESSION_REDUCER } from '@reprise/agent/contracts';
import type { Table } from '@reprise/kernel/define';
import type { CallPlace, NodeRow } from '../contracts/node.js';
import type { TreeState } from '../contracts/tree.js';
import { answerCall } from './ask-answers.js';
import { type Delivery, tableOf } from './delivery.js';
import { Refused } from './refused.js';
import { refuseWithoutRight } from './rights.js';

/** Begins the tag of a call that was passed on, whose refusal comes back with it. */
const PASSED_TAG = 'call.';

const OWNER_CALL = 'aos.agent/OwnerCall@1';

/** Passes a call on to the cell of the app, when the node's agent lists the tool. */
export function passToApp(delivery: Delivery, row: NodeRow, call: OwnerCall): void {
  const { state, ctx } = delivery;
  const listed = tableOf(delivery, 'agents').get(row.agent)?.calls ?? [];
  if (state.calls === null || !listed.includes(call.name)) throw new Refused('unknown_tool');
  refuseWithoutRight(delivery, row, 'tool', call.name);
  if (!ctx.takes(state.calls, OWNER_CALL)) throw new Refused('unknown_tool');
  const at = keyOf(call, ctx);
  const { session, call_id, step_epoch } = call;
  passedOf(ctx).set(at, { session, call_id, step_epoch });
  ctx.send(state.calls, { name: OWNER_CALL, value: call }, { reply: 'refusal', tag: `${PASSED_TAG}${at}` });
}

/** Passes an answer, or the news that a call waits, back to the session: from the cell of the app only, and once. */
export function passBack(
  { calls }: TreeState,
  event: { readonly name: string; readonly value: OwnerAnswer | OwnerParked },
  ctx: Delivery['ctx'],
): void {
  const { sender } = ctx;
  if (calls === null || sender === null || sender[0] !== calls[0] || sender[1] !== calls[1])
    ctx.reject('not_the_owner');
  const at = keyOf(event.value, ctx);
  const open = passedOf(ctx).get(at);
  if (open === undefined || open.step_epoch !== event.value.step_epoch) ctx.reject('no_call');
  if (event.name === 'aos.agent/OwnerAnswer@1') passedOf(ctx).delete(at);
  ctx.send([SESSION_REDUCER, event.value.session], event);
}

/** The cell of the app did not take a call. @returns whether it was one */
export function appRefused({ ctx }: Delivery, tag: string, code: string): boolean {
  if (!tag.startsWith(PASSED_TAG)) return false;
  const at = tag.slice(PASSED_TAG.length);
  const open = passedOf(ctx).get(at);
  if (open === undefined) return true;
  passedOf(ctx).delete(at);
  answerCall({ ctx }, open, { code: 'no_owner', because: code }, { isError: true });
  return true;
}

/** Forgets the calls of a session whose run is over. */
export function forgetPassed({ ctx }: Delivery, session: string | null): void {
  if (session === null) return;
  const passed = passedOf(ctx);
  const range = { from: `${session} `, before: `${session}!` };
  for (let page = passed.range(range); page.length > 0; page = passed.range(range)) {
    for (const [at] of page) passed.delete(at);
  }
}

/** A model may choose long ids of many bytes, and a key is bounded: so it names a call by the digest of its id. */
function keyOf({ session, call_id }: Pick<CallPlace, 'session' | 'call_id'>, ctx: Delivery['ctx']): string {
  return `${session} ${ctx.hash(call_id).slice(0, 32)}`;
}

function passedOf(ctx: Delivery['ctx']): Table<CallPlace> {
  return ctx.table('passed');
}
