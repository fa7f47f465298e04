/** Calls of memory tools as an owner receives them, and what it declares to answer them. */

import { ownerReply } from '@reprise/agent/contracts';
import { address, NOTICES, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { scope, searchTerms, storeOperation, writeOperation, written } from './effects.js';
import { itemNumber, itemOrigin, linkedFact } from './item.js';
import { READ_ITEMS_MAX, SEARCH_ITEMS_MAX } from './names.js';

const count = z.int().min(0);

/** The arguments of each tool as an owner receives them: texts are links. */
export const memoryCalls = {
  memory_query: z.strictObject({
    query: z.exactOptional(searchTerms.shape.query),
    k: z.exactOptional(z.int().min(1).max(SEARCH_ITEMS_MAX)),
    tags: z.exactOptional(storeOperation.shape.tags),
    include_archived: z.exactOptional(z.boolean()),
    ids: z.exactOptional(z.array(itemNumber).min(1).max(READ_ITEMS_MAX)),
  }),
  memory_store: z.strictObject({
    content_ref: ref(),
    summary_ref: ref(),
    tags: z.exactOptional(storeOperation.shape.tags),
    result_id: z.exactOptional(count),
    task_id: z.exactOptional(count),
    key: z.exactOptional(z.string().min(1).max(64)),
  }),
  memory_update: z.strictObject({
    id: itemNumber,
    content_ref: z.exactOptional(ref()),
    summary_ref: z.exactOptional(ref()),
  }),
  memory_reinforce: z.strictObject({ id: itemNumber }),
  memory_demote: z.strictObject({ id: itemNumber }),
  memory_why: z.strictObject({ id: itemNumber }),
} as const;

/** The arguments of a tool, as an owner receives them. */
export type MemoryCallOf<T extends keyof typeof memoryCalls> = z.infer<(typeof memoryCalls)[T]>;

/** What a plan does with a store. */
export const memoryOperation = z.union([
  writeOperation,
  z.strictObject({ op: z.literal('search'), ...searchTerms.shape }),
  z.strictObject({ op: z.literal('read'), ids: z.array(itemNumber).min(1).max(READ_ITEMS_MAX) }),
  z.strictObject({ op: z.literal('why'), id: itemNumber }),
]);

/** What a plan does with a store. */
export type MemoryOperation = z.infer<typeof memoryOperation>;

/** The place of a call: who is answered, and which call. */
const callPlace = z.strictObject({ to: address, session: z.string(), call_id: z.string(), step_epoch: count });

/** An operation under way: an entry of the table `memory_calls`, by the ordinal of its plan. */
export const openMemoryCall = z.strictObject({
  /** The call that is answered; null for an operation of the owner itself. */
  call: z.nullable(callPlace),
  origin: z.nullable(itemOrigin),
  tag: z.string().max(256),
});

/** An operation under way. */
export type OpenMemoryCall = z.infer<typeof openMemoryCall>;

/** The tables that an owner declares, besides its own. */
export const memoryTables = { memory_calls: openMemoryCall } as const;

/** `memory/Done@1`: an operation on a store has ended. An owner's plan raises it. */
export const memoryDone = z.strictObject({
  store: scope,
  op: z.enum(['store', 'update', 'reinforce', 'demote', 'move', 'search', 'read', 'why']),
  /** Of a refusal: the code of the receipt; null when the operation took place. */
  code: z.nullable(z.string().max(96)),
  /** What a write did; null for other operations. */
  written: z.nullable(written),
  /** What a model is told: numbers as a value, and words by links. */
  reply: ownerReply,
});

/** An operation on a store has ended. */
export type MemoryDone = z.infer<typeof memoryDone>;

/** `memory/Did@1`: an operation of an owner itself has ended. */
export const didFact = z.strictObject({
  tag: openMemoryCall.shape.tag,
  op: memoryDone.shape.op,
  code: memoryDone.shape.code,
  written: memoryDone.shape.written,
});

/** The facts that an owner declares, besides its own. */
export const memoryFacts = { 'memory/Linked@1': linkedFact, 'memory/Did@1': didFact } as const;

/** The events that an owner declares, and passes to `memoryNews`. */
export const memoryEvents = {
  'memory/Done@1': from(memoryDone, by.ownPlan),
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
} as const;
