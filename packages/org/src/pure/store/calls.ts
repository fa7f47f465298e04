/** Calls of memory tools as an owner receives them, and what it declares to answer them. */
import { ownerReply } from '@reprise/agent/contracts';
import { NOTICES } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, from } from '@reprise/kernel/define';
import { apart, type CallTo, optional, ownerTool, waitingCall, words } from '../kit/index.js';
import { scope, searchTerms, writeOperation, written } from './effects.js';
import { itemNumber, itemOrigin, itemTags, linkedFact } from './item.js';
import { READ_ITEMS_MAX, SEARCH_ITEMS_DEFAULT, SEARCH_ITEMS_MAX, TEXT_LENGTH_MAX } from './names.js';

const NUMBER_MAX = 999_999_999;

const id = z.int().min(1).max(NUMBER_MAX).describe('The number of the memory.');
const place = z.int().min(0).max(NUMBER_MAX);
const reason = apart(z.string().max(500)).describe('Why, in a few words.');

/** The text of a memory: it and its summary are stored as content that can be erased. */
const memory = words()
  .min(1)
  .max(TEXT_LENGTH_MAX)
  .refine((given) => given.trim() !== '', 'is empty');

/** The tools that read and write a store, with their arguments. */
export const memoryCalls = {
  memory_query: ownerTool({
    description:
      'Searches the memories for words, the best first, or reads memories by their numbers. A search shows the summary of each; read by number for the whole text. Search before you ask for something that was said or found before.',
    args: z.strictObject(
      optional({
        query: z.string().min(1).max(1_000).describe('Words to search for; any of them may match.'),
        k: z
          .int()
          .min(1)
          .max(SEARCH_ITEMS_MAX)
          .describe(`How many memories at most; ${SEARCH_ITEMS_DEFAULT} when absent.`),
        tags: itemTags.describe('Only memories with all of these tags.'),
        include_archived: z.boolean().describe('Also memories that are no longer in use.'),
        ids: z.array(id).min(1).max(READ_ITEMS_MAX).describe('Numbers of memories to read, instead of a search.'),
      }),
    ),
  }),
  memory_store: ownerTool({
    description:
      'Stores a memory: a finding, decision or preference that will matter later. Write it so that it makes sense alone. Name the result or the task that it comes from. With a key, the same memory stored again is the same memory: use one where you may be interrupted.',
    args: z.strictObject({
      text: memory.describe('The memory; its first paragraph is its summary.'),
      ...optional({
        tags: itemTags.describe('Short words to find it by. No personal data.'),
        result_id: place.describe('The result that it comes from.'),
        task_id: place.describe('The task that it comes from.'),
        key: z.string().min(1).max(64).describe('A name of your choice for this memory of this result.'),
      }),
    }),
  }),
  memory_update: ownerTool({
    description: 'Replaces the text of a memory that is no longer right. Its number, score and origin stay.',
    args: z.strictObject({ id, text: memory }),
  }),
  memory_reinforce: ownerTool({
    description: 'Raises the score of a memory that proved useful: it is found earlier from then on.',
    args: z.strictObject({ id, ...optional({ reason }) }),
  }),
  memory_demote: ownerTool({
    description: 'Lowers the score of a memory that misled: it is found later from then on. It is never deleted.',
    args: z.strictObject({ id, ...optional({ reason }) }),
  }),
  memory_why: ownerTool({
    description:
      'Explains where a memory comes from: its result, the task and plan behind it, and the words of the person that began it.',
    args: z.strictObject({ id }),
  }),
};

/** A tool that reads or writes a store. */
export type MemoryTool = keyof typeof memoryCalls;

/** The arguments of a tool, as an owner receives them. */
export type MemoryCallOf<T extends MemoryTool> = CallTo<(typeof memoryCalls)[T]>;

/** What a plan does with a store. */
export const memoryOperation = z.union([
  writeOperation,
  z.strictObject({ op: z.literal('search'), ...searchTerms.shape }),
  z.strictObject({ op: z.literal('read'), ids: z.array(itemNumber).min(1).max(READ_ITEMS_MAX) }),
  z.strictObject({ op: z.literal('why'), id: itemNumber }),
]);

/** What a plan does with a store. */
export type MemoryOperation = z.infer<typeof memoryOperation>;

/** An operation under way: an entry of the table `memory_calls`, by the ordinal of its plan. */
export const openMemoryCall = z.strictObject({
  /** The call that is answered; null for an operation of the owner itself. */
  call: z.nullable(waitingCall),
  origin: z.nullable(itemOrigin),
  tag: z.string().max(256),
});

/** An operation on a store that is under way. */
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
