/** The work of an agent for its swarm: jobs that its entity makes, and the news of which it passes on to the swarm. */
import type { ReducerContext } from '@reprise/kernel/define';
import { beginWork, type JobChanged } from '@reprise/work/contracts';
import { type EntityState, type MemberWork, SWARM_BOUNDS } from '../contracts/index.js';
import { compiledOf } from './rights.js';
import { sessionRights } from './session-rights.js';
import { isLegal, setStatus } from './status.js';
import { poolOf } from './swarm-names.js';
import { endWork, keepWork } from './works.js';

/** The kind of the requests of a swarm's jobs. */
export const MEMBER_JOB = 'society.member';

/** The swarm asks this agent to work. */
export function takeWork(draft: EntityState, work: MemberWork, ctx: ReducerContext): void {
  if (!draft.started || (draft.status !== 'registered' && draft.status !== 'active')) ctx.reject('agent_not_active');
  if (draft.status === 'registered') setStatus(draft, 'active', { reason: 'operated' }, ctx);
  const { n, goal_ref, swarm, slot, index, role, strategy, agent } = work;
  keepWork(n, ctx);
  beginWork(ctx, {
    n,
    kind: MEMBER_JOB,
    request_ref: null,
    details: { swarm, slot, index, role, strategy, agent, goal_ref, ...optionalOf(work) },
    inputs: [],
    model: null,
    pool: poolOf(swarm),
    priority: 0,
    timeout_ms: SWARM_BOUNDS.task_ms,
    grant: { exercise: sessionRights(compiledOf(draft, ctx).exercise) },
    labels: { swarm, slot },
  });
}

function optionalOf({ task_ref, input, budget }: MemberWork) {
  return {
    ...(task_ref === null ? {} : { task_ref }),
    ...(input === null ? {} : { input }),
    ...(budget === null ? {} : { budget }),
  };
}

/** A job of this agent tells of itself: the swarm hears it. */
export function jobNews(draft: EntityState, news: JobChanged, ctx: ReducerContext): void {
  const { n, status, output_ref = null, value_ref = null, code = null, tally } = news;
  if (ENDED.includes(status)) endWork(n, ctx);
  const { maker } = draft;
  if (maker === null || !ctx.takes([maker[0], maker[1]], 'society/Worked@1')) return;
  ctx.send([maker[0], maker[1]], {
    name: 'society/Worked@1',
    value: { n, status, output_ref, value_ref, code, tally },
  });
}

const ENDED: readonly JobChanged['status'][] = ['ok', 'failed', 'cancelled', 'timeout'];

/** The swarm is over: the agent is deactivated, and what it works on ends with that. */
export function swarmOver(draft: EntityState, ctx: ReducerContext): void {
  if (isLegal(draft.status, 'deactivated')) setStatus(draft, 'deactivated', { reason: 'swarm_over' }, ctx);
}
