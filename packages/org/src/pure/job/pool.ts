/**
 * The slot of a job: a job without a pool needs none, any other waits in line, has a slot, and gives it back once.
 */
import type { Address } from '@reprise/contracts';
import { by } from '@reprise/kernel/define';
import { QUEUE } from '../flow/index.js';
import type { JobContext, JobState } from './job-state.js';

/** How much longer than its job a slot may be held: then the pool takes it back. */
const LEASE_MS_BEYOND = 600_000;

/** The tag of an entry into the line, whose refusal comes back with it. */
export const LINE_TAG = 'line';

/** The pool of a job: the sender of what its queue tells it. */
export const ownPool = by.cell({ reducer: QUEUE, key: [{ state: 'pool' }] });

/** Puts the job in line. */
export function enterPool(draft: JobState, pool: string, ctx: JobContext): void {
  const { priority, timeout_ms } = draft;
  draft.slot = 'line';
  const item = { item: itemOf(ctx), priority, value: null, lease_ms: timeout_ms + LEASE_MS_BEYOND };
  ctx.send(
    [QUEUE, pool],
    { name: 'flow/Enqueue@1', value: item },
    {
      reply: 'refusal',
      tag: LINE_TAG,
      failure: LINE_TAG,
    },
  );
}

/** Gives back the slot, or leaves the line. */
export function leavePool(draft: JobState, ctx: JobContext): void {
  const { slot, pool } = draft;
  draft.slot = 'none';
  if (slot === 'none' || pool === null) return;
  const to: Address = [QUEUE, pool];
  ctx.send(to, { name: slot === 'held' ? 'flow/Done@1' : 'flow/CancelItem@1', value: { item: itemOf(ctx) } });
}

/** The name of a job in a pool, which jobs of all owners share. */
function itemOf(ctx: JobContext): string {
  return ctx.hash([...ctx.address]);
}
