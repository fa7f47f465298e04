/** News of statuses: of this entity for its groups, and of its agents for its own inbox. */
import type { ReducerContext } from '@reprise/kernel/define';
import { type AgentStatus, GROUP } from '../contracts/index.js';
import { idOf, tableOf } from './entity-context.js';
import { notice } from './inbox.js';

/** A changed status: the groups of the entity hear of it. */
export function statusNews(old: AgentStatus, now: AgentStatus, ctx: ReducerContext): void {
  const payload = { agent_id: idOf(ctx), old_status: old, new_status: now };
  const value = { event: 'agent.status_changed', payload };
  for (const [group] of tableOf(ctx, 'memberships').range())
    ctx.send([GROUP, group], { name: 'society/GroupNews@1', value });
}

/** A changed status of an agent that this entity made: for its own inbox. */
export function childStatusNews(agent_id: string, old: AgentStatus, now: AgentStatus, ctx: ReducerContext): void {
  if (old === now) return;
  const payload = { agent_id, old_status: old, new_status: now };
  notice({ event: 'agent.status_changed', payload, push: true, group: null, agent: agent_id }, ctx);
}
