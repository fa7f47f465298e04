/** Declared capabilities: inheriting, changing and comparing them. The kernel's refusal stays the authority. */
import type { Value } from '@reprise/contracts';
import {
  CAPABILITY_NAMES,
  type Capabilities,
  type CapabilityChange,
  type Dimension,
  LAYERS,
  type MemoryScope,
  VISIBILITIES,
} from '../contracts/capability.js';
import { ALL, firstBeyond } from './patterns.js';

/** Dimensions that an entity inherits when they are declared for it. Time is inherited as its parent's end. */
const INHERITED = CAPABILITY_NAMES.filter((name) => name !== 'ttl_seconds');

/** Fills in what capabilities do not name: it is the parent's at this moment. */
export function inherited(asked: Capabilities, parent: Capabilities): Capabilities {
  return named({ ...Object.fromEntries(INHERITED.map((name) => [name, parent[name]])), ...asked });
}

/** Changes declared capabilities: an absent dimension keeps its value, null takes the parent's at this moment. */
export function changed(declared: Capabilities, change: CapabilityChange, parent: Capabilities): Capabilities {
  const kept = { ...declared } as Record<string, unknown>;
  for (const name of CAPABILITY_NAMES) {
    const value = change[name];
    if (value === null) kept[name] = name === 'ttl_seconds' ? undefined : parent[name];
    else if (value !== undefined) kept[name] = value;
  }
  return named(kept);
}

/** The dimensions that have a value, in their order. */
function named(values: Readonly<Record<string, unknown>>): Capabilities {
  const present = CAPABILITY_NAMES.filter((name) => values[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, values[name]])) as Capabilities;
}

/**
 * The end of an entity's time in milliseconds; undefined for none.
 *
 * @param ttl the declared seconds; 0 for no end, absent for the parent's end
 * @param parentEnd the end of the parent's time
 */
export function endOf(ttl: number | undefined, now: number, parentEnd: number | undefined): number | undefined {
  if (ttl === undefined) return parentEnd;
  return ttl === 0 ? undefined : now + ttl * 1_000;
}

/** The seconds that are left until an end, at least one; 0 for no end. */
export function secondsLeft(end: number | undefined, now: number): number {
  return end === undefined ? 0 : Math.max(1, Math.ceil((end - now) / 1_000));
}

/** Where capabilities go beyond others. */
export interface Beyond {
  readonly dimension: Dimension;
  /** What goes beyond: the first pattern, layer or visibility; the number; null for no bound. */
  readonly asked: Value;
  readonly allowed: Value;
}

/**
 * Finds the first dimension in which capabilities go beyond a parent's.
 *
 * @param child with inherited dimensions filled in
 * @param parent what may be handed on; its `ttl_seconds` are those that are left
 */
export function exceeds(child: Capabilities, parent: Capabilities): Beyond | undefined {
  for (const dimension of DIMENSIONS) {
    const found = beyondIn(dimension, child, parent);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The dimensions in the order in which they are compared. */
export const DIMENSIONS: readonly Dimension[] = [
  'memory_read.layers',
  'memory_read.groups',
  'memory_read.visibility',
  'memory_write.layers',
  'memory_write.groups',
  'memory_write.visibility',
  'tools',
  'max_parallel_ops',
  'ttl_seconds',
  'autonomous',
];

/** Compares one dimension. */
export function beyondIn(dimension: Dimension, child: Capabilities, parent: Capabilities): Beyond | undefined {
  switch (dimension) {
    case 'tools':
      return listBeyond(dimension, child.tools ?? ALL, parent.tools ?? ALL);
    case 'max_parallel_ops':
      return boundBeyond(dimension, child.max_parallel_ops, parent.max_parallel_ops);
    case 'ttl_seconds': // absent is the parent's end
      return child.ttl_seconds === undefined
        ? undefined
        : boundBeyond(dimension, child.ttl_seconds || undefined, parent.ttl_seconds || undefined);
    case 'autonomous':
      return parent.autonomous === false && child.autonomous !== false
        ? { dimension, asked: true, allowed: false }
        : undefined;
    default: {
      const [scope, part] = dimension.split('.') as ['memory_read' | 'memory_write', keyof MemoryScope];
      return listBeyond(dimension, partOf(child[scope], part), partOf(parent[scope], part));
    }
  }
}

/** A part of a scope; an absent scope is everything. */
function partOf(scope: MemoryScope | undefined, part: keyof MemoryScope): readonly string[] {
  return scope?.[part] ?? { layers: LAYERS, groups: ALL, visibility: VISIBILITIES }[part];
}

function listBeyond(dimension: Dimension, asked: readonly string[], allowed: readonly string[]): Beyond | undefined {
  const found = firstBeyond(asked, allowed);
  return found === undefined ? undefined : { dimension, asked: found, allowed };
}

function boundBeyond(dimension: Dimension, asked: number | undefined, allowed: number | undefined): Beyond | undefined {
  if (allowed === undefined || (asked !== undefined && asked <= allowed)) return undefined;
  return { dimension, asked: asked ?? null, allowed };
}

/**
 * The declared dimension of a place in a kernel capability, for a refusal of the kernel.
 *
 * @param where `may.<dimension>`, `expires_at` or `max_parallel`
 * @param actual the first pattern that goes beyond
 */
export function dimensionOf(where: string, actual?: Value): Dimension | 'effect' {
  if (where === 'expires_at') return 'ttl_seconds';
  if (where === 'max_parallel') return 'max_parallel_ops';
  if (where === 'may.tool') return 'tools';
  if (where === 'may.unwatched') return 'autonomous';
  if (where === 'may.effect') return 'effect';
  const scope = where === 'may.mem_write' ? 'memory_write' : 'memory_read';
  const store = typeof actual === 'string' ? actual : '';
  if (store.startsWith('l1-notes:')) return `${scope}.layers`;
  return store === 'public' || store.startsWith('private:') ? `${scope}.visibility` : `${scope}.groups`;
}
