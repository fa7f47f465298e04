/** The society of a world: `world.part(part)`. */

import { type AgentWorld, SESSION_REDUCER } from '@reprise/agent';
import { historyOf } from '@reprise/agent/history';
import {
  type Address,
  type ArgumentCheck,
  type Capability,
  checkOf,
  type Patterns,
  RepriseError,
} from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';
import { canonical } from '@reprise/kernel/authority';
import { command } from '@reprise/org';
import { auditOf } from '../audit/audit.js';
import type { AuditReport } from '../audit/report.js';
import {
  AGENT_ID,
  accountOf,
  type Capabilities,
  type CompiledRights,
  capabilities,
  compileRights,
  entityAt,
  formatHolder,
  L1,
  NAME_ID,
} from '../pure/index.js';
import { recordedSides } from '../pure/reducer/rights/recorded.js';
import { Entity, type EntityHost } from './entity.js';
import { Group } from './group.js';
import { entityCell } from './requests.js';
import { SwarmHandle } from './swarm.js';
import { troublesOfSociety } from './troubles.js';

/** The society of a world. */
export interface Society {
  /**
   * The entity of a person, made where it is new. From then on the principal `human:<name>` reaches this entity and what
   * belongs to it, and no other.
   *
   * @param name 1 to 128 of a–z 0–9 . _ : -
   * @param capabilities what the person may do; the society's root when absent
   * @throws RepriseError `invalid_argument`
   */
  human(name: string, capabilities?: Capabilities): Promise<Entity>;
  /** The handle of an entity, whether or not it exists. @throws RepriseError `invalid_argument` */
  entity(id: string): Entity;
  /** The handle of a group, whether or not it exists. @throws RepriseError `invalid_argument` */
  group(id: string): Group;
  /** The handle of a swarm, whether or not it exists. @throws RepriseError `invalid_argument` */
  swarm(id: string): SwarmHandle;
  /**
   * The troubles that keep something of the society from going on: of the store, of its cells, of what stands below its
   * entities, and of services that they wait for. See `World.trouble`.
   *
   * @example for (const { kind, where, code } of await office.trouble()) console.log(kind, where, code)
   */
  trouble(): Promise<readonly Trouble[]>;
  /**
   * Audits the society: every agent as the journal shows it so far, and what does not hold of it. Reads each frame once.
   * `auditSociety` does the same for a store that is opened for reading.
   */
  audit(): Promise<AuditReport>;
}

interface SocietyParts extends Omit<EntityHost, 'world'> {
  readonly root: Capabilities;
  readonly app: Address | null;
  readonly graceMs: number;
}

/** Makes the handle of the part. */
export function societyOf(world: AgentWorld, { root, app, graceMs, tokens, sign }: SocietyParts): Society {
  const host: EntityHost = { world, tokens, sign };
  return {
    entity: (id) => new Entity(host, checkedId(id)),
    group: (id) => new Group(world, checkedId(id)),
    audit: () => auditOf(historyOf(world.kernel).frames(), world.kernel.content),
    trouble: () => troublesOfSociety(world),
    swarm: (id) => new SwarmHandle({ world, caller: (entity) => new Entity(host, entity) }, checkedId(id)),
    async human(name, given = root) {
      const capabilities = checkedCapabilities(given);
      const entity = new Entity(host, checkedName(name));
      if (!(await isWhole(world, name))) await makeHuman(world, name, { root: capabilities, app, graceMs });
      return entity;
    },
  };
}

/** Whether a person's entity is there with its rights, which are set last: a process may have died on the way. */
async function isWhole({ kernel }: AgentWorld, name: string): Promise<boolean> {
  const [reducer, key] = entityAt(name);
  const isMade = (await kernel.state(entityAt(name))) !== undefined;
  return isMade && (await kernel.rights(`cell:${reducer}/${key}`)).declared !== undefined;
}

/** Makes a person's entity: its account, its rights and those of the principal first, then the cell can act. */
async function makeHuman(
  { kernel }: AgentWorld,
  name: string,
  { root, app, graceMs }: Pick<SocietyParts, 'root' | 'app' | 'graceMs'>,
): Promise<void> {
  const rights = compileRights({
    ...{ agent_id: name, kind: 'person', declared: root, tier: 'high', trust_floor: 'high', bonus_groups: [] },
    ...{ memberships: [], status: 'active', parent_entity_id: null },
  } as const);
  const limits = root.max_parallel_ops === undefined ? {} : { parallel: root.max_parallel_ops };
  await kernel.command('sys/SetAccount@1', { account: accountOf(name), parent: null, limits });
  const [reducer, key] = entityAt(name);
  const sessions = `${SESSION_REDUCER}/${name}/*`;
  const may = { send: [`${reducer}/${key}#*`, sessions], read: [`${reducer}/${key}`, `${L1}/${key}`, sessions] };
  await kernel.command('sys/SetRights@1', { holder: `human:${name}`, exercise: { may } });
  const human = { display_name: name, root, above: { may: {} }, app, grace_ms: graceMs };
  await command(entityCell(kernel, entityAt(name)), 'society/Human@1', human, { id: 'human' });
  const sides = recordedSides({ exercise: withGroups(rights), grant: rights.grant });
  await kernel.command('sys/SetRights@1', { holder: formatHolder(name), ...sides, account: accountOf(name) });
}

/**
 * A person may reach the stores of the groups that its capabilities name, and read what agents bring back; its entity asks
 * for the groups of which it is a member, and for returns of its own agents, only. No cell above a person could set other rights when it joins.
 */
function withGroups({ exercise, grant }: CompiledRights): Capability {
  const both = (dimension: 'mem_read' | 'mem_write'): Partial<Record<typeof dimension, Patterns>> => {
    const [own, shared] = [exercise.may[dimension], grant.may[dimension]];
    if (own === undefined || shared === undefined) return own === undefined ? {} : { [dimension]: own };
    const isMeant = (store: string) =>
      store.startsWith('group:') || (dimension === 'mem_read' && store.startsWith('staging:'));
    return { [dimension]: [...new Set([...own, ...shared.filter(isMeant)])] };
  };
  return canonical({ ...exercise, may: { ...exercise.may, ...both('mem_read'), ...both('mem_write') } });
}

const requireName: ArgumentCheck = checkOf('invalid_argument', 'invalid name of a person');
const requireId: ArgumentCheck = checkOf('invalid_argument', 'invalid id of an entity');

function checkedName(name: unknown): string {
  const expected = '1 to 128 of a–z 0–9 . _ : -, and not the id of an agent';
  requireName(typeof name === 'string' && NAME_ID.test(name) && !AGENT_ID.test(name), 'human', expected, name);
  return name;
}

function checkedCapabilities(given: Capabilities): Capabilities {
  const checked = capabilities.safeParse(given);
  if (checked.success) return given;
  const [issue] = checked.error.issues;
  throw new RepriseError('invalid_argument', 'invalid capabilities of a person', {
    where: ['human', ...(issue?.path ?? [])].map(String).join('.'),
    expected: "what the person may do, such as { tools: ['read_*'] }",
    actual: given,
  });
}

function checkedId(id: unknown): string {
  requireId(typeof id === 'string' && NAME_ID.test(id), 'entity', 'the id of an agent, or the name of a person', id);
  return id;
}
