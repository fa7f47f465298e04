/** What the functions of the entity's reducer work on: its tables, its own address, and its kin. */

import type { Address } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { EntityState, entityTables, News } from '../../contracts/index.js';

/** What the recipes of an entity get: its tables have their types. */
export type EntityContext = ReducerContext<typeof entityTables>;

/**
 * What the recipes of an entity and of a swarm have in common: both make agents, and act for those whose cells have
 * failed.
 */
export type MakerContext = ReducerContext<
  Pick<typeof entityTables, 'above' | 'making' | 'failed' | 'holds' | 'agent_sessions'>
>;

export function idOf({ address: [, id] }: Pick<ReducerContext, 'address'>): string {
  return id;
}

export function lineageBelow({ lineage }: Pick<EntityState, 'lineage'>, ctx: EntityContext): EntityState['lineage'] {
  return [idOf(ctx), ...lineage];
}

export function placeBelow(draft: EntityState, ctx: EntityContext) {
  const { depth, app, grace_ms } = draft;
  const lineage = lineageBelow(draft, ctx);
  return { parent_entity_id: idOf(ctx), lineage, depth: depth + 1, app, grace_ms, swarm_group: null };
}

/** Tells the maker of a cell that an agent at or below it was removed. */
export function passRemoved(
  maker: Address,
  removed: News<'society/Removed@1'>,
  ctx: Pick<ReducerContext, 'send'>,
): void {
  ctx.send([maker[0], maker[1]], { name: 'society/Removed@1', value: removed });
}

/** The id of the entity that asks, to answer to it: for events that only entities may send. */
export function askerOf({ caller, reject }: Pick<ReducerContext, 'caller' | 'reject'>): string {
  const [, id] = caller ?? reject('not_yours');
  return id;
}

/** The key of the row that the event's declaration found: for events that only cells with a row may send. */
export function rowKeyOf({ rowKey, reject }: Pick<ReducerContext, 'rowKey' | 'reject'>): string {
  return rowKey ?? reject('not_yours');
}
