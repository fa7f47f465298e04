/** The tools of memory: the hot context of an entity, the stores that it shares, and the events that it hears of. */

import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { apart, checkedAs, fraction, optional, words } from '@reprise/org/contracts';
import { VISIBILITIES } from '../agent/capability.js';
import {
  acting,
  digest,
  entityId,
  nameId,
  noted,
  pageLimit,
  reading,
  tier,
  time,
  timeOrNull,
  told,
} from '../cell/statement.js';
import { l1Patch } from './l1.js';

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

/** The id of an item, as callers write and read it. Stores and their numbers have narrower bounds: the entity knows them. */
export const itemIdShown = noted(checkedAs(z.string().regex(/^[!-~]{1,200}#[1-9][0-9]{0,14}$/), itemId), {
  id: 'ItemId',
});

/** The id of an archive item: what an agent was about when it was deactivated, as its parent keeps it. */
export const ARCHIVE_ID = /^agent-archive-[a-f0-9]{64}-[0-9]{1,16}$/;

const archiveId = noted(z.string().regex(ARCHIVE_ID), { id: 'ArchiveId' });

/** The id of an archive item. */
export function archiveIdOf(agent_id: string, at: number): string {
  return `agent-archive-${agent_id}-${at}`;
}

/** The verdicts on an item. */
export const VERDICTS = ['right', 'wrong', 'retract'] as const;

/** What a verdict rests on: a person, another trusted source, or what came true. */
export const BASES = ['user', 'cross_reference', 'temporal'] as const;

const text = z.string();
const state = z.enum(['live', 'quarantined', 'archived', 'superseded']);
const open = z.looseObject({});
const version = z.int().min(0);

/** Any JSON: nothing of it is checked. */
const anything = z.unknown();

/** A part of a hot context as a patch states it: absent to keep it, null to empty it. */
const part = z.nullable(open);
const notYours = told(anything, "Not the caller's to write.");

const patch = z.strictObject({
  identity: notYours,
  ...optional({
    active: part,
    prefs: part,
    delegation: part,
    ephemeral: part,
    agent: z.strictObject({
      parent_entity_id: notYours,
      agent_type: notYours,
      capabilities: notYours,
      ...optional({
        task: z.strictObject(
          optional({
            goal: text.max(20_000).nullable(),
            context: z.array(text).nullable(),
            progress: z.number().min(0).max(1).nullable(),
            findings: z.array(anything).nullable(),
          }),
        ),
        working_memory: part,
      }),
    }),
  }),
});

const hot = {
  version,
  updated_at: time,
  identity: open,
  active: anything,
  prefs: anything,
  delegation: anything,
  ephemeral: anything,
  agent: z.strictObject({
    parent_entity_id: entityId.nullable(),
    agent_type: text.nullable(),
    capabilities: open,
    task: z.strictObject({
      goal: anything,
      context: anything,
      progress: z.number().min(0).max(1).nullable(),
      findings: anything,
    }),
    working_memory: anything,
    event_queue: z.array(
      z.strictObject({ ...optional({ n: z.int().min(0) }), event: text, payload: open, timestamp: time }),
    ),
  }),
  chain_hash: digest,
  session_count: z.int().min(0),
  ...optional({ synced_hash: digest }),
};

const item = z.strictObject({
  item_id: itemIdShown,
  type: text,
  state,
  content: noted(text.nullable(), { description: 'Null when it was erased.' }),
  author: text,
  ...optional({ confidence: z.number().min(0).max(1), subject_key: text }),
  created_at: time,
  expires_at: timeOrNull,
  taken_over_from: told(entityId, 'The agent that brought the item back, when its author has taken it over.'),
  merged_by: told(entityId, 'Of an item that was merged without a review: the entity that merged it for its author.'),
  group: told(nameId, 'Of a staged item: the group that it is for.'),
  conflicts_with: told(itemIdShown, 'What that group says about the same subject.'),
});

/** The type of an item, as its writer names it. */
export const itemType = text.min(1).max(32);

/** The words of an item, kept as content that can be erased. */
export const itemWords = words().min(1).max(20_000);

/** What an item is about: items of one subject may contradict each other. */
export const subjectKey = text.min(1).max(128);

/** The tools of hot contexts and of stores, each stated once. */
export const memoryToolCalls = {
  memory_read_hot: reading({
    description: 'Reads a hot context: the own one, or that of an agent below.',
    args: optional({ entity_id: entityId }),
    answer: hot,
  }),
  memory_write_hot: acting({
    description: 'Changes the own hot context, when it still has the version that was read.',
    args: { patch: apart(patch), expected_version: version },
    also: { patch: l1Patch },
    answer: { version, chain_hash: digest },
  }),
  memory_write_warm: acting({
    description: 'Stores an item: in a group, or for oneself.',
    args: {
      ...optional({ store: z.enum(['notes', 'private', 'group']), group: nameId }),
      type: itemType,
      content: itemWords,
      visibility: z.enum(VISIBILITIES),
      confidence: told(fraction(), 'Below 0.3 the item is kept and not found until another entity validates it.'),
      ...optional({ subject_key: subjectKey, supersedes: itemIdShown }),
    },
    answer: { item_id: itemIdShown, state },
  }),
  memory_read_warm: reading({
    description: 'Reads an item, or those of a group or of a staging area in turn.',
    args: {
      item_id: told(z.union([itemIdShown, archiveId]), 'An item, or the archive of an agent that was deactivated.'),
      ...optional({
        /** A group, or the id of what an agent has brought back. */
        group: checkedAs(text.max(200), nameId),
        after: apart(text.refine((given) => /^[0-9]{1,11}$/.test(given), 'is no `next` of a page')),
      }),
      limit: pageLimit(MEMORY_BOUNDS.read, 20),
    },
    /** The number of the last item that was read. */
    also: optional({ after: z.int().min(0).max(999_999_999_000) }),
    answer: {
      items: z.array(item),
      ...optional({
        next: text,
        divergence: z.union([z.int().min(0), z.null()]),
        review: z.enum(['usual', 'forced']),
      }),
    },
  }),
  memory_search: reading({
    description: 'Finds items by words in the stores that the caller may read; the others are counted.',
    args: {
      query: text.min(1).max(1_000),
      ...optional({ groups: z.array(nameId).min(1).max(MEMORY_BOUNDS.stores) }),
      k: pageLimit(MEMORY_BOUNDS.found, 10),
    },
    answer: {
      items: z.array(z.strictObject({ item_id: itemIdShown, score: z.number(), rank: z.number() })),
      texts: noted(z.array(z.strictObject({ store: text, text })), {
        description: 'What was found, for a model: one text for each store.',
      }),
      withheld: z.int().min(0),
    },
  }),
  memory_share: acting({
    description: 'Copies an item into a group: the copy does not change with it.',
    args: { item_id: itemIdShown, group_id: nameId },
    answer: { item_id: itemIdShown, origin: itemIdShown, state },
  }),
  memory_assess: acting({
    description:
      'Judges an item of an agent: verdicts make its trust, and its trust the rows of stores that it reaches.',
    args: {
      item_id: itemIdShown,
      verdict: z.enum(VERDICTS),
      basis: z.enum(BASES),
      ...optional({ evidence_ref: apart(text.max(512)) }),
    },
    also: optional({ evidence_ref: ref() }),
    answer: {
      agent_id: entityId,
      observer_entity_id: entityId,
      accuracy: z.number().min(0).max(1).nullable(),
      score: z.number().min(0).max(1),
      observations: z.int().min(0),
      tier,
      window_start: timeOrNull,
      window_end: timeOrNull,
      last_updated: timeOrNull,
    },
  }),
  memory_validate: acting({
    description: 'Validates an item that another entity has quarantined: from then on it is found.',
    args: { item_id: itemIdShown },
    answer: { item_id: itemIdShown, state },
  }),
};

/** The id of an item. */
export function itemIdOf(store: string, id: number): string {
  return `${store}#${id}`;
}

/** The store and the number that an id names. */
export function itemOf(item_id: string): { readonly store: string; readonly id: number } {
  const at = item_id.lastIndexOf('#');
  return { store: item_id.slice(0, at), id: Number(item_id.slice(at + 1)) };
}

/** The events that can be subscribed to. */
export const SOCIETY_EVENTS = [
  'memory.written',
  'group.member_joined',
  'group.member_left',
  'swarm.task_complete',
  'trust.score_changed',
  'agent.status_changed',
] as const;

const count = z.int().min(0);

const event = z.strictObject({
  n: count,
  event: z.enum(SOCIETY_EVENTS),
  payload: z.looseObject({}),
  timestamp: time,
});

/** The tools of events and emergencies. */
export const eventCalls = {
  events_poll: reading({
    description: 'Reads the own inbox of events; older ones were dropped and counted where it was full.',
    args: {
      /** The number of the last event that was seen. */
      ...optional({ after: count }),
      limit: pageLimit(256, MEMORY_BOUNDS.polled),
    },
    answer: { events: z.array(event), next: count, dropped: count },
  }),
  group_emcon: acting({
    description: 'Switches emergency mode of a group: while it is on, writes are refused and reads go on.',
    args: { group_id: nameId, on: z.boolean() },
    answer: { group_id: nameId, emcon: z.boolean() },
  }),
};
