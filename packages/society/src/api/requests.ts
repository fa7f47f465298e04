/** What an app asks of the cells of a society, and how it hears of the outcome. */

import type { AgentWorld } from '@reprise/agent';
import type { Address, Ref, Value } from '@reprise/contracts';
import { encode, portableSha256, toHex, type World } from '@reprise/kernel';
import type { TableSchemas } from '@reprise/kernel/define';
import { OrgCell } from '@reprise/org';
import { ENTITY, type EntityState, type entityTables } from '../pure/index.js';
import type { Proved, TokenIssuer } from './answers.js';

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

/** Adds the token to the answer of `agent_prove`: until the end that the answer states, whenever it is asked for again. */
export async function withToken(
  world: AgentWorld,
  answer: Value,
  tokens?: (world: AgentWorld) => TokenIssuer,
): Promise<Proved> {
  const proved = answer as unknown as Proved;
  const { agent_id, expires_at } = proved;
  const left = expires_at === null ? 0 : Date.parse(expires_at) - world.kernel.now;
  if (tokens === undefined || left <= 0) return proved;
  const token = await tokens(world).issue(`cell:${ENTITY}/${agent_id}`, { for: left });
  return { ...proved, token };
}
