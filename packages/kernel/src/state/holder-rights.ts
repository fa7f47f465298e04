/** The rights of a holder, read from the leaves of a world: one that is open, or one of the past. */
import type { Capability, Principal, Value } from '@reprise/contracts';
import { copyValue } from '../pure/codec/index.js';
import { ancestorsOf, authorityOf, cellOf, declaredRights, type RightsLeaf, WORLD_KEY } from '../pure/engine/index.js';
import type { LeafTable } from './leaf-table.js';
import { loaded } from './loaded.js';
import { worldOf } from './world-leaf.js';

/** The rights of a holder. */
export interface HolderRights {
  /** What was set for the holder itself; undefined when nothing was set. */
  readonly declared: RightsLeaf | undefined;
  /** The effective rights over the holder's whole chain, and its account; undefined when the chain is broken. */
  readonly effective:
    | { readonly exercise: Capability; readonly grant: Capability; readonly account: string | null }
    | undefined;
}

/** What was set for each holder of a chain, the lowest first. */
export type RightsChain = readonly { readonly holder: Principal; readonly declared: RightsLeaf | undefined }[];

/** Reads the rights of a holder. */
export async function readAuthority(table: LeafTable, holder: Principal): Promise<HolderRights> {
  const rules = worldOf(table.get(WORLD_KEY));
  return loaded(table, () => {
    const effective = authorityOf({ overlay: table, rules }, holder);
    return ownCopy({
      declared: declaredRights({ overlay: table, rules }, holder),
      effective: effective && {
        exercise: effective.exercise,
        grant: effective.grant,
        account: effective.account,
      },
    });
  });
}

/** What was set for a holder and for each above it; empty when the chain of a cell is broken. */
export async function readChain(table: LeafTable, holder: Principal): Promise<RightsChain> {
  const rules = worldOf(table.get(WORLD_KEY));
  return loaded(table, () => {
    const cell = cellOf(holder);
    const holders = cell === undefined ? [holder] : (ancestorsOf({ overlay: table, rules }, cell) ?? []);
    return holders.map((one) => {
      const declared = declaredRights({ overlay: table, rules }, one);
      return { holder: one as Principal, declared: declared && ownCopy(declared) };
    });
  });
}

/** Leaves are shared and never written into, so callers get copies. */
function ownCopy<T extends object>(leaf: T): T {
  return copyValue(leaf as unknown as Value) as unknown as T;
}
