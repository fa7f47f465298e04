/** To whom a store belongs: to one entity, or to the members of a group. */
import { type Address, parseAddress } from '@reprise/contracts';
import type { WorldAt } from '@reprise/kernel';
import type { EntityState, MemberRow } from '@reprise/society/contracts';
import { ownerWords } from '../names/owner.js';
import { REDUCERS } from '../names/reducers.js';
import type { WorldNames } from '../names/world-names.js';
import type { reasonOf } from './reasons.js';
import type { ReaderRow } from './report.js';

/** The name of the owner of a cell, by the cell's address; null for what is no cell. */
export function nameOf(address: string, names: WorldNames): string | null {
  if (!address.includes('/')) return null;
  const of = names.ownerOf(parseAddress(address));
  return of.session === null && of.agent !== null ? of.agent : ownerWords(of);
}

const CELL = 'cell:';

/** A store, and those to whom it belongs. */
interface Belonging {
  readonly scope: string;
  /** The entity whose store it is alone; null for another store. */
  readonly owner: string | null;
  /** The roles of the members of the group whose store it is, by their ids; null for another store. */
  readonly members: ReadonlyMap<string, string> | null;
  /** The maker of the agent whose returned items the store holds; undefined for another store. */
  readonly reviewer?: string | null;
}

const GROUP = 'group:';
const STAGING = 'staging:';
/** The stores of one entity alone, by the beginning of their scopes. */
const OWN = /^(?:private|l1-notes):(.+)$/s;

/** To whom a store belongs. */
export async function belongingOf(then: WorldAt, scope: string): Promise<Belonging> {
  const members = scope.startsWith(GROUP) ? await membersOf(then, scope.slice(GROUP.length)) : null;
  const owner = OWN.exec(scope)?.[1] ?? null;
  if (!scope.startsWith(STAGING)) return { scope, owner, members };
  const [agent = ''] = scope.slice(STAGING.length).split('.');
  return { scope, owner, members, reviewer: (await entityIn(then, agent))?.parent_entity_id ?? null };
}

async function membersOf(then: WorldAt, id: string): Promise<ReadonlyMap<string, string>> {
  const roles = new Map<string, string>();
  const group: Address = [REDUCERS.group, id];
  if ((await then.state(group)) === undefined) return roles;
  for (let after: string | undefined; ; ) {
    const page = await then.table(group, 'members', after === undefined ? {} : { after });
    for (const [member, row] of page) roles.set(member, (row as unknown as MemberRow).role);
    after = page.at(-1)?.[0];
    if (after === undefined) return roles;
  }
}

async function entityIn(then: WorldAt, id: string): Promise<EntityState | undefined> {
  return (await then.state([REDUCERS.entity, id])) as unknown as EntityState | undefined;
}

type Reason = ReturnType<typeof reasonOf>;

/**
 * A reason that rights give, with what belonging adds. The rights of a person name the stores of all groups, since agents get
 * them from it; its entity asks for those of its own groups, and for what its own agents bring back.
 */
export async function withBelonging(
  reason: Reason,
  [reducer, id]: Address,
  { owner, members, reviewer }: Belonging,
  then: WorldAt,
): Promise<Reason & Pick<ReaderRow, 'role'>> {
  if (reducer !== REDUCERS.entity) return { ...reason, role: null };
  const role = members?.get(id) ?? null;
  if (!reason.may) return { ...reason, role };
  if (owner === id) return { ...reason, reason: 'owner', role };
  if (role !== null) return { ...reason, reason: 'member', role };
  const isPerson = (await entityIn(then, id))?.kind === 'person';
  if (isPerson && members !== null) return { ...reason, may: false, reason: 'not_member', role };
  if (isPerson && reviewer !== undefined && reviewer !== id)
    return { ...reason, may: false, reason: 'not_own_agent', role };
  return { ...reason, role };
}

/** The name of the holder in whose rights a reason stands. */
export function nameOfHolder(holder: string | null, names: WorldNames): string | null {
  return holder?.startsWith(CELL) === true ? nameOf(holder.slice(CELL.length), names) : null;
}
