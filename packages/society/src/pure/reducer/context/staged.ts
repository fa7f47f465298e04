/** What agents of this entity brought back and it has not decided on: the table of it, and how it is shown. */

import type { Value } from '@reprise/contracts';
import { IDENTITY_BOUNDS } from '../../contracts/agent/identity.js';
import { agentOfStaging, stagingOfStore, storeOf } from '../../contracts/cell/names.js';
import type { Row } from '../../contracts/entity-parts.js';
import { itemIdOf } from '../../contracts/memory/tools.js';
import type { EntityContext } from './entity.js';

/** The agents whose items wait: their staging stores may be read. */
export function stagedAgents(ctx: EntityContext): readonly string[] {
  const rows = ctx.table('staged').range({ limit: IDENTITY_BOUNDS.staged });
  return [...new Set(rows.map(([key]) => agentOfStaging(key)))];
}

/** What the parent is shown of an item beside its words: the group that it is for, and what that says instead. */
export function aboutStaged(store: string, item: number, ctx: EntityContext): Readonly<Record<string, Value>> {
  const row = rowOfStore(store, ctx);
  const group = row?.groups[item - 1];
  if (row === undefined || group === undefined) return {};
  const conflict = row.conflicts?.find((one) => one.item === item);
  return {
    group,
    ...(conflict === undefined ? {} : { conflicts_with: itemIdOf(storeOf.group(group), conflict.with) }),
  };
}

/** What the parent is shown of a return beside its items. */
export function shownStaging(store: string, ctx: EntityContext): Readonly<Record<string, Value>> {
  const row = rowOfStore(store, ctx);
  return row === undefined ? {} : { divergence: row.divergence, review: reviewOf(row) };
}

/** Whether a parent merges without a review, may, or has to review. */
export function reviewOf({ divergence }: Pick<Row<'staged'>, 'divergence'>): 'usual' | 'forced' {
  return divergence === null || divergence > IDENTITY_BOUNDS.unforced ? 'forced' : 'usual';
}

function rowOfStore(store: string, ctx: EntityContext): Row<'staged'> | undefined {
  const key = stagingOfStore(store);
  return key === undefined ? undefined : ctx.table('staged').get(key);
}
