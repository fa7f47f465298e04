/** What the functions of the entity's reducer work on: its tables, its own address, and its kin. */

import type { Address } from '@reprise/contracts';
import type { EventHandlers, EventSchemas, ReducerContext } from '@reprise/kernel/define';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { entityTables, Row } from '../../contracts/entity-parts.js';

/** What the recipes of an entity get: its tables have their types. */
export type EntityContext = ReducerContext<typeof entityTables>;

/** What an entity does with some of its events. */
export type EntityHandlers<E extends EventSchemas> = EventHandlers<EntityState, E, typeof entityTables>;

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

/** Tells the maker of this cell something; a person has none. */
export function sendUp(
  maker: Address | null,
  event: { readonly name: string; readonly value: object },
  ctx: Pick<ReducerContext, 'send'>,
): void {
  if (maker !== null) ctx.send(maker, event);
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

const NO_COUNTS: Row<'counts'> = { next: 1, dropped: 0, write: 1 };
const COUNTS = 'counts';

/** The numbers of an entity as a member of groups. */
export function countsOf(ctx: EntityContext): Row<'counts'> {
  return ctx.table('counts').get(COUNTS) ?? NO_COUNTS;
}

export function setCounts(change: Partial<Row<'counts'>>, ctx: EntityContext): void {
  ctx.table('counts').set(COUNTS, { ...countsOf(ctx), ...change });
}
