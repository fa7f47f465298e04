/** The state, tables and events of a store. */
import { NOTICES, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, creates, from } from '@reprise/kernel/define';
import { restEvent } from '../kit/rest.js';
import { memoryEvents, memoryTables } from './calls.js';
import { writeOperation } from './effects.js';
import { itemNumber, memoryItem } from './item.js';
import { LIVE_ITEMS_MAX } from './names.js';

const count = z.int().min(0);

/** The state of a store. */
export const storeState = z.strictObject({
  /** The number of the next item, and of the next message. */
  next: itemNumber,
  messages: count,
  /** The items that are live, and how many there may be. */
  live: count,
  max: z.int().min(1).max(LIVE_ITEMS_MAX),
});

/** The state of a store. */
export type StoreState = z.infer<typeof storeState>;

/** The tables of a store. */
export const storeTables = {
  items: memoryItem,
  /** By the digest of a write's author, origin and key: the item. */
  keys: itemNumber,
  /** By score, last use and number, the lowest first: the live items. */
  order: itemNumber,
  /** By the time at which they expire: the items that do. */
  expiry: itemNumber,
  ...memoryTables,
} as const;

/** How a store is made. Each cell that writes to a store makes it, so neither event refuses one that exists. */
export const storeOpening = {
  /** Makes the store, for at most 50,000 live items, and does nothing to one that exists. */
  'memory/Open@1': creates(from(z.strictObject({}), by.any)), // says nothing about its sender, and changes nothing
  /** Sets how many items are live at most. A store that exists is bounded by its maker and from outside only. */
  'memory/Bound@1': creates(from(z.strictObject({ max: storeState.shape.max }), by.outside, by.maker)),
} as const;

/**
 * `memory/Say@1`: a person or the app changes the store, from outside. Cells write by the effect `memory.write@1` instead,
 * which is judged by their rights.
 */
export const storeSay = z.strictObject({
  operation: writeOperation,
  /** The words of the person, where the item comes from them: the origin of a new item. */
  said_ref: z.exactOptional(ref()),
  /** Repeated in the fact `memory/Did@1`. */
  tag: z.string().min(1).max(256),
});

/** The events of a store that others send. */
export const storeCommands = { 'memory/Say@1': from(storeSay, by.outside) } as const;

/** The events of a store that it sends itself, or that the kernel sends. */
export const storeNews = {
  ...restEvent,
  ...memoryEvents,
  'sys/EffectOpened@1': NOTICES['sys/EffectOpened@1'],
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
} as const;
