/** What an app asks of the cells of a society, and how it hears of the outcome. */
import type { Address, Ref, Value } from '@reprise/contracts';
import { encode, portableSha256, toHex, type World } from '@reprise/kernel';
import type { TableSchemas } from '@reprise/kernel/define';
import { OrgCell } from '@reprise/org';
import type { EntityState, entityTables } from '../pure/index.js';

export type { By } from '@reprise/org';

/** What a call was answered with. */
export interface Answered {
  readonly call_id: string;
  readonly value: Value;
  readonly refs: readonly { readonly label: string; readonly ref: Ref }[];
  readonly is_error: boolean;
}

/** A cell of a society, as an app asks and reads it. */
export function societyCell<S, T extends TableSchemas>(world: World, cell: Address): OrgCell<S, T> {
  return new OrgCell(world, cell, { part: 'society', of: 'event' });
}

/** The cell of an entity. */
export function entityCell(world: World, cell: Address): OrgCell<EntityState, typeof entityTables> {
  return societyCell(world, cell);
}

/** The id of a call that is made of what makes it one act: the same parts give the same id. */
export function callIdOf(parts: readonly Value[]): string {
  return toHex(portableSha256(encode(parts))).slice(0, 40);
}
