/** News of statuses: of this entity for its groups, and of its agents for its own inbox. */

import { allRows } from '@reprise/kernel/define';
import { key } from '@reprise/org/contracts';
import type { AgentStatus } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { EntityContext } from '../context/entity.js';
import { tellGroup } from '../group/told-groups.js';
import { notice } from './inbox.js';

/** What of an entity says whether it has rights to send. */
type Speaker = Pick<EntityState, 'expires_at' | 'asking' | 'waits_for_maker'>;

/** A changed status: the groups of the entity hear of it, at once or when it may send again. */
export function statusNews(speaker: Speaker, old: AgentStatus, now: AgentStatus, ctx: EntityContext): void {
  const unsaid = ctx.table('unsaid');
  // Its time has ended, and with it the rights that stand: its maker has not set others yet.
  const { expires_at, asking, waits_for_maker } = speaker;
  const isMute = expires_at !== null && expires_at <= ctx.now && (asking !== null || waits_for_maker);
  if (isMute) return unsaid.set(key(unsaid.size + 1), { old, now });
  sayUnsaid(ctx);
  say(old, now, ctx);
}

/** Tells the groups what they have not heard: the entity may send again. */
export function sayUnsaid(ctx: EntityContext): void {
  const unsaid = ctx.table('unsaid');
  for (const [key, { old, now }] of allRows(unsaid)) {
    say(old, now, ctx);
    unsaid.delete(key);
  }
}

function say(old: AgentStatus, now: AgentStatus, ctx: EntityContext): void {
  for (const [group] of allRows(ctx.table('memberships'))) tellGroup(group, ['status', old, now], ctx);
}

/** A changed status of an agent that this entity made: for its own inbox. */
export function childStatusNews(agent_id: string, old: AgentStatus, now: AgentStatus, ctx: EntityContext): void {
  if (old === now) return;
  const payload = { agent_id, old_status: old, new_status: now };
  notice({ event: 'agent.status_changed', payload, push: true, group: null, agent: agent_id }, ctx);
}
