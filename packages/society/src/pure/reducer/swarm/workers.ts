/** What the creator of a swarm knows of its agents: it lists them like its own (SOC-88). */

import { firstOf, type Refused } from '@reprise/org/contracts';
import { entityAt } from '../../contracts/cell/names.js';
import type { SwarmRow } from '../../contracts/entity-parts.js';
import type { SwarmState } from '../../contracts/swarm/swarm.js';
import { type Deputy, endFailed, failedAgentOf, tellStatusAbove } from '../status/failed-agents.js';
import { changeMember, membersOf, type SwarmContext, slotsOf } from './context.js';

export function workerName({ slot, index }: Pick<SwarmRow<'members'>, 'slot' | 'index'>, ctx: SwarmContext): string {
  return `${slot} ${index} of ${ctx.address[1]}`.slice(0, 120);
}

/** Tells the creator of an agent that has begun, or has changed. */
export function tellWorker(draft: SwarmState, key: string, member: SwarmRow<'members'>, ctx: SwarmContext): void {
  const { agent_id, public_key, key_ref, created_at, status, expires_at, grace_until } = member;
  const agent_type = slotsOf(ctx)[firstOf(key)]?.agent_type;
  if (agent_id === null || agent_type === undefined) return;
  const display_name = workerName(member, ctx);
  const entry = { agent_type, display_name, created_at, public_key, key_ref, status, expires_at, grace_until };
  ctx.send(entityAt(draft.creator), { name: 'society/Worker@1', value: { agent_id, entry } });
}

/** Answers the call that created a swarm, once. @param refused why the swarm has not formed; null when it has */
export function tellCreator(draft: SwarmState, refused: Refused | null, ctx: SwarmContext): void {
  const { call, creator } = draft;
  draft.call = null;
  if (call === null) return;
  const agents = membersOf(ctx).map(([, { slot, index, agent_id }]) => ({ slot, index, agent_id }));
  const formed = { swarm_id: ctx.address[1], group_id: draft.group, status: draft.status, agents };
  const outcome = refused === null ? { code: null, value: formed } : { code: refused.code, value: refused.details };
  ctx.send(entityAt(creator), { name: 'society/SwarmFormed@1', value: { call, ...outcome } });
}

/** The swarm is over: a member whose cell has failed is ended for it. @returns whether it is such a member */
export function endFailedMember(draft: SwarmState, agent_id: string, ctx: SwarmContext): boolean {
  if (failedAgentOf(agent_id, ctx) === undefined) return false;
  endFailed(deputyOf(draft, ctx), { agent_id, reason: 'swarm_over', grace_ms: null }, ctx);
  return true;
}

/** This swarm, as far as it acts for its agents. */
export function deputyOf(draft: SwarmState, ctx: SwarmContext): Deputy {
  return {
    grace_ms: draft.grace_ms,
    changed: (agent_id, to) => {
      const member = ctx.table('agents').get(agent_id) ?? ctx.reject('no_member');
      const changed = changeMember(ctx, member, to);
      const { key_ref } = changed;
      tellWorker(draft, member, changed, ctx);
      tellStatusAbove(agent_id, entityAt(draft.creator), ctx);
      if (to.status === 'removed')
        ctx.send(entityAt(draft.creator), { name: 'society/Removed@1', value: { agent_id, key_ref } });
    },
  };
}
