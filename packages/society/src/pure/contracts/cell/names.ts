/** Names of the cells of a society, and its bounds. */
import type { Address } from '@reprise/contracts';

/** The wire name of the reducer of entities: people and agents. The key of a cell is the entity's id. */
export const ENTITY = 'society/Entity@1';

/** The wire name of the reducer of hot contexts: one for each entity, under the entity's id. */
export const L1 = 'society/L1@1';

/** The wire name of the reducer of groups. */
export const GROUP = 'society/Group@1';

/** The wire name of the reducer of swarms. */
export const SWARM = 'society/Swarm@1';

/** The wire name of the reducer behind staging stores: it alone writes there. */
export const STAGING = 'society/Staging@1';

/** The id of an agent: the hex SHA-256 of its public key. */
export const AGENT_ID = /^[a-f0-9]{64}$/;

/** The name of a person, a group or a swarm. */
export const NAME_ID = /^[a-z0-9][a-z0-9._:-]{0,127}$/;

/** The types of agents. A claude-code agent ends with its session, a swarm-worker with its swarm. */
export const AGENT_TYPES = ['claude-code', 'swarm-worker', 'autonomous', 'custom'] as const;

/** The type of an agent. */
export type AgentType = (typeof AGENT_TYPES)[number];

/** The states of an agent. Only `removed` is final. */
export const AGENT_STATUSES = ['registered', 'active', 'suspended', 'deactivated', 'removed'] as const;

/** The state of an agent. */
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** The tiers of trust, from the lowest. */
export const TIERS = ['untrusted', 'low', 'medium', 'high'] as const;

/** A tier of trust, the lowest first in {@link TIERS}. */
export type Tier = (typeof TIERS)[number];

/** The roles of members of a group. A viewer reads. */
export const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;

/** The role of a member of a group. */
export type Role = (typeof ROLES)[number];

/** The address of an entity. */
export function entityAt(id: string): Address {
  return [ENTITY, id];
}

/** The address of an entity's hot context. */
export function l1At(id: string): Address {
  return [L1, id];
}

/** The address of a group. */
export function groupAt(id: string): Address {
  return [GROUP, id];
}

/** The address of a swarm. */
export function swarmAt(id: string): Address {
  return [SWARM, id];
}

/** The id by which clients know what an agent brought back: a group that is read like others. */
export const STAGING_ID = /^staging-[a-f0-9]{64}-[0-9]{1,16}$/;

/** The key of what an agent brought back. */
export const STAGING_KEY = /^[a-f0-9]{64}\.[0-9]{1,16}$/;

/** The key of what an agent brought back: its id, and the stamp of its arrival. */
export function stagingKeyOf(agent: string, n: number): string {
  return `${agent}.${n}`;
}

/** The id by which clients know it. */
export function stagingIdOf(key: string): string {
  return `staging-${key.replace('.', '-')}`;
}

/** The key that an id of clients names; undefined for any other group. */
export function stagingKeyIn(group: string): string | undefined {
  return STAGING_ID.test(group) ? group.slice('staging-'.length).replace('-', '.') : undefined;
}

/** The address of the cell behind a staging store. */
export function stagingAt(key: string): Address {
  return [STAGING, key];
}

/** The agent of a key. */
export function agentOfStaging(key: string): string {
  return key.slice(0, 64); // an id has 64 characters
}

/** The key of a staging store; undefined for any other store. The id of an item names any store, also one that cannot be. */
export function stagingOfStore(store: string): string | undefined {
  return namedIn(store, STAGING_STORE, STAGING_KEY);
}

/** The group of a store; undefined for any other store. */
export function groupOfStore(store: string): string | undefined {
  return namedIn(store, GROUP_STORE, NAME_ID);
}

function namedIn(store: string, prefix: string, pattern: RegExp): string | undefined {
  const name = store.startsWith(prefix) ? store.slice(prefix.length) : '';
  return pattern.test(name) ? name : undefined;
}

/** Begins the scopes of the stores of groups. */
export const GROUP_STORE = 'group:';

const STAGING_STORE = 'staging:';

/** The scopes of the stores of a society. */
export const storeOf = {
  notes: (entity: string): string => `l1-notes:${entity}`,
  private: (entity: string): string => `private:${entity}`,
  group: (group: string): string => `${GROUP_STORE}${group}`,
  public: 'public',
  staging: (key: string): string => `${STAGING_STORE}${key}`,
} as const;

/** The bounds of a society. */
export const SOCIETY_BOUNDS = {
  /** Agents below a person, one below the other. */
  depth: 8,
  /** Agents that one entity has made, those that were removed not counted. */
  children: 1_000,
  /** The groups of which one entity is a member. */
  memberships: 128,
  /** The subscriptions that one entity has at once. */
  subscriptions: 32,
  /** Events that wait in an inbox; older ones are dropped and counted. */
  inbox: 256,
  /** The sessions of one entity that are open. */
  sessions: 64,
  /** Calls of one entity that are under way. */
  calls: 1_000,
  /** Failed operations within ten minutes that suspend an agent. */
  failures: 5,
  /** The time in milliseconds in which they are counted. */
  failures_ms: 600_000,
  /** The milliseconds after which a suspension for failures ends by itself. */
  cooldown_ms: 600_000,
  /** The milliseconds in which a deactivated agent may come back, unless its society states another time. */
  grace_ms: 7 * 86_400_000,
} as const;

/** An item, as far as it says whose it is. */
interface Authored {
  readonly author: string;
  readonly origin: { readonly of?: string | undefined; readonly unreviewed?: true | undefined } | null;
}

/** The cell whose item it is: the one that wrote it, or, of one that was taken over without a review, the one that brought it. */
export function authorOf({ author, origin }: Authored): string {
  return origin?.unreviewed === true ? (origin.of ?? author) : author;
}

/** The entity that an item is by, from the cell that wrote it: what was brought back is by the agent that brought it. */
export function entityOfAuthor(author: string): string | undefined {
  if (author.startsWith(`${STAGING}/`)) return agentOfStaging(author.slice(STAGING.length + 1));
  return author.startsWith(`${ENTITY}/`) ? author.slice(ENTITY.length + 1) : undefined;
}

/** The holder of an entity's rights. */
export function formatHolder(id: string): `cell:${string}` {
  return `cell:${ENTITY}/${id}`;
}

/** The account of an entity. */
export function accountOf(id: string): string {
  return `entity:${id}`;
}

/** The key of the queue of a swarm's tasks. */
export function swarmPool(swarm: string): string {
  return `society/${swarm}`;
}

const NEXT: Readonly<Record<AgentStatus, readonly AgentStatus[]>> = {
  registered: ['active', 'suspended', 'deactivated'],
  active: ['suspended', 'deactivated'],
  suspended: ['active', 'deactivated'],
  deactivated: ['active', 'removed'],
  removed: [],
};

/** Whether a change is legal. */
export function isLegal(from: AgentStatus, to: AgentStatus): boolean {
  return NEXT[from].includes(to);
}
