/** The work of an agent for its swarm: jobs that its entity makes, and the news of which it passes on to the swarm. */

import { beginWork, type JobChanged } from '@reprise/org/contracts';
import { isLegal, swarmPool } from '../../contracts/cell/names.js';
import { type EntityState, type News, SWARM_BOUNDS } from '../../contracts/index.js';
import type { EntityContext } from '../context/entity.js';
import { compiledOf } from '../rights/rights.js';
import { sessionRights } from '../rights/session.js';
import { tellSession } from '../status/failed-agents.js';
import { setStatus } from '../status/status.js';
import { endWork, keepWork } from '../status/works.js';

/** The kind of the requests of a swarm's jobs. */
export const MEMBER_JOB = 'society.member';

/** The swarm asks this agent to work. */
export function takeWork(draft: EntityState, work: News<'society/Work@1'>, ctx: EntityContext): void {
  if (!draft.started || (draft.status !== 'registered' && draft.status !== 'active')) ctx.reject('agent_not_active');
  if (draft.status === 'registered') setStatus(draft, 'active', { reason: 'operated' }, ctx);
  const { n, ...details } = work;
  const { swarm, slot } = details;
  keepWork(n, ctx);
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

/** A job of this agent tells of itself: the swarm hears it. */
export function jobNews(draft: EntityState, news: JobChanged, ctx: EntityContext): void {
  const { n, status, output_ref = null, value_ref = null, code = null, tally, session } = news;
  const { maker } = draft;
  if (ENDED.includes(status)) endWork(n, ctx);
  if (session !== undefined) tellSession(maker, { session, open: !ENDED.includes(status) }, ctx);
  if (maker === null || !ctx.takes([maker[0], maker[1]], 'society/Worked@1')) return;
  ctx.send([maker[0], maker[1]], {
    name: 'society/Worked@1',
    value: { n, status, output_ref, value_ref, code, tally },
  });
}

const ENDED: readonly JobChanged['status'][] = ['ok', 'failed', 'cancelled', 'timeout'];

/** The swarm is over: the agent is deactivated, and what it works on ends with that. */
export function swarmOver(draft: EntityState, ctx: EntityContext): void {
  if (isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'swarm_over' }, ctx);
}
