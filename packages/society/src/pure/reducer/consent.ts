/**
 * Whether this entity takes part: a membership, or the lead of a swarm, comes from itself, from the entities above it, and
 * from the app alone (SOC-80). A membership that stands covers what its group does with it.
 */
import type { Address } from '@reprise/contracts';
import { permits } from '@reprise/kernel/authority';
import type { ReducerContext } from '@reprise/kernel/define';
import { ENTITY, type EntityState, l1At, type Role, SOCIETY_BOUNDS, SWARM } from '../contracts/index.js';
import { idOf, tableOf } from './entity-context.js';
import { mayOperate } from './may-ask.js';
import { changeRights, compiledOf } from './rights.js';

/** A membership that a group tells of. */
interface Told {
  readonly group: string;
  /** The role; null when the entity is no member any more. */
  readonly role: Role | null;
  /** The cell that asked the group for it; null for the app. */
  readonly by: Address | null;
}

/** Takes a membership, a change of its role, or its end. */
export function takeMembership(draft: EntityState, { group, role, by }: Told, ctx: ReducerContext): void {
  const memberships = tableOf(ctx, 'memberships');
  const isNew = role !== null && memberships.get(group) === undefined;
  if (isNew && !consents(draft, { group, by }, ctx)) ctx.reject('not_authorized');
  if (isNew && memberships.size >= SOCIETY_BOUNDS.memberships) ctx.reject('too_many_memberships');
  if (isNew || role === null) tellGroup(draft, group, isNew, ctx);
  changeRights(draft, ctx, () => {
    if (role === null) memberships.delete(group);
    else memberships.set(group, role);
  });
}

/** Tells the hot context of an agent of a group, which hears from there what becomes of the agent while its cell has failed. */
export function tellGroup({ maker }: EntityState, group: string, member: boolean, ctx: ReducerContext): void {
  if (maker !== null) ctx.send(l1At(idOf(ctx)), { name: 'society/AgentGroup@1', value: { group, member } });
}

/** Takes the lead of a swarm that an entity above creates: its group may admit this entity from now on. */
export function takeLead(
  draft: EntityState,
  { swarm_id, group }: { readonly swarm_id: string; readonly group: string },
  ctx: ReducerContext,
): void {
  if (!mayOperate(draft)) ctx.reject('agent_not_active');
  if (!permits(compiledOf(draft, ctx).exercise, 'group', group)) ctx.reject('capability_denied');
  tableOf(ctx, 'leads').set(swarm_id, group);
}

function consents(draft: EntityState, { group, by }: Omit<Told, 'role'>, ctx: ReducerContext): boolean {
  if (by === null) return true;
  const [reducer, id] = by;
  if (reducer === ENTITY) return id === idOf(ctx) || draft.lineage.includes(id);
  return reducer === SWARM && isOwnSwarm(draft, id, group, ctx);
}

/** Whether the swarm made this entity, or was created by it, or is to be led by it. A lead is taken once, and while it acts. */
function isOwnSwarm(draft: EntityState, swarm: string, group: string, ctx: ReducerContext): boolean {
  if (draft.maker !== null && draft.maker[0] === SWARM && draft.maker[1] === swarm) return true;
  if (tableOf(ctx, 'swarms').get(swarm) !== undefined) return true;
  const leads = tableOf(ctx, 'leads').get(swarm) === group && mayOperate(draft);
  if (leads) tableOf(ctx, 'leads').delete(swarm);
  return leads;
}
