/**
 * Compiles declared capabilities into capabilities of the kernel: what an entity may use, and what it may hand on.
 *
 * Invariants
 * R1  Every dimension of {@link COMPILED} is named: what is not named is not narrowed.
 * R2  The exercise side names exact stores, by the row of the matrix, declared capabilities and memberships. The grant side
 *     names the stores of all entities that may be below, since each of those has stores of its own.
 * R3  Nothing is decided here: the kernel meets each capability with those above it at every check.
 * R4  The row of the store of a group is that of the lower of two tiers: by the parent, not below the promised floor, and by
 *     the group's owner.
 */

import { type Capability, type Patterns, present } from '@reprise/contracts';
import { canonical, matchesAny, meet } from '@reprise/kernel/authority';
import type { Capabilities, CapabilityChange, MemoryScope } from '../contracts/agent/capability.js';
import { type Role, storeOf, type Tier } from '../contracts/cell/names.js';
import type { EntityState } from '../contracts/entity/entity.js';
import { MATRIX, type StorePattern, tierThere, tierUsed } from './matrix.js';

/** The dimensions of compiled capabilities. `send` is left to the kernel. */
export const COMPILED = ['effect', 'group', 'mem_read', 'mem_write', 'tool', 'unwatched'] as const;

/** The effects of agents' sessions, of jobs and of societies. */
export const ENTITY_EFFECTS: Patterns = [
  'human.*',
  'identity.*',
  'llm.*',
  'memory.*',
  'society.*',
  'specialists.*',
  'tool.*',
  'toolset.*',
  'tree.*',
  'work.*',
];

/** A membership: in which group, and as what. */
export interface Membership {
  readonly group: string;
  readonly role: Role;
  /** The tier that the verdicts of the group's owner give; absent where it has judged nothing. */
  readonly tier?: Tier | undefined;
}

/** What rights are compiled from: what the state of the entity says or will say, its memberships, and what is above it. */
export interface RightsSource extends Readonly<Stated> {
  readonly agent_id: string;
  readonly memberships: readonly Membership[];
  /** Agents whose returned items it reviews. */
  readonly reviews?: readonly string[] | undefined;
  /** What the entities above may hand on, as far as they are known: both sides are met with it. */
  readonly within?: Capability | undefined;
}

type Stated = Pick<EntityState, 'kind' | 'declared' | 'tier' | 'trust_floor' | 'bonus_groups' | 'status'> &
  Pick<EntityState, 'parent_entity_id'> &
  Partial<Pick<EntityState, 'granted' | 'expires_at' | 'swarm_group'>>;

/** Both sides of an entity's authority. */
export interface CompiledRights {
  readonly exercise: Capability;
  readonly grant: Capability;
}

/** The rights of an entity that may not act: what is open below it ends. */
export const NO_RIGHTS: Capability = {
  may: Object.fromEntries(COMPILED.map((dimension) => [dimension, []])),
};

/**
 * Compiles what an entity may use and hand on.
 *
 * @returns both sides in the kernel's canonical form, where a dimension that is narrowed to everything is left out
 */
export function compileRights(of: RightsSource): CompiledRights {
  if (of.status === 'deactivated' || of.status === 'removed') return { exercise: NO_RIGHTS, grant: NO_RIGHTS };
  const { declared } = of;
  const granted = of.granted ?? declared;
  // A promise of groups counts in the highest tier.
  const hasBonus = of.kind !== 'person' && tierUsed(of.trust_floor, of.tier) === 'high';
  const exercise = sideOf(of, declared, storesOf(of), hasBonus ? of.bonus_groups : []);
  const grant = sideOf(of, granted, storesBelow(granted), []);
  if (of.within === undefined) return { exercise, grant };
  return { exercise: meet(exercise, of.within), grant: meet(grant, of.within) };
}

/**
 * Compiles what a change of declared capabilities leaves an entity at most, on both sides and whatever else is declared: what
 * a cell above can hold it to when its own cell cannot be asked. A dimension that the change leaves out, or gives back to the
 * parent, is not narrowed. Groups are narrowed by both scopes together.
 *
 * @param at the time of the change in milliseconds, from which `ttl_seconds` counts
 */
export function compileBound(change: CapabilityChange, at: number): Capability {
  const { memory_read, memory_write, tools, max_parallel_ops, ttl_seconds, autonomous } = change;
  const read = memory_read == null ? {} : { memory_read };
  const write = memory_write == null ? {} : { memory_write };
  const stores = storesBelow({ ...read, ...write });
  return canonical({
    may: {
      ...(memory_read == null ? {} : { mem_read: stores.read }),
      ...(memory_write == null ? {} : { mem_write: stores.write }),
      ...(memory_read == null || memory_write == null ? {} : { group: groupsOf({ ...read, ...write }) }),
      ...(tools == null ? {} : { tool: tools }),
      ...(autonomous === false ? { unwatched: [] } : {}),
    },
    ...(ttl_seconds == null || ttl_seconds === 0 ? {} : { expires_at: at + ttl_seconds * 1_000 }),
    ...(max_parallel_ops == null ? {} : { max_parallel: max_parallel_ops }),
  });
}

