/**
 * Calls that an owner passes on to a cell of the app, and the answers that it passes back (OWN-10): each goes back once,
 * from that cell only, and none when its run is over.
 */
import type { OwnerAnswer, OwnerCall, OwnerParked } from '@reprise/agent/contracts';
import type { Address } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';

/** A call that was passed on: what its owner remembers of it, in its table `passed`. */
export interface PassedCall extends Pick<OwnerCall, 'session' | 'call_id' | 'step_epoch'> {}

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
export function passOn(ctx: ReducerContext, to: Address | null, call: OwnerCall, open: PassedCall): boolean {
  if (to === null || !ctx.takes(to, OWNER_CALL)) return false;
  const at = keyOf(call, ctx);
  passedOf(ctx).set(at, open);
  ctx.send(to, { name: OWNER_CALL, value: call }, { reply: 'refusal', tag: tagOf(at), failure: tagOf(at) });
  return true;
}

/**
 * The call that an answer or news is for; an answer ends it. The owner declares the cell of the app as the sender of both
 * events: `from(ownerAnswer, by.cell({ state: 'calls' }))`.
 */
export function passedFor<C extends PassedCall>(ctx: ReducerContext, { name, value }: PassedNews): C {
  const at = keyOf(value, ctx);
  const open = passedOf<C>(ctx).get(at);
  if (open === undefined || open.step_epoch !== value.step_epoch) return ctx.reject('no_call');
  if (name === 'aos.agent/OwnerAnswer@1') forgetCall(ctx, at);
  return open;
}

/** The call that the cell of the app did not take; it is over. Undefined for a tag of something else, and for a call that is over. */
export function passedRefused<C extends PassedCall>(ctx: ReducerContext, tag: string): C | undefined {
  if (!isPassedTag(tag)) return undefined;
  const at = tag.slice(PASSED_TAG.length);
  const open = passedOf<C>(ctx).get(at);
  passedOf(ctx).delete(at);
  return open;
}

/** Whether a tag is that of a call that was passed on. */
export function isPassedTag(tag: string): boolean {
  return tag.startsWith(PASSED_TAG);
}

/** Forgets the calls of a session whose run is over. */
export function forgetPassed(ctx: ReducerContext, session: string | null): void {
  if (session === null) return;
  const passed = passedOf(ctx);
  const at = shortHash(session, ctx);
  const range = { from: `${at} `, before: `${at}!` };
  for (let page = passed.range(range); page.length > 0; page = passed.range(range)) {
    for (const [at] of page) forgetCall(ctx, at);
  }
}

/** The name of a call in the answers of the kernel: that it was refused, or that the cell of the app has failed. */
function tagOf(at: string): string {
  return `${PASSED_TAG}${at}`;
}

function forgetCall(ctx: ReducerContext, at: string): void {
  passedOf(ctx).delete(at);
  ctx.forget(tagOf(at));
}

/** A model may choose long ids of many bytes, and two keys do not fit into one: digests of both name a call. */
function keyOf({ session, call_id }: Pick<OwnerCall, 'session' | 'call_id'>, ctx: ReducerContext): string {
  return `${shortHash(session, ctx)} ${shortHash(call_id, ctx)}`;
}

function shortHash(text: string, ctx: ReducerContext): string {
  return ctx.hash(text).slice(0, 32);
}

function passedOf<C extends PassedCall = PassedCall>(ctx: ReducerContext): Table<C> {
  return ctx.table('passed');
}
