/**
 * Owner calls of the session go up to the owner of the job, and the answers down, each in the frame in which it arrives.
 */
import {
  type OwnerAnswer,
  type OwnerCall,
  type OwnerParked,
  refusalOfOwner,
  SESSION_REDUCER,
} from '@reprise/agent/contracts';
import { isLive } from './job-session.js';
import type { JobContext, JobState } from './job-state.js';

const CALL = 'aos.agent/OwnerCall@1';

/** Begins the tag of a call that was passed up. */
export const CALL_TAG = 'call.';

/** Passes a call up. Its session learns of a refusal, so no call stays open. */
export function passUp(draft: JobState, call: OwnerCall, ctx: JobContext): void {
  const { owner } = draft;
  if (!isLive(draft, call.session)) ctx.reject('job_ended');
  if (owner === null || !ctx.takes(owner, CALL)) return ctx.reject('no_owner');
  const tag = tagOf(draft, call);
  ctx.send(owner, { name: CALL, value: call }, { reply: 'refusal', tag, failure: tag });
}

/** Passes an answer down, or that the owner waits. @returns whether the session of this attempt is still there for it */
export function passDown(
  draft: JobState,
  event: { readonly name: string; readonly value: OwnerAnswer | OwnerParked },
  ctx: JobContext,
): boolean {
  const { session } = event.value;
  if (!isLive(draft, session)) return false;
  if (event.name === 'aos.agent/OwnerAnswer@1') ctx.forget(tagOf(draft, event.value));
  ctx.send([SESSION_REDUCER, session], event);
  return true;
}

/** The owner takes no such call: the model is told so. */
export function callRefused(draft: JobState, tag: string, code: string, ctx: JobContext): void {
  const [attempt = '', step = '', ...id] = tag.slice(CALL_TAG.length).split('.');
  const { session } = draft;
  if (session === null || Number(attempt) !== draft.attempt || !isLive(draft, session)) return;
  const value = { code: refusalOfOwner(code) };
  const answer = { session, call_id: id.join('.'), step_epoch: Number(step), value, refs: [], is_error: true };
  ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/OwnerAnswer@1', value: answer });
}

/** The name of a call in the answers of the kernel: that it was refused, or that the owner has failed. */
function tagOf({ attempt }: JobState, { step_epoch, call_id }: Pick<OwnerCall, 'step_epoch' | 'call_id'>): string {
  return `${CALL_TAG}${attempt}.${step_epoch}.${call_id}`;
}