function sideOf(of: RightsSource, wire: Capabilities, stores: Stores, bonus: readonly string[]): Capability {
  const { max_parallel_ops: parallel, autonomous } = wire;
  return canonical({
    may: {
      effect: ENTITY_EFFECTS,
      group: [...groupsOf(wire), ...bonus],
      mem_read: stores.read,
      mem_write: stores.write,
      tool: wire.tools ?? ALL,
      unwatched: autonomous === false ? [] : ALL,
    },
    ...present({ expires_at: of.expires_at ?? undefined, max_parallel: parallel }),
  });
}

/** The groups that it may join, read or write: those of both scopes. */
function groupsOf({ memory_read: read, memory_write: write }: Capabilities): readonly string[] {
  return [...(read?.groups ?? ALL), ...(write?.groups ?? ALL)];
}

/** What an absent list of patterns stands for. */
const ALL: readonly string[] = ['*'];

interface Stores {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** The stores that an entity uses itself. */
function storesOf(of: RightsSource): Stores {
  const row = MATRIX[of.kind][tierUsed(of.trust_floor, of.tier)];
  const { memory_read: read, memory_write: write } = of.declared;
  const returned = [of.agent_id, ...(of.reviews ?? [])].map((agent) => `staging:${agent}.*`);
  return {
    read: [...row.read.flatMap((store) => expanded(store, of, read)), ...groupsIn(of, 'read'), ...returned],
    write: [...row.write.flatMap((store) => expanded(store, of, write)), ...groupsIn(of, 'write')],
  };
}

/** The stores of groups that an entity reaches, each by the row of the tier that counts there (R4). */
function groupsIn(of: RightsSource, side: 'read' | 'write'): string[] {
  const { memory_read, memory_write } = of.declared;
  const scope = side === 'read' ? memory_read : memory_write;
  if (!has(scope, 'l2') || !sees(scope, 'group')) return [];
  const patterns = scope?.groups ?? ALL;
  return of.memberships
    .filter(({ group, role, tier }) => {
      const row = MATRIX[of.kind][tierThere(tierUsed(of.trust_floor, of.tier), tier)][side];
      return (side === 'read' || role !== 'viewer') && row.some((store) => isMeant(store, group, of, patterns));
    })
    .map(({ group }) => storeOf.group(group));
}

/** The store that a pattern of the matrix means for an entity, within the declared scope; groups are found by membership. */
function expanded(store: StorePattern, of: RightsSource, scope: MemoryScope | undefined): string[] {
  if (store === 'l1-notes:<self>') return has(scope, 'l1') ? [storeOf.notes(of.agent_id)] : [];
  if (!has(scope, 'l2')) return [];
  if (store === 'public') return sees(scope, 'public') ? [storeOf.public] : [];
  if (store === 'private:<self>') return sees(scope, 'private') ? [storeOf.private(of.agent_id)] : [];
  if (store === 'private:<parent>')
    // the parent names its own store: what is left out grants none (SOC-30)
    return scope !== undefined && sees(scope, 'private') && of.parent_entity_id !== null
      ? [storeOf.private(of.parent_entity_id)]
      : [];
  return [];
}

function isMeant(store: StorePattern, group: string, of: RightsSource, patterns: readonly string[]): boolean {
  switch (store) {
    case 'group:<member>':
      return matchesAny(patterns, group);
    case 'group:<swarm>':
      return group === of.swarm_group && matchesAny(patterns, group);
    case 'group:<named>':
      return patterns.includes(group);
    case 'group:<swarm-named>':
      return group === of.swarm_group && patterns.includes(group);
    case 'group:<bonus>':
      return of.bonus_groups.includes(group);
    default:
      return false;
  }
}

/** The stores that entities below may have: of each kind that the capabilities reach, all. */
function storesBelow({ memory_read: read, memory_write: write }: Capabilities): Stores {
  return {
    read: [...keysBelow(read), ...(has(read, 'l2') && sees(read, 'public') ? [storeOf.public] : []), 'staging:*'],
    write: [...keysBelow(write), 'staging:*'],
  };
}

function keysBelow(scope: MemoryScope | undefined): readonly string[] {
  const notes = has(scope, 'l1') ? ['l1-notes:*'] : [];
  if (!has(scope, 'l2')) return notes;
  const own = sees(scope, 'private') ? ['private:*'] : [];
  const shared = sees(scope, 'group') ? (scope?.groups ?? ALL).map((group) => storeOf.group(group)) : [];
  return [...notes, ...own, ...shared];
}

function has(scope: MemoryScope | undefined, layer: 'l1' | 'l2'): boolean {
  return scope === undefined || scope.layers.includes(layer);
}

function sees(scope: MemoryScope | undefined, visibility: MemoryScope['visibility'][number]): boolean {
  return scope === undefined || scope.visibility.includes(visibility);
}

/** The checks of a call, in the order in which a refusal names them: the first that fails (CAP-10). */
export type CallCheck = 'tool' | 'group' | 'visibility' | 'parallel' | 'ttl';
