/** The tools of memory: the hot context of an entity, and the stores that it shares. */
import * as z from 'zod';
import { ArchiveId, CommandId, Digest, EntityId, GroupId, ItemId, NOTES, page, Time, tier } from './defs.js';
import { toolsOf } from './tool.js';

const open = () => z.looseObject({});

/** Any JSON: it is there, and nothing else is checked. */
const anything = () => z.custom<unknown>((value) => value !== undefined);

const part = () => open().nullable().optional();
const notYours = () => anything().optional().register(NOTES, { description: "Not the caller's to write." });

const task = z.strictObject({
  goal: z.string().max(20_000).nullable().optional(),
  context: z.array(z.string()).nullable().optional(),
  progress: z.number().min(0).max(1).nullable().optional(),
  findings: z.array(anything()).nullable().optional(),
});

const event = z.strictObject({ n: z.int().min(0).optional(), event: z.string(), payload: open(), timestamp: Time });

const hot = z.strictObject({
  version: z.int().min(0),
  updated_at: Time,
  identity: open(),
  active: anything(),
  prefs: anything(),
  delegation: anything(),
  ephemeral: anything(),
  agent: z.strictObject({
    parent_entity_id: EntityId.nullable(),
    agent_type: z.string().nullable(),
    capabilities: open(),
    task: z.strictObject({
      goal: anything(),
      context: anything(),
      progress: z.number().min(0).max(1).nullable(),
      findings: anything(),
    }),
    working_memory: anything(),
    event_queue: z.array(event),
  }),
  chain_hash: Digest,
  session_count: z.int().min(0),
  synced_hash: Digest.optional(),
});

const state = () => z.enum(['live', 'quarantined', 'archived', 'superseded']);

const item = z.strictObject({
  item_id: ItemId,
  type: z.string(),
  state: state(),
  content: z.string().nullable().register(NOTES, { description: 'Null when it was erased.' }),
  author: z.string(),
  confidence: z.number().min(0).max(1).optional(),
  subject_key: z.string().optional(),
  created_at: Time,
  expires_at: z.union([Time, z.null()]),
  taken_over_from: EntityId.optional().register(NOTES, {
    description: 'The agent that brought the item back, when its author has taken it over.',
  }),
  merged_by: EntityId.optional().register(NOTES, {
    description: 'Of an item that was merged without a review: the entity that merged it for its author.',
  }),
  group: GroupId.optional().register(NOTES, { description: 'Of a staged item: the group that it is for.' }),
  conflicts_with: ItemId.optional().register(NOTES, { description: 'What that group says about the same subject.' }),
});

export const memoryTools = toolsOf({
  memory_read_hot: {
    description: 'Reads a hot context: the own one, or that of an agent below.',
    input: z.strictObject({ entity_id: EntityId.optional() }),
    output: hot,
  },
  memory_write_hot: {
    description: 'Changes the own hot context, when it still has the version that was read.',
    input: z.strictObject({
      patch: z.strictObject({
        identity: notYours(),
        active: part(),
        prefs: part(),
        delegation: part(),
        ephemeral: part(),
        agent: z
          .strictObject({
            parent_entity_id: notYours(),
            agent_type: notYours(),
            capabilities: notYours(),
            task: task.optional(),
            working_memory: part(),
          })
          .optional(),
      }),
      expected_version: z.int().min(0),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({ version: z.int().min(0), chain_hash: Digest }),
  },
  memory_write_warm: {
    description: 'Stores an item: in a group, or for oneself.',
    input: z.strictObject({
      store: z.enum(['notes', 'private', 'group']).optional(),
      group: GroupId.optional(),
      type: z.string().min(1).max(32),
      content: z.string().min(1).max(20_000),
      visibility: z.enum(['private', 'group', 'public']),
      confidence: z.number().min(0).max(1).optional().register(NOTES, {
        description: 'Below 0.3 the item is kept and not found until another entity validates it.',
      }),
      subject_key: z.string().min(1).max(128).optional(),
      supersedes: ItemId.optional(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({ item_id: ItemId, state: state() }),
  },
  memory_read_warm: {
    description: 'Reads an item, or those of a group or of a staging area in turn.',
    input: z.strictObject({
      item_id: z.union([ItemId, ArchiveId]).optional().register(NOTES, {
        description: 'An item, or the archive of an agent that was deactivated.',
      }),
      group: z.string().max(200).optional(),
      ...page(50, 20),
      after: z
        .string()
        .refine((text) => /^[0-9]{1,11}$/.test(text), { error: 'is no `next` of a page' })
        .optional(),
    }),
    output: z.strictObject({
      items: z.array(item),
      next: z.string().optional(),
      divergence: z.union([z.int().min(0), z.null()]).optional(),
      review: z.enum(['usual', 'forced']).optional(),
    }),
  },
  memory_search: {
    description: 'Finds items by words in the stores that the caller may read; the others are counted.',
    input: z.strictObject({
      query: z.string().min(1).max(1_000),
      groups: z.array(GroupId).min(1).max(32).optional(),
      k: z.int().min(1).max(50).default(10),
    }),
    output: z.strictObject({
      items: z.array(z.strictObject({ item_id: ItemId, score: z.number(), rank: z.number() })),
      texts: z
        .array(z.strictObject({ store: z.string(), text: z.string() }))
        .register(NOTES, { description: 'What was found, for a model: one text for each store.' }),
      withheld: z.int().min(0),
    }),
  },
  memory_share: {
    description: 'Copies an item into a group: the copy does not change with it.',
    input: z.strictObject({ item_id: ItemId, group_id: GroupId, command_id: CommandId.optional() }),
    output: z.strictObject({ item_id: ItemId, origin: ItemId, state: state() }),
  },
  memory_assess: {
    description:
      'Judges an item of an agent: verdicts make its trust, and its trust the rows of stores that it reaches.',
    input: z.strictObject({
      item_id: ItemId,
      verdict: z.enum(['right', 'wrong', 'retract']),
      basis: z.enum(['user', 'cross_reference', 'temporal']),
      evidence_ref: z.string().max(512).optional(),
      command_id: CommandId.optional(),
    }),
    output: z.strictObject({
      agent_id: EntityId,
      observer_entity_id: EntityId,
      accuracy: z.number().min(0).max(1).nullable(),
      score: z.number().min(0).max(1),
      observations: z.int().min(0),
      tier: tier(),
      window_start: z.union([Time, z.null()]),
      window_end: z.union([Time, z.null()]),
      last_updated: z.union([Time, z.null()]),
    }),
  },
  memory_validate: {
    description: 'Validates an item that another entity has quarantined: from then on it is found.',
    input: z.strictObject({ item_id: ItemId, command_id: CommandId.optional() }),
    output: z.strictObject({ item_id: ItemId, state: state() }),
  },
});
