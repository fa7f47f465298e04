/**
 * Whether this entity takes part: a membership, or the lead of a swarm, comes from itself, from the entities above it, and
 * from the app alone (SOC-80). A membership that stands covers what its group does with it.
 */

import { permits } from '@reprise/kernel/authority';
import { ENTITY, groupAt, l1At, SOCIETY_BOUNDS, SWARM } from '../../contracts/cell/names.js';
import type { EntityState, entityNews } from '../../contracts/entity/entity.js';
import type { News } from '../../contracts/entity-parts.js';
import { type EntityContext, type EntityHandlers, idOf } from '../context/entity.js';
import { mayOperate } from '../rights/may-ask.js';
import { changeRights, compiledOf } from '../rights/rights.js';
import { dropUntold, tellUntold } from './told-groups.js';

export const consentHandlers: EntityHandlers<Pick<typeof entityNews, 'society/Membership@1' | 'society/Lead@1'>> = {
  // A membership, a change of its role, or its end.
  'society/Membership@1': (draft, { group, role, by }, ctx) => {
    const memberships = ctx.table('memberships');
    const isNew = role !== null && memberships.get(group) === undefined;
    if (isNew && !consents(draft, { group, by }, ctx)) ctx.reject('not_authorized');
    if (isNew && memberships.size >= SOCIETY_BOUNDS.memberships) ctx.reject('too_many_memberships');
    if (isNew || role === null) tellGroup(draft, group, isNew, ctx);
    changeRights(draft, ctx, () => {
      if (role === null) memberships.delete(group);
      else memberships.set(group, role);
    });
    if (role === null) return dropUntold(group, ctx);
    tellUntold(group, ctx); // also again, once it is revived and may have missed what it was told
    if (draft.status === 'removed') ctx.send(groupAt(group), { name: 'society/Leave@1', value: { entity: idOf(ctx) } });
  },
  // The lead of a swarm that an entity above creates: its group may admit this entity from now on.
  'society/Lead@1': (draft, { swarm_id, group }, ctx) => {
    if (!mayOperate(draft)) ctx.reject('agent_not_active');
    if (!permits(compiledOf(draft, ctx).exercise, 'group', group)) ctx.reject('capability_denied');
    ctx.table('leads').set(swarm_id, group);
  },
};

/** Tells the hot context of an agent of a group, which hears from there what becomes of the agent while its cell has failed. */
export function tellGroup({ maker }: EntityState, group: string, member: boolean, ctx: EntityContext): void {
  if (maker !== null) ctx.send(l1At(idOf(ctx)), { name: 'society/AgentGroup@1', value: { group, member } });
}

function consents(
  draft: EntityState,
  { group, by }: Omit<News<'society/Membership@1'>, 'role'>,
  ctx: EntityContext,
): boolean {
  if (by === null) return true;
  const [reducer, id] = by;
  if (reducer === ENTITY) return id === idOf(ctx) || draft.lineage.includes(id);
  if (reducer !== SWARM) return false;
  // The swarm made this entity, or was created by it, or is to be led by it. A lead is taken once, and while it acts.
  if (draft.maker !== null && draft.maker[0] === SWARM && draft.maker[1] === id) return true;
  if (ctx.table('swarms').get(id) !== undefined) return true;
  const leads = ctx.table('leads').get(id) === group && mayOperate(draft);
  if (leads) ctx.table('leads').delete(id);
  return leads;
}
