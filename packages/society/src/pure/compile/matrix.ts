/**
 * Which stores an entity reaches by its type and its tier of trust: a table of patterns of store keys. It is read when
 * rights are compiled, and never at an operation: there the kernel compares patterns.
 *
 * Invariants
 * M1  No row writes `public`.
 * M2  Own notes are in every row.
 * M3  A row of a lower tier holds nothing that the row of a higher tier does not.
 */
import { type AgentType, TIERS, type Tier } from '../contracts/cell/names.js';

/** What compiled rights are for: a person, or an agent of a type. */
export type EntityKind = 'person' | AgentType;

/**
 * A pattern of store keys. `<self>` and `<parent>` are ids. `<member>` is each group of which the entity is a member;
 * `<swarm>` the group of its swarm, if it is a member; `<named>` and `<swarm-named>` the same, of those that its
 * capabilities name exactly; `<bonus>` each of the groups that its parent promised to a high tier, if it is a member. Of a
 * group, a viewer has only what is read.
 */
export type StorePattern =
  | 'l1-notes:<self>'
  | 'private:<self>'
  | 'private:<parent>'
  | `group:<${'member' | 'named' | 'swarm' | 'swarm-named' | 'bonus'}>`
  | 'public';

/** The stores that a row reaches. */
export interface MatrixRow {
  readonly read: readonly StorePattern[];
  readonly write: readonly StorePattern[];
}

type Stores = Exclude<StorePattern, 'l1-notes:<self>' | 'public'>;

function row(both: readonly Stores[], readOnly: readonly Stores[] = []): MatrixRow {
  return { read: ['l1-notes:<self>', ...both, ...readOnly, 'public'], write: ['l1-notes:<self>', ...both] };
}

/** With full trust: the rows of the types. */
const TRUSTED: Readonly<Record<EntityKind, MatrixRow>> = {
  person: row(['private:<self>', 'group:<member>']),
  'claude-code': row(['private:<self>', 'private:<parent>', 'group:<member>']),
  'swarm-worker': row(['group:<swarm>']),
  autonomous: row(['private:<self>', 'group:<member>']),
  custom: row(['private:<self>', 'group:<member>']),
};

const LOW = row([], ['group:<named>']);
const LOW_IN_SWARM = row([], ['group:<swarm-named>']);
const UNTRUSTED = row([]);
const BONUS: StorePattern = 'group:<bonus>';

function rowsOf(kind: EntityKind): Readonly<Record<Tier, MatrixRow>> {
  const trusted = TRUSTED[kind];
  if (kind === 'person') return { untrusted: trusted, low: trusted, medium: trusted, high: trusted };
  const high: MatrixRow = { read: [...trusted.read, BONUS], write: [...trusted.write, BONUS] };
  return { untrusted: UNTRUSTED, low: kind === 'swarm-worker' ? LOW_IN_SWARM : LOW, medium: trusted, high };
}

/** The stores of each kind of entity in each tier. The tier of a person is not judged. */
export const MATRIX: Readonly<Record<EntityKind, Readonly<Record<Tier, MatrixRow>>>> = {
  person: rowsOf('person'),
  'claude-code': rowsOf('claude-code'),
  'swarm-worker': rowsOf('swarm-worker'),
  autonomous: rowsOf('autonomous'),
  custom: rowsOf('custom'),
};

/** The tier that an entity's rights are compiled for: what its parent found, raised to the floor that the parent promised. */
export function tierUsed(floor: Tier, byParent: Tier): Tier {
  return TIERS[Math.max(TIERS.indexOf(floor), TIERS.indexOf(byParent))] ?? floor;
}

/**
 * The tier that counts in the store of a group: no promise of a parent raises what the owner of the group found.
 *
 * @param byOwner the tier by the verdicts of the group's owner; absent where it has judged nothing
 */
export function tierThere(used: Tier, byOwner: Tier = used): Tier {
  return TIERS[Math.min(TIERS.indexOf(used), TIERS.indexOf(byOwner))] ?? used;
}
