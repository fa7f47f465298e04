/**
 * Capabilities as their holders declare and read them: eight dimensions, in words of memory and tools. What they permit is
 * decided by the kernel's capabilities that are compiled from them.
 *
 * An absent dimension has the value of the parent; of a person without a parent, everything.
 */
import * as z from '@reprise/contracts/schema';

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

/** What an entity may read, or write. */
export const memoryScope = z.strictObject({
  layers: z.array(z.enum(LAYERS)).max(LAYERS.length),
  groups: z.array(z.string().regex(GROUP_PATTERN)).max(CAPABILITY_BOUNDS.groups),
  visibility: z.array(z.enum(VISIBILITIES)).max(VISIBILITIES.length),
});

/** What an entity may read, or write. */
export type MemoryScope = z.infer<typeof memoryScope>;

const tools = z.array(z.string().regex(TOOL_PATTERN)).max(CAPABILITY_BOUNDS.tools);
const parallel = z.int().min(1).max(CAPABILITY_BOUNDS.parallel);
const seconds = z.int().min(0).max(CAPABILITY_BOUNDS.ttl_seconds);

/** The dimensions of capabilities, each with its schema. `ttl_seconds` 0 is no end. */
const dimensions = {
  memory_read: memoryScope,
  memory_write: memoryScope,
  tools,
  max_parallel_ops: parallel,
  ttl_seconds: seconds,
  autonomous: z.boolean(),
};

/** Capabilities as a registration declares them; what is absent is not permitted. */
export const capabilities = z.strictObject({
  memory_read: z.exactOptional(dimensions.memory_read),
  memory_write: z.exactOptional(dimensions.memory_write),
  tools: z.exactOptional(dimensions.tools),
  max_parallel_ops: z.exactOptional(dimensions.max_parallel_ops),
  ttl_seconds: z.exactOptional(dimensions.ttl_seconds),
  autonomous: z.exactOptional(dimensions.autonomous),
});

/** Capabilities as a registration declares them; what is absent is not permitted. */
export type Capabilities = z.infer<typeof capabilities>;

/** A change of capabilities: an absent dimension keeps its declared value, null takes the parent's. */
export const capabilityChange = z.strictObject({
  memory_read: z.exactOptional(z.nullable(dimensions.memory_read)),
  memory_write: z.exactOptional(z.nullable(dimensions.memory_write)),
  tools: z.exactOptional(z.nullable(dimensions.tools)),
  max_parallel_ops: z.exactOptional(z.nullable(dimensions.max_parallel_ops)),
  ttl_seconds: z.exactOptional(z.nullable(dimensions.ttl_seconds)),
  autonomous: z.exactOptional(z.nullable(dimensions.autonomous)),
});

/** A change of capabilities: an absent dimension keeps its declared value, null takes the parent's. */
export type CapabilityChange = z.infer<typeof capabilityChange>;
