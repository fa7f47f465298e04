/** What schemas of several tools share. Each of these stands under its name in the files that use it. */
import * as z from 'zod';
import {
  CAPABILITY_BOUNDS,
  GROUP_PATTERN,
  LAYERS,
  TOOL_PATTERN,
  VISIBILITIES,
} from '../pure/contracts/agent/capability.js';
import { AGENT_ID, AGENT_STATUSES, AGENT_TYPES, NAME_ID, SOCIETY_BOUNDS, TIERS } from '../pure/contracts/cell/names.js';
import { SOCIETY_EVENTS } from '../pure/contracts/entity/agent-calls.js';
import { ARCHIVE_ID } from '../pure/contracts/memory/calls.js';

/** What a JSON Schema says beyond what zod checks: names of definitions, formats, and that items are unique. */
interface SchemaNote {
  readonly [key: string]: unknown;
  readonly id?: string;
  readonly format?: string;
  readonly uniqueItems?: true;
  readonly description?: string;
}

/** The notes of the schemas of this package; zod's own registry is the apps'. */
export const NOTES = z.registry<SchemaNote>();

/** Gives a schema a name under which files define it. */
function def<S extends z.ZodType>(id: string, schema: S): S {
  NOTES.add(schema, { id });
  return schema;
}

/** A list in which nothing stands twice. */
function unique<S extends z.ZodType>(item: S, max?: number): z.ZodArray<S> {
  const list = max === undefined ? z.array(item) : z.array(item).max(max);
  const checked = list.refine((items) => new Set(items).size === items.length, { error: 'has an item twice' });
  return checked.register(NOTES, { uniqueItems: true });
}

export const AgentId = def('AgentId', z.string().regex(AGENT_ID));
export const EntityId = def('EntityId', z.union([z.string().regex(AGENT_ID), z.string().regex(NAME_ID)]));
export const GroupId = def('GroupId', z.string().regex(NAME_ID));
export const AgentType = def('AgentType', z.enum(AGENT_TYPES));
export const AgentStatus = def('AgentStatus', z.enum(AGENT_STATUSES));
export const CommandId = def('CommandId', z.string().min(1).max(128));
export const Time = def('Time', z.string()).register(NOTES, { id: 'Time', format: 'date-time' });
/** The tiers, without a name of their own. */
export const tier = () => z.enum(TIERS);

const GroupPattern = def('GroupPattern', z.string().regex(GROUP_PATTERN));
const ToolPattern = def('ToolPattern', z.string().regex(TOOL_PATTERN));

const MemoryScope = def(
  'MemoryScope',
  z.strictObject({
    layers: unique(z.enum(LAYERS)),
    groups: unique(GroupPattern, CAPABILITY_BOUNDS.groups),
    visibility: unique(z.enum(VISIBILITIES)),
  }),
);

const dimensions = () => ({
  memory_read: MemoryScope,
  memory_write: MemoryScope,
  tools: unique(ToolPattern, CAPABILITY_BOUNDS.tools),
  max_parallel_ops: z.int().min(1).max(CAPABILITY_BOUNDS.parallel),
  ttl_seconds: z.int().min(0).max(CAPABILITY_BOUNDS.ttl_seconds),
  autonomous: z.boolean(),
});

export const Capabilities = def('Capabilities', z.strictObject(dimensions()).partial());

export const CapabilityChange = def(
  'CapabilityChange',
  z.strictObject(
    Object.fromEntries(Object.entries(dimensions()).map(([name, schema]) => [name, schema.nullable().optional()])) as {
      [name in keyof ReturnType<typeof dimensions>]: z.ZodOptional<z.ZodNullable<ReturnType<typeof dimensions>[name]>>;
    },
  ),
).register(NOTES, {
  id: 'CapabilityChange',
  description: "An omitted dimension keeps its declared value; null takes the parent's.",
});

export const Subscription = def(
  'Subscription',
  z.strictObject({ event: z.enum(SOCIETY_EVENTS), group_id: GroupId.optional(), agent_id: AgentId.optional() }),
);

export const Subscriptions = z.array(Subscription).max(SOCIETY_BOUNDS.subscriptions);

export const AgentRow = def(
  'AgentRow',
  z.strictObject({
    agent_id: AgentId,
    parent_entity_id: EntityId,
    agent_type: AgentType,
    display_name: z.string(),
    created_at: Time,
    public_key: z.string(),
    status: AgentStatus,
    expires_at: z.union([Time, z.null()]).optional(),
  }),
);

export const Culture = def(
  'Culture',
  z.strictObject({
    broadcast_eagerness: z.enum(['chatty', 'moderate', 'taciturn']).default('chatty'),
    ttl_default: z.int().min(0).default(86_400),
    notification_policy: z.enum(['push', 'notify', 'silent']).default('push'),
    departure_policy: z.enum(['permissive', 'standard', 'restrictive']).default('permissive'),
  }),
);

export const Slot = def(
  'Slot',
  z.strictObject({
    slot: z.string().regex(/^[a-z0-9-]{1,32}$/),
    agent_type: AgentType,
    capabilities: Capabilities,
    count: z.int().min(1).max(64),
    agent: z.string().optional().register(NOTES, {
      description:
        "The name of a defined agent, or skill:<name> (resolved by the world's parts); the defined agent of the slot's name when absent.",
    }),
    task: z.string().max(20_000).optional(),
  }),
);

/** The number of an item in its store, and the store: `group:seed-drill#12`. */
export const ItemId = def('ItemId', z.string().regex(/^[!-~]{1,200}#[1-9][0-9]{0,14}$/));

/** The id of the archive of an agent. */
export const ArchiveId = def('ArchiveId', z.string().regex(ARCHIVE_ID));

/** The digest of a link of a chain. */
export const Digest = def('Digest', z.string().regex(/^[a-f0-9]{64}$/));

/** A page's continuation, and the most rows of a page. */
export const page = (max: number, usual: number) => ({
  after: z.string().optional(),
  limit: z.int().min(1).max(max).default(usual),
});
