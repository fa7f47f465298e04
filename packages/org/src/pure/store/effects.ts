/**
 * The effects of a store. Each is judged with the store as its object: by the rights in the dimensions `mem_write` and
 * `mem_read`, with the store's scope.
 */
import { address, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { effectOf } from '../kit/definitions.js';
import { itemNumber, itemOrigin, itemTags, memoryItem } from './item.js';
import { CHAIN_MAX, ITEM_STATES, READ_ITEMS_MAX, SCOPE, SEARCH_ITEMS_MAX } from './names.js';

const count = z.int().min(0);

/** The scope of a store. */
export const scope = z.string().regex(SCOPE);

const { content_ref, summary_ref, type, trust, confidence_ppm, subject_key, memory_of_refs, expires_at } =
  memoryItem.shape;

/**
 * Stores an item. Writes of one author with one origin and one key are the same item: the first one counts. The origin
 * of a write is required.
 */
export const storeOperation = z.strictObject({
  op: z.literal('store'),
  key: z.string().min(1).max(128),
  origin: z.nullable(itemOrigin),
  content_ref,
  summary_ref,
  tags: itemTags,
  type: z.exactOptional(type),
  trust: z.exactOptional(trust),
  confidence_ppm: z.exactOptional(confidence_ppm),
  subject_key: z.exactOptional(subject_key),
  memory_of_refs: z.exactOptional(memory_of_refs),
  expires_at: z.exactOptional(expires_at),
  /** The item that this one takes the place of. */
  supersedes: z.exactOptional(itemNumber),
});

/** An operation that changes a store. */
export const writeOperation = z.discriminatedUnion('op', [
  storeOperation,
  z.strictObject({
    op: z.literal('update'),
    id: itemNumber,
    content_ref: z.exactOptional(content_ref),
    summary_ref: z.exactOptional(summary_ref),
    tags: z.exactOptional(itemTags),
    expires_at: z.exactOptional(expires_at),
  }),
  z.strictObject({ op: z.literal('reinforce'), id: itemNumber }),
  z.strictObject({ op: z.literal('demote'), id: itemNumber }),
  /** Moves an item to another state: archives it, quarantines it, or makes it live again. */
  z.strictObject({ op: z.literal('move'), id: itemNumber, state: z.enum(ITEM_STATES) }),
]);

/** An operation that changes a store. */
export type WriteOperation = z.infer<typeof writeOperation>;

/** What a write did: the item, whether it was there before, and what it is now. */
export const written = z.strictObject({
  id: itemNumber,
  existed: z.boolean(),
  score: memoryItem.shape.score,
  revision: memoryItem.shape.revision,
});

/** What a write did to an item. */
export type Written = z.infer<typeof written>;

/** `memory.write@1`: changes a store. The store's cell resolves it, in the frame in which it is emitted. */
export const memoryWrite = effectOf('memory.write@1', () => ({
  params: z.strictObject({ store: scope, at: address, operation: writeOperation }),
  receipt: written,
  guarantee: 'idempotent',
  rights: { mem_write: 'store' },
  settledBy: 'at',
}));

/** An item as it was read. */
export const readItem = z.strictObject({ id: itemNumber, ...memoryItem.shape });

/** An item as it was read. */
export type ReadItem = z.infer<typeof readItem>;

/**
 * `memory.read@1`: reads items by their numbers, which counts as a use of each. Numbers without an item are left out. The
 * store's cell resolves it, in the frame in which it is emitted. Without numbers it asks whether the store may be read.
 */
export const memoryRead = effectOf('memory.read@1', () => ({
  params: z.strictObject({
    store: scope,
    at: address,
    ids: z.array(itemNumber).max(READ_ITEMS_MAX),
    /** The reader did not ask for these items: it is shown them. That is no use of them. */
    shown: z.exactOptional(z.literal(true)),
  }),
  receipt: z.strictObject({ items: z.array(readItem).max(READ_ITEMS_MAX) }),
  guarantee: 'idempotent',
  rights: { mem_read: 'store' },
  settledBy: 'at',
}));

/** An item that was found: its number, its score, its rank by text, score and age, and where it comes from. */
export const foundItem = z.strictObject({
  id: itemNumber,
  score: memoryItem.shape.score,
  rank: count,
  task: z.exactOptional(count),
  result: z.exactOptional(count),
});

/** An item that was found. */
export type FoundItem = z.infer<typeof foundItem>;

/** What is searched for: words, or items by their numbers. */
export const searchTerms = z.strictObject({
  query: z.exactOptional(z.string().max(1_000)),
  ids: z.exactOptional(z.array(itemNumber).max(READ_ITEMS_MAX)),
  k: z.int().min(1).max(SEARCH_ITEMS_MAX),
  /** Only items that have all of these. */
  tags: z.exactOptional(itemTags),
  /** Also items that are archived, quarantined, superseded or expired. */
  all: z.boolean(),
});

/**
 * `memory.search@1`: finds the best items of a store, and composes a text of them for a model. It changes nothing. The
 * receipt holds numbers and ranks; the words are behind `text_ref`.
 */
export const memorySearch = effectOf('memory.search@1', () => ({
  params: z.strictObject({ store: scope, ...searchTerms.shape }),
  receipt: z.strictObject({
    items: z.array(foundItem).max(SEARCH_ITEMS_MAX),
    /** The text for a model; null when nothing was found. */
    text_ref: z.nullable(ref()),
  }),
  guarantee: 'idempotent',
  rights: { mem_read: 'store' },
}));

/** A step from an item towards the words of a person. */
export const chainStep = z.strictObject({
  kind: z.string().max(16),
  id: count,
  title: z.string().max(200),
  /** The frame that stated it. */
  seq: count,
});

/** A step from an item towards the words of a person. */
export type ChainStep = z.infer<typeof chainStep>;

/** `memory.why@1`: the steps from an item to the words of a person. It changes nothing. */
export const memoryWhy = effectOf('memory.why@1', () => ({
  params: z.strictObject({ store: scope, id: itemNumber }),
  receipt: z.strictObject({
    chain: z.array(chainStep).max(CHAIN_MAX),
    /** The words at the end of the chain, or null. */
    text_ref: z.nullable(ref()),
  }),
  guarantee: 'idempotent',
  rights: { mem_read: 'store' },
}));

/** The facts of a store. */
export const storeFacts = {
  'memory/Written@1': z.strictObject({
    id: itemNumber,
    content_ref,
    summary_ref,
    tags: itemTags,
    state: memoryItem.shape.state,
    score: memoryItem.shape.score,
    revision: memoryItem.shape.revision,
    last_used_at: count,
    expires_at,
    author: memoryItem.shape.author,
    origin: memoryItem.shape.origin,
  }),
  'memory/Scored@1': z.strictObject({ id: itemNumber, score: memoryItem.shape.score, last_used_at: count }),
  'memory/Archived@1': z.strictObject({ id: itemNumber, why: z.enum(['asked', 'bound', 'expired']) }),
} as const;
