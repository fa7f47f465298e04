/**
 * How a job stands still for its owner: nothing that runs is cancelled, and nothing begins. A job in the line of its pool
 * keeps its slot when it gets one; one that is being prepared is prepared again when it goes on; a session is paused.
 */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { hasEnded } from './job-ends.js';
import { granted, prepare } from './job-session.js';
import type { JobContext, JobState } from './job-state.js';

export function isPaused(ctx: JobContext): boolean {
  return ctx.table('paused').size > 0;
}

export function pauseJob(draft: JobState, ctx: JobContext): void {
  if (hasEnded(draft) || isPaused(ctx)) return;
  ctx.table('paused').set(PAUSED, null);
  commandSession(draft, 'Pause', ctx);
}

/** Lets the job go on where it stood still. */
export function resumeJob(draft: JobState, ctx: JobContext): void {
  if (!ctx.table('paused').delete(PAUSED) || hasEnded(draft)) return;
  if (draft.status === 'queued') {
    if (draft.slot === 'held') granted(draft, ctx);
  } else if (draft.status !== 'preparing') commandSession(draft, 'Resume', ctx);
  else if (draft.plan === null && draft.stopping === null) {
    draft.attempt--; // this attempt was prepared, and has not begun
    prepare(draft, ctx);
  }
}

function commandSession({ status, session }: JobState, type: 'Pause' | 'Resume', ctx: JobContext): void {
  if (session === null || (status !== 'running' && status !== 'waiting')) return;
  const value = { command_id: ctx.id(type), command: { type } };
  ctx.send([SESSION_REDUCER, session], { name: 'aos.agent/HostCommand@1', value });
}

const PAUSED = 'job';
