/** The arguments of the tools about memory, events and groups, as an entity takes them: long texts are links. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { VISIBILITIES } from '../agent/capability.js';
import { NAME_ID } from '../cell/names.js';
import { l1Patch } from './l1.js';

const groupId = z.string().regex(NAME_ID);

/** The bounds of these tools. */
export const MEMORY_BOUNDS = {
  /** The stores that one search asks. */
  stores: 32,
  /** The items that one search finds. */
  found: 50,
  /** The items that one reading shows to a client; a model is shown 8 at a time. */
  read: 50,
  /** The events that one poll shows, where it does not say how many. */
  polled: 64,
  /** The confidence in millionths below which an item is kept and not found: 0.3. */
  quarantined_below_ppm: 300_000,
} as const;

/** The id of an item: the scope of its store and its number there. */
export const ITEM_ID = /^[!-"$-~]{1,180}#[1-9][0-9]{0,11}$/;

/** The id of an item. */
export const itemId = z.string().regex(ITEM_ID);

/** The id of an archive item: what an agent was about when it was deactivated, as its parent keeps it. */
export const ARCHIVE_ID = /^agent-archive-[a-f0-9]{64}-[0-9]{1,16}$/;

/** The id of an archive item. */
export function archiveIdOf(agent_id: string, at: number): string {
  return `agent-archive-${agent_id}-${at}`;
}

/** The verdicts on an item. */
export const VERDICTS = ['right', 'wrong', 'retract'] as const;

/** What a verdict rests on: a person, another trusted source, or what came true. */
export const BASES = ['user', 'cross_reference', 'temporal'] as const;

/** The arguments of each tool. */
export const memoryToolCalls = {
  memory_read_hot: z.strictObject({ entity_id: z.exactOptional(groupId) }),
  memory_write_hot: z.strictObject({ patch: l1Patch, expected_version: z.int().min(0) }),
  memory_write_warm: z.strictObject({
    store: z.exactOptional(z.enum(['notes', 'private', 'group'])),
    group: z.exactOptional(groupId),
    type: z.string().min(1).max(32),
    content_ref: ref(),
    summary_ref: ref(),
    visibility: z.enum(VISIBILITIES),
    confidence_ppm: z.exactOptional(z.int().min(0).max(1_000_000)),
    subject_key: z.exactOptional(z.string().min(1).max(128)),
    supersedes: z.exactOptional(itemId),
  }),
  memory_read_warm: z.strictObject({
    item_id: z.exactOptional(z.union([itemId, z.string().regex(ARCHIVE_ID)])),
    /** A group, or the id of what an agent has brought back. */
    group: z.exactOptional(groupId),
    /** The number of the last item that was read. */
    after: z.exactOptional(z.int().min(0).max(999_999_999_000)),
    limit: z.exactOptional(z.int().min(1).max(200)),
  }),
  memory_search: z.strictObject({
    query: z.string().min(1).max(1_000),
    groups: z.exactOptional(z.array(groupId).min(1).max(MEMORY_BOUNDS.stores)),
    k: z.exactOptional(z.int().min(1).max(MEMORY_BOUNDS.found)),
  }),
  memory_share: z.strictObject({ item_id: itemId, group_id: groupId }),
  memory_assess: z.strictObject({
    item_id: itemId,
    verdict: z.enum(VERDICTS),
    basis: z.enum(BASES),
    evidence_ref: z.exactOptional(ref()),
  }),
  memory_validate: z.strictObject({ item_id: itemId }),
  events_poll: z.strictObject({
    /** The number of the last event that was seen. */
    after: z.exactOptional(z.int().min(0)),
    limit: z.exactOptional(z.int().min(1).max(256)),
  }),
  group_emcon: z.strictObject({ group_id: groupId, on: z.boolean() }),
} as const;

/** The name of a tool about memory, events or groups. */
export type MemoryToolName = keyof typeof memoryToolCalls;

/** The arguments of a tool, as an entity takes them. */
export type MemoryToolCall<T extends MemoryToolName> = z.infer<(typeof memoryToolCalls)[T]>;

/** The id of an item. */
export function itemIdOf(store: string, id: number): string {
  return `${store}#${id}`;
}

/** The store and the number that an id names. */
export function itemOf(item_id: string): { readonly store: string; readonly id: number } {
  const at = item_id.lastIndexOf('#');
  return { store: item_id.slice(0, at), id: Number(item_id.slice(at + 1)) };
}
