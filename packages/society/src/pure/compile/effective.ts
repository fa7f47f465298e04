/** What an entity may do in the end, in the form in which capabilities are declared, and which ancestor limits it. */
import { meetPatterns } from '@reprise/kernel/authority';
import type { Capabilities, Dimension, MemoryScope, Visibility } from '../contracts/capability.js';
import { LAYERS, VISIBILITIES } from '../contracts/capability.js';
import { compileRights, type RightsSource } from './compile-rights.js';
import { beyondIn, DIMENSIONS, secondsLeft } from './declared.js';
import { MATRIX, type StorePattern, tierUsed } from './matrix.js';
import { ALL, reaches } from './patterns.js';

/** What an ancestor hands on. */
export interface Above {
  readonly id: string;
  readonly granted: Capabilities;
  /** The end of its time in milliseconds. */
  readonly expires_at?: number | undefined;
  /** Whether it has rights at all: an ancestor that has been deactivated has none. */
  readonly stands: boolean;
}

/** What an entity may do in the end. */
export interface Effective {
  /** Groups are those whose stores it reaches. */
  readonly effective: Capabilities;
  /** For each dimension that is narrowed above: the nearest ancestor that does so. */
  readonly limited_by: readonly { readonly ancestor: string; readonly dimension: Dimension }[];
}

/**
 * Renders what an entity may do.
 *
 * @param of what its rights are compiled from
 * @param above its ancestors, from its parent to the root
 * @param now the time in milliseconds
 */
export function effectiveOf(of: RightsSource, above: readonly Above[], now: number): Effective {
  const all = [of.declared, ...above.map(({ granted }) => granted)];
  const stands = of.status !== 'deactivated' && of.status !== 'removed' && above.every((one) => one.stands);
  const ends = [of.expires_at, ...above.map(({ expires_at }) => expires_at)].filter((end) => end !== undefined);
  const bounds = all.flatMap(({ max_parallel_ops }) => max_parallel_ops ?? []);
  const effective: Capabilities = {
    memory_read: scopeOf('memory_read', of, all, stands),
    memory_write: scopeOf('memory_write', of, all, stands),
    tools: stands ? [...all.reduce((met, { tools }) => meetPatterns(met, tools ?? ALL), ALL)] : [],
    ...(bounds.length === 0 ? {} : { max_parallel_ops: Math.min(...bounds) }),
    ttl_seconds: secondsLeft(ends.length === 0 ? undefined : Math.min(...ends), now),
    autonomous: all.every(({ autonomous }) => autonomous !== false),
  };
  return { effective, limited_by: limitsOf(of.declared, above, now) };
}

type Side = 'memory_read' | 'memory_write';

function scopeOf(side: Side, of: RightsSource, all: readonly Capabilities[], stands: boolean): MemoryScope {
  if (!stands) return { layers: [], groups: [], visibility: [] };
  const scopes = all.flatMap((one) => one[side] ?? []);
  const row = MATRIX[of.kind][tierUsed(of.trust_floor, of.tier)][side === 'memory_read' ? 'read' : 'write'];
  const layers = LAYERS.filter((layer) => scopes.every((scope) => scope.layers.includes(layer)));
  const seen = (kind: Visibility) => scopes.every(({ visibility }) => visibility.includes(kind)) && isInRow(row, kind);
  const visibility = VISIBILITIES.filter((kind) => layers.includes('l2') && seen(kind));
  return { layers, groups: visibility.includes('group') ? groupsReached(side, of, all) : [], visibility };
}

function isInRow(row: readonly StorePattern[], kind: Visibility): boolean {
  return row.some((store) => store === kind || store.startsWith(`${kind}:`));
}

/** The groups whose stores the compiled rights name, and all above hand on. */
function groupsReached(side: Side, of: RightsSource, all: readonly Capabilities[]): string[] {
  const { may } = compileRights(of).exercise;
  const stores = may[side === 'memory_read' ? 'mem_read' : 'mem_write'] ?? [];
  const groups = stores.flatMap((store) => (store.startsWith('group:') ? [store.slice('group:'.length)] : []));
  const above = all.slice(1).map((one) => one[side]?.groups ?? ALL);
  return groups.filter((group) => above.every((patterns) => reaches(patterns, group)));
}

function limitsOf(declared: Capabilities, above: readonly Above[], now: number): Effective['limited_by'] {
  return DIMENSIONS.flatMap((dimension) => {
    const by = above.find(({ granted, expires_at }) => {
      const left = { ...granted, ttl_seconds: secondsLeft(expires_at, now) };
      return beyondIn(dimension, declared, left) !== undefined;
    });
    return by === undefined ? [] : [{ ancestor: by.id, dimension }];
  });
}
