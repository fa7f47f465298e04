/** The work of an agent for its swarm: jobs that its entity makes, and the news of which it passes on to the swarm. */

import { beginWork, JOB_ENDED, type JobChanged, type jobEvents, key } from '@reprise/org/contracts';
import { swarmPool } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { News } from '../../contracts/entity-parts.js';
import { SWARM_BOUNDS } from '../../contracts/swarm/tools.js';
import type { EntityContext, EntityHandlers } from '../context/entity.js';
import { compiledOf } from '../rights/rights.js';
import { sessionRights } from '../rights/session.js';
import { tellSession } from '../status/failed-agents.js';
import { setStatus } from '../status/status.js';

/** The kind of the requests of a swarm's jobs. */
export const MEMBER_JOB = 'society.member';

/** The jobs of this agent tell of themselves: the swarm hears it. */
export const workHandlers: EntityHandlers<typeof jobEvents> = { 'work/JobChanged@1': jobNews };

/** The swarm asks this agent to work. */
export function takeWork(draft: EntityState, work: News<'society/Work@1'>, ctx: EntityContext): void {
  if (!draft.started || (draft.status !== 'registered' && draft.status !== 'active')) ctx.reject('agent_not_active');
  if (draft.status === 'registered') setStatus(draft, 'active', { reason: 'operated' }, ctx);
  const { n, ...details } = work;
  const { swarm, slot } = details;
  ctx.table('works').set(key(n), null);
  beginWork(ctx, {
    n,
    kind: MEMBER_JOB,
    request_ref: null,
    details,
    inputs: [],
    model: null,
    pool: swarmPool(swarm),
    priority: 0,
    timeout_ms: SWARM_BOUNDS.task_ms,
    grant: { exercise: sessionRights(compiledOf(draft, ctx).exercise) },
    labels: { swarm, slot },
  });
}

export function jobNews(draft: EntityState, news: JobChanged, ctx: EntityContext): void {
  const { n, status, output_ref = null, value_ref = null, code = null, tally, session } = news;
  const { maker } = draft;
  const hasEnded = JOB_ENDED.includes(status);
  if (hasEnded) ctx.table('works').delete(key(n));
  if (session !== undefined) tellSession(maker, { session, open: !hasEnded }, ctx);
  if (maker === null || !ctx.takes(maker, 'society/Worked@1')) return;
  ctx.send(maker, { name: 'society/Worked@1', value: { n, status, output_ref, value_ref, code, tally } });
}
