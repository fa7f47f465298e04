/** What the functions of the entity's reducer work on: its tables, its own address, and its kin. */
import type { Address, Rights } from '@reprise/contracts';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import type {
  AgentEntry,
  CallRow,
  CommandRow,
  EntityState,
  RemovedAgent,
  Role,
  SessionRow,
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

/** The entities above the agents of this entity. */
export function lineageBelow({ lineage }: Pick<EntityState, 'lineage'>, ctx: ReducerContext): EntityState['lineage'] {
  return [idOf(ctx), ...lineage];
}

/** Tells the maker of a cell that an agent at or below it was removed. */
export function passRemoved(maker: Address, removed: RemovedAgent, ctx: ReducerContext): void {
  ctx.send([maker[0], maker[1]], { name: 'society/Removed@1', value: removed });
}
