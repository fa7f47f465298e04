/** The model's window on a transcript, as a session keeps it. */
import { PINS_MAX, ref } from '@reprise/contracts';
import * as z from 'zod';
import { commandId } from './commands.js';

const count = z.int().min(0);

/** Exchanges whose beginnings are known: those that may stay, and one that is not whole yet. */
export const STARTS_MAX = 17;

/** Why a conversation is replaced by a summary: its window fills, somebody asked, or a model refused it as too long. */
export const COMPACTION_CAUSES = ['pressure', 'command', 'context_limit'] as const;

/** Why a conversation is replaced by a summary. */
export type CompactionCause = (typeof COMPACTION_CAUSES)[number];

/** Why it is to be done; the command that asked, if one did. */
export const compactionDue = z.strictObject({ cause: z.enum(COMPACTION_CAUSES), command_id: z.nullable(commandId) });

/** What of the transcript the model is shown. */
export const contextWindow = z.strictObject({
  /** The items from this one on … */
  from: count,
  /** … behind a summary of those before it … */
  base_ref: z.nullable(ref()),
  /** … and those that were pinned. */
  pins: z.array(count).max(PINS_MAX),
  /** Where the last exchanges begin, and how many tokens the window held then: what may become the next `from`. */
  starts: z.array(z.tuple([count, count])).max(STARTS_MAX),
  /** Whether the last item awaits an answer: then the last exchange is not whole. */
  asked: z.boolean(),
  /** How many tokens it held at the last step, by what count; null before the first. */
  reading: z.nullable(z.strictObject({ tokens: count, by: z.enum(['usage', 'bytes']), of: z.nullable(count) })),
  /** The bytes that it holds beyond that reading; absent before the size of anything was stated. */
  unread: z.exactOptional(count),
  /** The bytes of instructions and tools that the reading includes. */
  read_definition: z.exactOptional(count),
  /** Whether it is to be compacted before the next step, and why. */
  due: z.nullable(compactionDue),
});

/** What of the transcript the model is shown. */
export type ContextWindow = z.infer<typeof contextWindow>;
