/** Whether an entity has a part in a store at all, and whether it may act now: what is asked before the gate is. */

import { groupOfStore, stagingOfStore, storeOf } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { type EntityContext, idOf } from '../context/entity.js';

/**
 * Whether it makes sense to ask the gate. The gate judges what an agent reaches; above a person nothing narrows, so a
 * person's own stores and groups are what it reaches.
 */
export function mayAsk({ kind }: Pick<EntityState, 'kind'>, store: string, ctx: EntityContext): boolean {
  if (kind !== 'person') return true;
  const id = idOf(ctx);
  if (store === storeOf.notes(id) || store === storeOf.private(id) || store === storeOf.public) return true;
  const group = groupOfStore(store);
  if (group !== undefined) return ctx.table('memberships').get(group) !== undefined;
  const staging = stagingOfStore(store);
  return staging !== undefined && ctx.table('staged').get(staging) !== undefined;
}

/** Whether the entity may act now. */
export function mayOperate({ kind, status, started, declared, parent_active }: EntityState): boolean {
  if (kind === 'person') return true;
  if (!started || (status !== 'registered' && status !== 'active')) return false;
  return parent_active || declared.autonomous === true;
}
