/** The tools that read and write a store. The owner of the session answers them: see `memoryCall`. */
import { defineOwnerTool, type Tool } from '@reprise/agent';
import { present, wellFormed } from '@reprise/contracts';
import * as z from 'zod';
import {
  type MemoryCallOf,
  type MemoryTool,
  READ_ITEMS_MAX,
  SEARCH_ITEMS_DEFAULT,
  SEARCH_ITEMS_MAX,
  TAG_LENGTH_MAX,
  TAGS_MAX,
  TEXT_LENGTH_MAX,
} from './pure/index.js';
import { keepText } from './texts.js';

const NUMBER_MAX = 999_999_999;

const id = z.int().min(1).max(NUMBER_MAX).describe('The number of the memory.');

const text = z
  .string()
  .min(1)
  .max(TEXT_LENGTH_MAX)
  .refine((given) => given.trim() !== '', 'is empty');

const tags = z.array(z.string().min(1).max(TAG_LENGTH_MAX)).max(TAGS_MAX);

const reason = z.string().max(500).describe('Why, in a few words.');

const query = defineOwnerTool({
  name: 'memory_query',
  description:
    'Searches the memories for words, the best first, or reads memories by their numbers. A search shows the summary of each; read by number for the whole text. Search before you ask for something that was said or found before.',
  args: z.strictObject({
    query: z.string().min(1).max(1_000).describe('Words to search for; any of them may match.').optional(),
    k: z
      .int()
      .min(1)
      .max(SEARCH_ITEMS_MAX)
      .describe(`How many memories at most; ${SEARCH_ITEMS_DEFAULT} when absent.`)
      .optional(),
    tags: tags.describe('Only memories with all of these tags.').optional(),
    include_archived: z.boolean().describe('Also memories that are no longer in use.').optional(),
    ids: z
      .array(id)
      .min(1)
      .max(READ_ITEMS_MAX)
      .describe('Numbers of memories to read, instead of a search.')
      .optional(),
  }),
  keep: (asked): MemoryCallOf<'memory_query'> => {
    const { query: words, ...others } = present(asked) as MemoryCallOf<'memory_query'>;
    return words === undefined ? others : { ...others, query: wellFormed(words) };
  },
});

const store = defineOwnerTool({
  name: 'memory_store',
  description:
    'Stores a memory: a finding, decision or preference that will matter later. Write it so that it makes sense alone. Name the result or the task that it comes from. With a key, the same memory stored again is the same memory: use one where you may be interrupted.',
  args: z.strictObject({
    text: text.describe('The memory; its first paragraph is its summary.'),
    tags: tags.describe('Short words to find it by. No personal data.').optional(),
    result_id: z.int().min(0).max(NUMBER_MAX).describe('The result that it comes from.').optional(),
    task_id: z.int().min(0).max(NUMBER_MAX).describe('The task that it comes from.').optional(),
    key: z.string().min(1).max(64).describe('A name of your choice for this memory of this result.').optional(),
  }),
  keep: async ({ text: words, ...others }, { content }): Promise<MemoryCallOf<'memory_store'>> => ({
    ...(await keepText(content, wellFormed(words))),
    ...(present(others) as Omit<MemoryCallOf<'memory_store'>, 'content_ref' | 'summary_ref'>),
  }),
});

const update = defineOwnerTool({
  name: 'memory_update',
  description: 'Replaces the text of a memory that is no longer right. Its number, score and origin stay.',
  args: z.strictObject({ id, text }),
  keep: async ({ id: of, text: words }, { content }): Promise<MemoryCallOf<'memory_update'>> => ({
    id: of,
    ...(await keepText(content, wellFormed(words))),
  }),
});

const reinforce = defineOwnerTool({
  name: 'memory_reinforce',
  description: 'Raises the score of a memory that proved useful: it is found earlier from then on.',
  args: z.strictObject({ id, reason: reason.optional() }),
  keep: ({ id: of }): MemoryCallOf<'memory_reinforce'> => ({ id: of }),
});

const demote = defineOwnerTool({
  name: 'memory_demote',
  description: 'Lowers the score of a memory that misled: it is found later from then on. It is never deleted.',
  args: z.strictObject({ id, reason: reason.optional() }),
  keep: ({ id: of }): MemoryCallOf<'memory_demote'> => ({ id: of }),
});

const why = defineOwnerTool({
  name: 'memory_why',
  description:
    'Explains where a memory comes from: its result, the task and plan behind it, and the words of the person that began it.',
  args: z.strictObject({ id }),
  keep: ({ id: of }): MemoryCallOf<'memory_why'> => ({ id: of }),
});

/** The tools of a store, by their names. An organization gives each of its agents those that the agent may use. */
export const memoryTools: Readonly<Record<MemoryTool, Tool>> = {
  memory_query: query as Tool,
  memory_store: store as Tool,
  memory_update: update as Tool,
  memory_reinforce: reinforce as Tool,
  memory_demote: demote as Tool,
  memory_why: why as Tool,
};
