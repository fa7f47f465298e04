/** What the functions of the entity's reducer work on: its tables, its own address, and its kin. */
import type { Address, Rights } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import {
  type AgentEntry,
  type CallRow,
  type CommandRow,
  ENTITY,
  type RemovedAgent,
  type Role,
  type SessionRow,
} from '../contracts/index.js';

/** A removed agent whose key and hot context are still there. */
export interface ClearingRow {
  readonly key_ref: string | null;
  readonly failures: number;
}

/** The tables that every part of the reducer reads. */
interface Tables {
  readonly commands: Table<CommandRow>;
  readonly rights: Table<Rights>;
  readonly memberships: Table<Role>;
  readonly children: Table<AgentEntry>;
  readonly registering: Table<{ readonly call: string; readonly private_key_encrypted: string | null }>;
  readonly clearing: Table<ClearingRow>;
  readonly calls: Table<CallRow>;
  readonly plans: Table<string>;
  readonly sessions: Table<SessionRow>;
  readonly swarms: Table<null>;
}

/** A table of the entity. */
export function tableOf<K extends keyof Tables>(ctx: ReducerContext, name: K): Tables[K] {
  return ctx.table(name) as unknown as Tables[K];
}

/** The id of the entity of this cell. */
export function idOf({ address: [, id] }: ReducerContext): string {
  return id;
}

/** Tells the maker of a cell that an agent at or below it was removed. */
export function passRemoved(maker: Address, removed: RemovedAgent, ctx: ReducerContext): void {
  ctx.send([maker[0], maker[1]], { name: 'society/Removed@1', value: removed });
}

/** Whether the event comes from a plan of this cell. @returns the number of the plan */
export function planOfSender({ sender, address }: ReducerContext): number | undefined {
  const isOwn = sender?.length === 3 && sender[0] === address[0] && sender[1] === address[1];
  return isOwn ? sender[2] : undefined;
}

/** Whether the event comes from this cell itself. */
export function isSelf({ sender, address }: ReducerContext): boolean {
  return sender?.length === 2 && sender[0] === address[0] && sender[1] === address[1];
}

/** Whether the event comes from the cell that made this one. */
export function isMaker({ sender, parent }: ReducerContext): boolean {
  return sender?.length === 2 && parent !== null && sender[0] === parent[0] && sender[1] === parent[1];
}

/**
 * The entity that sends the event, when it is one above this one. The kernel lets an event of an entity arrive only along
 * kinship, so an entity that this one did not make stands above it.
 */
export function ancestorOfSender(ctx: ReducerContext): string | undefined {
  const { sender } = ctx;
  if (sender?.length !== 2 || sender[0] !== ENTITY || sender[1] === idOf(ctx)) return undefined;
  return tableOf(ctx, 'children').get(sender[1]) === undefined ? sender[1] : undefined;
}

/** The agent of this entity that sends the event. */
export function childOfSender(ctx: ReducerContext): string | undefined {
  const { sender } = ctx;
  if (sender?.length !== 2 || sender[0] !== ENTITY) return undefined;
  return tableOf(ctx, 'children').get(sender[1]) === undefined ? undefined : sender[1];
}
