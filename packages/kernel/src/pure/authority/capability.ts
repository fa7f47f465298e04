/**
 * Capabilities as a lattice: authority needs only to intersect and to compare them.
 *
 * Invariants
 * C1  `meet` is commutative, associative and idempotent, and {@link EVERYTHING} changes nothing. What it gives permits
 *     exactly what both permit.
 * C2  `leq(a, b)` holds exactly when `meet(a, b)` is `a`: no comparison can grant a right.
 * C3  Capabilities that permit the same have one canonical form, so equal rights have equal bytes.
 * C4  Nothing in a chain exceeds the grants above it, and revoking a right anywhere revokes it below: rights are
 *     computed from the whole chain when needed, and never copied. A hold on a holder is met with both of its sides.
 * C5  Names of dimensions come from outside: only a capability's own keys count, never what objects inherit.
 */
import type { Capability, Patterns, Rights, Value } from '@reprise/contracts';
import { DIMENSIONS_MAX } from '@reprise/contracts';
import { byCodeUnits, firstUncovered, matchesAny, meetPatterns, normalise } from './patterns.js';

/** The capability that narrows nothing. */
export const EVERYTHING: Capability = Object.freeze({ may: Object.freeze({}) });

/** The capability that permits nothing: the kernel's own dimensions, each with no pattern. */
export const NOTHING: Capability = Object.freeze({ may: { effect: [], send: [], settle: [], read: [] } });

/** The rights of a holder with what the holds on it permit together; both sides are met with that. */
export interface HeldRights extends Rights {
  /** When absent, nothing is held for approval. */
  readonly hold?: Capability | undefined;
}

/** Where a capability exceeds another, as details of an error. */
export interface Excess {
  /** The part that exceeds: `may.<dimension>`, `expires_at` or `max_parallel`. */
  readonly where: string;
  /** The bound of the other capability. */
  readonly expected: Value;
  /** The excess: the first pattern, the time, the number; null for no bound at all. */
  readonly actual: Value;
}

/** Tells whether a capability narrows no more dimensions than allowed; its schema checks the other bounds. */
export function capabilityFits({ may }: Capability): boolean {
  return Object.keys(may).length <= DIMENSIONS_MAX;
}

/**
 * The canonical form (C3): normal forms of patterns, and no dimension that is narrowed to everything.
 *
 * @param capability in any form
 */
export function canonical(capability: Capability): Capability {
  return meet(capability, EVERYTHING);
}

/**
 * Intersects two capabilities: what both permit (C1), until the earlier end, with the smaller number at once.
 *
 * @returns in canonical form. A dimension may list as many patterns as both together
 */
export function meet(a: Capability, b: Capability): Capability {
  const may: Record<string, Patterns> = {};
  for (const dimension of dimensionsOf(a, b)) {
    const [one, other] = [narrowed(a, dimension), narrowed(b, dimension)];
    const patterns = one && other ? meetPatterns(one, other) : normalise(one ?? other ?? []);
    if (patterns[0] !== '*') may[dimension] = patterns;
  }
  return {
    may,
    ...bound('expires_at', least(a.expires_at, b.expires_at)),
    ...bound('max_parallel', least(a.max_parallel, b.max_parallel)),
  };
}

/** Tells whether a capability permits nothing that another does not (C2). */
export function leq(a: Capability, b: Capability): boolean {
  return firstExcess(a, b) === undefined;
}

/**
 * Finds where a capability exceeds another: its dimensions in the order of their names, then the two numbers.
 *
 * @param child the requested capability
 * @param parent the capability that may be handed on
 */
export function firstExcess(child: Capability, parent: Capability): Excess | undefined {
  for (const dimension of dimensionsOf(parent)) {
    const expected = narrowed(parent, dimension) ?? [];
    const actual = firstUncovered(expected, narrowed(child, dimension) ?? ['*']);
    if (actual !== undefined) return { where: `may.${dimension}`, expected, actual };
  }
  return excessOf('expires_at', child, parent) ?? excessOf('max_parallel', child, parent);
}

