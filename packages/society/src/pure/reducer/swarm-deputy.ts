/** A swarm, as far as it acts for those of its agents whose cells have failed. */
import type { ReducerContext } from '@reprise/kernel/define';
import { entityAt, type SwarmState } from '../contracts/index.js';
import { passRemoved } from './entity-context.js';
import { type Deputy, endFailed, failedAgentOf, tellStatusAbove } from './failed-agents.js';
import { changeMember, swarmTable } from './swarm-context.js';
import { tellWorker } from './swarm-workers.js';

/** The swarm is over: a member whose cell has failed is ended for it. @returns whether it is such a member */
export function endFailedMember(draft: SwarmState, agent_id: string, ctx: ReducerContext): boolean {
  if (failedAgentOf(agent_id, ctx) === undefined) return false;
  endFailed(deputyOf(draft, ctx), { agent_id, reason: 'swarm_over', grace_ms: null }, ctx);
  return true;
}

/** This swarm, as far as it acts for its agents. */
export function deputyOf(draft: SwarmState, ctx: ReducerContext): Deputy {
  return {
    grace_ms: draft.grace_ms,
    changed: (agent_id, to) => {
      const member = swarmTable(ctx, 'agents').get(agent_id) ?? ctx.reject('no_member');
      const changed = changeMember(ctx, member, to);
      const { key_ref } = changed;
      tellWorker(draft, member, changed, ctx);
      tellStatusAbove(agent_id, entityAt(draft.creator), ctx);
      if (to.status === 'removed') passRemoved(entityAt(draft.creator), { agent_id, key_ref }, ctx);
    },
  };
}
