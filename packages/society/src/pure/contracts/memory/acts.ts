/** What an entity does with the stores of a society, and what comes of it. */
import { ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  foundItem,
  ITEM_STATES,
  itemNumber,
  READ_ITEMS_MAX,
  readItem,
  scope,
  storeOperation,
  written,
} from '@reprise/org/contracts';
import { NAME_ID } from '../cell/names.js';
import { MEMORY_BOUNDS } from './tools.js';

const code = z.string().max(96);
const entityId = z.string().regex(NAME_ID);

/** What a copy of an item is written with: where, under which key, where it comes from, and when it ends. */
export const copyTarget = z.strictObject({
  to: scope,
  key: storeOperation.shape.key,
  origin: storeOperation.shape.origin,
  expires_at: z.nullable(z.int().min(0)),
});

/** What the plan of a memory call does with one store. */
export const memoryAct = z.discriminatedUnion('act', [
  /** Stores an item; `quarantine` keeps a new one out of the searches. */
  z.strictObject({ act: z.literal('write'), store: scope, operation: storeOperation, quarantine: z.boolean() }),
  /** Reads items by their numbers; `composed` also makes the text of what is in use, for a model. */
  z.strictObject({
    act: z.literal('read'),
    store: scope,
    ids: z.array(itemNumber).min(1).max(READ_ITEMS_MAX),
    composed: z.boolean(),
  }),
  /** Reads the items of a store after a number: those in use, and those in quarantine whose author is `own`. */
  z.strictObject({
    act: z.literal('page'),
    store: scope,
    after: z.int().min(0),
    limit: z.int().min(1).max(MEMORY_BOUNDS.read),
    own: z.string().max(360),
    composed: z.boolean(),
  }),
  /** Reads an item, and how the entity that judges it stands to its author. */
  z.strictObject({
    act: z.literal('judge'),
    store: scope,
    id: itemNumber,
    judge: entityId,
    parent: z.nullable(entityId),
  }),
  z.strictObject({
    act: z.literal('search'),
    stores: z.array(scope).min(1).max(MEMORY_BOUNDS.stores),
    query: z.string().max(1_000),
    k: z.int().min(1).max(MEMORY_BOUNDS.found),
  }),
  /** Copies an item to another store. */
  z.strictObject({
    act: z.literal('share'),
    store: scope,
    id: itemNumber,
    ...copyTarget.shape,
  }),
  z.strictObject({ act: z.literal('move'), store: scope, id: itemNumber, state: z.enum(ITEM_STATES) }),
]);

/** What the plan of a memory call does with one store. */
export type MemoryAct = z.infer<typeof memoryAct>;

/** `society/MemoryEnded@1`: what came of it. */
export const memoryEnded = z.strictObject({
  /** The call that it is for; null for an act of the entity itself. */
  call: z.nullable(z.string().max(64)),
  act: z.enum(['write', 'read', 'page', 'judge', 'search', 'share', 'move']),
  /** Of a refusal: the code of the receipt. */
  code: z.nullable(code),
  written: z.nullable(written),
  /** The items that were read, or the one that was shared. */
  items: z.array(readItem).max(MEMORY_BOUNDS.read),
  /** Of a page: the number after which the next one begins; null at the end. */
  next: z.nullable(z.int().min(1)),
  found: z.array(z.strictObject({ store: scope, ...foundItem.shape })).max(MEMORY_BOUNDS.found),
  /** The texts of what was found, by store. */
  texts: z.array(z.strictObject({ store: scope, ref: ref() })).max(MEMORY_BOUNDS.stores),
  /**
   * How a judge stands to the author: itself, below the author, the creator of the swarm that made the author, or none of
   * these. `stranger` is an author that is no entity.
   */
  standing: z.enum(['other', 'self', 'below', 'swarm', 'stranger']),
  /** The stores that were not searched, because the entity may not read them. */
  withheld: z.int().min(0),
});

/** What came of an act. */
export type MemoryEnded = z.infer<typeof memoryEnded>;