/**
 * Joins two capabilities: what either permits, until the later end, with the larger number at once.
 *
 * @returns in canonical form
 */
export function join(a: Capability, b: Capability): Capability {
  const may: Record<string, Patterns> = {};
  for (const dimension of dimensionsOf(a, b)) {
    const [one, other] = [narrowed(a, dimension), narrowed(b, dimension)];
    if (one !== undefined && other !== undefined) may[dimension] = [...one, ...other];
  }
  return canonical({
    may,
    ...bound('expires_at', greatest(a.expires_at, b.expires_at)),
    ...bound('max_parallel', greatest(a.max_parallel, b.max_parallel)),
  });
}

/**
 * Adds to a capability what another one permits besides, without making anything last longer, or run more at once, than one of
 * the two lets it: both bounds stay those of the first, and of the second is left out what ends earlier or runs less at once.
 *
 * @returns in canonical form; the second where it permits all that the first does
 */
export function extend(first: Capability, second: Capability): Capability {
  if (leq(first, second)) return second;
  const bounds = { ...first, may: {} };
  return leq(bounds, { ...second, may: {} }) ? meet(join(first, second), bounds) : first;
}

/** Tells whether a capability permits something in a dimension. Whether it still holds is {@link isExpired}. */
export function permits(capability: Capability, dimension: string, text: string): boolean {
  const patterns = narrowed(capability, dimension);
  return patterns === undefined || matchesAny(patterns, text);
}

/** Tells whether a capability has ended: from `expires_at` on it permits nothing. */
export function isExpired({ expires_at }: Capability, at: number): boolean {
  return expires_at !== undefined && at >= expires_at;
}

/**
 * Computes the capability that the first holder of a chain may hand on: the intersection up to the root.
 *
 * @param chain the rights of the holder, of its parent, and so on to the root
 * @param root the capability of the root itself
 */
export function effectiveGrant(chain: readonly HeldRights[], root: Capability = EVERYTHING): Capability {
  return chain.reduce(
    (granted, { exercise, grant, hold }) => meet(granted, held(grant ?? exercise, hold)),
    canonical(root),
  );
}

/**
 * Computes the capability that the first holder of a chain may use: its own exercise side, within its parent's grant
 * side. Its own grant side concerns others and does not matter here.
 *
 * @param chain the rights of the holder, of its parent, and so on to the root
 * @param root the capability of the root itself, which is the result for an empty chain
 */
export function effectiveExercise(chain: readonly HeldRights[], root: Capability = EVERYTHING): Capability {
  const [own, ...above] = chain;
  const granted = effectiveGrant(above, root);
  return own === undefined ? granted : meet(held(own.exercise, own.hold), granted);
}

function held(side: Capability, hold: Capability | undefined): Capability {
  return hold === undefined ? side : meet(side, hold);
}

/** The patterns that a capability narrows a dimension to; undefined when it does not narrow it (C5). */
function narrowed({ may }: Capability, dimension: string): Patterns | undefined {
  return Object.hasOwn(may, dimension) ? may[dimension] : undefined;
}

function dimensionsOf(...capabilities: readonly Capability[]): readonly string[] {
  return [...new Set(capabilities.flatMap(({ may }) => Object.keys(may)))].sort(byCodeUnits);
}

type Bounded = 'expires_at' | 'max_parallel';

function least(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

function greatest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

function bound(name: Bounded, value: number | undefined): { readonly [bounded in Bounded]?: number } {
  return value === undefined ? {} : { [name]: value };
}

function excessOf(where: Bounded, child: Capability, parent: Capability): Excess | undefined {
  const [actual, expected] = [child[where], parent[where]];
  if (expected === undefined || (actual !== undefined && actual <= expected)) return undefined;
  return { where, expected, actual: actual ?? null };
}
