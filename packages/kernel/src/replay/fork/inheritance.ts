/** What a live fork inherits from the head of the original, so that no revoked right returns and nothing spent is refunded. */
import { type Account, type Amounts, type IngressOf, type InheritedRights, RepriseError } from '@reprise/contracts';
import { EVERYTHING, meet, NOTHING, PARALLEL } from '../../pure/authority/index.js';
import { decode, equalBytes } from '../../pure/codec/index.js';
import { type LeafKind, type RightsLeaf, WORLD_KEY } from '../../pure/engine/index.js';
import type { LeafTable } from '../../state/leaf-table.js';
import type { MapRoot, MerkleMap } from '../../state/map/index.js';
import { worldOf } from '../../state/world-leaf.js';
import type { ForkOptions } from './options.js';

/** The states between which a fork is made. */
interface CutAndHead {
  readonly map: MerkleMap;
  readonly cut: MapRoot;
  /** The leaves at the head. */
  readonly table: LeafTable;
}

interface Roots {
  readonly map: MerkleMap;
  readonly cut: MapRoot;
  readonly head: MapRoot;
}

type Inheritance = Pick<IngressOf<'fork'>, 'rights' | 'accounts' | 'root'>;

/** A dry fork inherits nothing: it has the rights of its past, and nothing that they permit really happens. */
export const NO_INHERITANCE: Inheritance = { rights: [], accounts: [] };

/**
 * The rights and accounts of a live fork.
 *
 * @throws RepriseError `account_unknown`, `invalid_argument`
 */
export async function inheritanceOf({ map, cut, table }: CutAndHead, options: ForkOptions): Promise<Inheritance> {
  const rules = worldOf(table.get(WORLD_KEY));
  if (rules.fork?.mode === 'dry') {
    throw new RepriseError('invalid_argument', 'a dry fork has no live forks', {
      hint: 'It never learns which rights were revoked. Fork its original instead.',
    });
  }
  const states = { map, cut, head: await table.snapshot() };
  const root = meet(rules.root ?? EVERYTHING, options.grants ?? NOTHING);
  return {
    rights: await changedRights(states),
    accounts: await accountsOf(states, options.budgets ?? {}),
    root: root as NonNullable<Inheritance['root']>, // the same data, not readonly
  };
}

/** For holders whose rights changed between the cut and the head, the rights at the head. */
async function changedRights(states: Roots): Promise<Inheritance['rights']> {
  const changed: Inheritance['rights'] = [];
  for await (const { key, bytes, before } of leavesOf(states, 'rights')) {
    if (before !== undefined && equalBytes(before, bytes)) continue;
    const { revision: _count, ...rights } = decode(bytes) as unknown as RightsLeaf;
    changed.push([String(key.path[1]), rights as InheritedRights]);
  }
  return changed;
}

async function accountsOf(states: Roots, budgets: Readonly<Record<string, Amounts>>) {
  const accounts: Inheritance['accounts'] = [];
  for await (const { key, bytes } of leavesOf(states, 'account')) {
    const name = String(key.path[1]);
    const { parent, limits, spent } = decode(bytes) as unknown as Account;
    const given = Object.hasOwn(budgets, name) ? budgets[name] : undefined;
    accounts.push([
      name,
      { parent, limits: given === undefined ? closed(limits) : { ...limits, ...given }, spent, reserved: {} },
    ]);
  }
  const unknown = Object.keys(budgets).find((name) => !accounts.some(([known]) => known === name));
  if (unknown === undefined) return accounts;
  throw new RepriseError('account_unknown', 'the budgets name an unknown account', { where: unknown });
}

/** Limits that allow no more charges: every effect costs one call and one slot. */
function closed(limits: Amounts): Amounts {
  const none = Object.fromEntries(Object.keys(limits).map((unit) => [unit, 0]));
  return { ...none, calls: 0, [PARALLEL]: 0 };
}

/** The leaves of a kind at the head, each with its value at the cut; the kinds read here never lose a leaf. */
async function* leavesOf({ map, cut, head }: Roots, kind: LeafKind & ('rights' | 'account')) {
  for await (const { key, bytes } of map.entries(head.ref, kind)) {
    yield { key, bytes, before: await map.lookup(cut.ref, key) };
  }
}
