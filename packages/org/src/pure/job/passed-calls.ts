/**
 * Calls that an owner passes on to a cell of the app, and the answers that it passes back (OWN-10): each goes back once,
 * from that cell only, and none when its run is over.
 */
import type { OwnerAnswer, OwnerCall, OwnerParked } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import { allRows, type ReducerContext, type Table } from '@reprise/kernel/define';
import type { CallPlace } from '../kit/calls.js';

/** The context of a reducer that passes calls on: in its table `passed` it remembers them. */
interface Passing<C extends CallPlace> extends Pick<ReducerContext, 'send' | 'takes' | 'hash' | 'forget' | 'reject'> {
  table(name: 'passed'): Table<C>;
}

/** An answer, or the news that a call waits. */
export interface PassedNews {
  readonly name: 'aos.agent/OwnerAnswer@1' | 'aos.agent/OwnerParked@1';
  readonly value: OwnerAnswer | OwnerParked;
}

/** Begins the tag of a call that was passed on, whose refusal comes back with it. */
const PASSED_TAG = 'call.';

const OWNER_CALL = 'aos.agent/OwnerCall@1';

/**
 * Passes a call on to a cell of the app.
 *
 * @param open what the owner remembers until the answer comes
 * @returns whether there is such a cell, and it takes calls
 */
export function passOn<C extends CallPlace>(ctx: Passing<C>, to: Address | null, call: OwnerCall, open: C): boolean {
  if (to === null || !ctx.takes(to, OWNER_CALL)) return false;
  const at = keyOf(call, ctx);
  ctx.table('passed').set(at, open);
  ctx.send(to, { name: OWNER_CALL, value: call }, { reply: 'refusal', tag: tagOf(at), failure: tagOf(at) });
  return true;
}

/**
 * The call that an answer or news is for; an answer ends it. The owner declares the cell of the app as the sender of both
 * events: `from(ownerAnswer, by.cell({ state: 'calls' }))`.
 */
export function passedFor<C extends CallPlace>(ctx: Passing<C>, { name, value }: PassedNews): C {
  const at = keyOf(value, ctx);
  const open = ctx.table('passed').get(at);
  if (open === undefined || open.step_epoch !== value.step_epoch) return ctx.reject('no_call');
  if (name === 'aos.agent/OwnerAnswer@1') forgetCall(ctx, at);
  return open;
}

/** The call that the cell of the app did not take; it is over. Undefined for a tag of something else, and for a call that is over. */
export function passedRefused<C extends CallPlace>(ctx: Passing<C>, tag: string): C | undefined {
  if (!isPassedTag(tag)) return undefined;
  const at = tag.slice(PASSED_TAG.length);
  const open = ctx.table('passed').get(at);
  ctx.table('passed').delete(at);
  return open;
}

/** Whether a tag is that of a call that was passed on. */
export function isPassedTag(tag: string): boolean {
  return tag.startsWith(PASSED_TAG);
}

/** Forgets the calls of a session whose run is over. */
export function forgetPassed<C extends CallPlace>(ctx: Passing<C>, session: string | null): void {
  if (session === null) return;
  const of = shortHash(session, ctx);
  const range = { from: `${of} `, before: `${of}!` };
  for (const [at] of allRows(ctx.table('passed'), range)) forgetCall(ctx, at);
}

/** The name of a call in the answers of the kernel: that it was refused, or that the cell of the app has failed. */
function tagOf(at: string): string {
  return `${PASSED_TAG}${at}`;
}

function forgetCall<C extends CallPlace>(ctx: Passing<C>, at: string): void {
  ctx.table('passed').delete(at);
  ctx.forget(tagOf(at));
}

/** A model may choose long ids of many bytes, and two keys do not fit into one: digests of both name a call. */
function keyOf(
  { session, call_id }: Pick<OwnerCall, 'session' | 'call_id'>,
  ctx: Pick<ReducerContext, 'hash'>,
): string {
  return `${shortHash(session, ctx)} ${shortHash(call_id, ctx)}`;
}

function shortHash(text: string, ctx: Pick<ReducerContext, 'hash'>): string {
  return ctx.hash(text).slice(0, 32);
}
