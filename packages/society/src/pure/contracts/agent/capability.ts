/**
 * Capabilities as their holders declare and read them: eight dimensions, in words of memory and tools. What they permit is
 * decided by the kernel's capabilities that are compiled from them.
 *
 * An absent dimension has the value of the parent; of a person without a parent, everything.
 */
import * as z from '@reprise/contracts/schema';
import { checkedAs, keptSchema, optional } from '@reprise/org/contracts';
import { noted } from '../cell/statement.js';

/** A group, a beginning of groups with a star, or all groups. */
export const GROUP_PATTERN = /^(\*|[a-z0-9][a-z0-9._:-]{0,126}\*?)$/;

/** A tool, a beginning of tools with a star, or all tools. */
export const TOOL_PATTERN = /^(\*|[A-Za-z0-9_.-]{1,63}\*?)$/;

/** The layers of memory: an entity's own notes, and the stores that it may share. */
export const LAYERS = ['l1', 'l2'] as const;

/** The kinds of shared stores. */
export const VISIBILITIES = ['private', 'group', 'public'] as const;

/** The bounds of declared capabilities. */
export const CAPABILITY_BOUNDS = {
  /** Patterns of groups in one scope. */
  groups: 64,
  /** The patterns of tools in one capability. */
  tools: 128,
  /** The operations under way at once. */
  parallel: 100,
  /** The longest life of an agent: ten years, in seconds. */
  ttl_seconds: 315_360_000,
  /** Groups that a high tier adds. */
  bonus_groups: 16,
} as const;

/** A list in which nothing stands twice. A model may be shown no bound; what is kept has at most `kept` items. */
function unique<S extends z.BuiltSchema>(item: S, kept: number, shown = z.array(item)) {
  const list = shown.refine((items) => new Set(items).size === items.length, 'has an item twice');
  return checkedAs(noted(list, { uniqueItems: true }), z.array(keptSchema(item)).max(kept));
}

/** A list of at most so many patterns. */
function patterns(id: string, pattern: RegExp, max: number) {
  const one = noted(z.string().regex(pattern), { id });
  return unique(one, max, z.array(one).max(max));
}

/** What an entity may read, or write. */
const memoryScopeShown = noted(
  z.strictObject({
    layers: unique(z.enum(LAYERS), LAYERS.length),
    groups: patterns('GroupPattern', GROUP_PATTERN, CAPABILITY_BOUNDS.groups),
    visibility: unique(z.enum(VISIBILITIES), VISIBILITIES.length),
  }),
  { id: 'MemoryScope' },
);

/** What an entity may read, or write. */
export const memoryScope = keptSchema(memoryScopeShown);

/** What an entity may read, or write. */
export type MemoryScope = z.infer<typeof memoryScope>;

/** The dimensions of capabilities, each with its schema. `ttl_seconds` 0 is no end. */
const dimensions = {
  memory_read: memoryScopeShown,
  memory_write: memoryScopeShown,
  tools: patterns('ToolPattern', TOOL_PATTERN, CAPABILITY_BOUNDS.tools),
  max_parallel_ops: z.int().min(1).max(CAPABILITY_BOUNDS.parallel),
  ttl_seconds: z.int().min(0).max(CAPABILITY_BOUNDS.ttl_seconds),
  autonomous: z.boolean(),
};

/** Capabilities as callers write and read them. */
export const capabilitiesShown = noted(z.strictObject(optional(dimensions)), { id: 'Capabilities' });

/** Capabilities as a registration declares them; what is absent is not permitted. */
export const capabilities = keptSchema(capabilitiesShown);

/** Capabilities as a registration declares them; what is absent is not permitted. */
export type Capabilities = z.infer<typeof capabilities>;

/** A change of capabilities, as callers write it. */
export const capabilityChange = noted(
  z.strictObject(
    optional({
      memory_read: z.nullable(dimensions.memory_read),
      memory_write: z.nullable(dimensions.memory_write),
      tools: z.nullable(dimensions.tools),
      max_parallel_ops: z.nullable(dimensions.max_parallel_ops),
      ttl_seconds: z.nullable(dimensions.ttl_seconds),
      autonomous: z.nullable(dimensions.autonomous),
    }),
  ),
  {
    id: 'CapabilityChange',
    description: "An omitted dimension keeps its declared value; null takes the parent's.",
  },
);

/** A change of capabilities: an absent dimension keeps its declared value, null takes the parent's. */
export type CapabilityChange = z.infer<typeof capabilityChange>;
