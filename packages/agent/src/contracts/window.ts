/** The model's window on a transcript, as a session stores it. */
import { DROPPED_MAX, digestHex, PINS_MAX, ref } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { commandId } from './commands.js';

const count = z.int().min(0);

/** How many starts of exchanges are remembered: those that may stay, and one that is not complete yet. */
export const STARTS_MAX = 17;

/**
 * Why a summary replaces the conversation: its window fills, a command requested it, or a model refused it as too long.
 */
export const COMPACTION_CAUSES = ['pressure', 'command', 'context_limit'] as const;

/** Why a summary replaces the conversation. */
export type CompactionCause = (typeof COMPACTION_CAUSES)[number];

/** The reason of a due compaction, and the command that requested it, if one did. */
export const compactionDue = z.strictObject({ cause: z.enum(COMPACTION_CAUSES), command_id: z.nullable(commandId) });

/** The part of the transcript that the model is shown. */
export const contextWindow = z.strictObject({
  /** The items from this one on … */
  from: count,
  /** … behind a summary of those before it … */
  base_ref: z.nullable(ref()),
  /** … and those that were pinned. */
  pins: z.array(count).max(PINS_MAX),
  /** Files and images that were taken out of the conversation, by the digests of their content; absent for none. */
  dropped: z.exactOptional(z.array(digestHex()).max(DROPPED_MAX)),
  /** The starts of the last exchanges, with the tokens in the window at each: the candidates for the next `from`. */
  starts: z.array(z.tuple([count, count])).max(STARTS_MAX),
  /** Whether the last item awaits an answer: then the last exchange is not complete. */
  asked: z.boolean(),
  /** How many tokens the window had at the last step, and how they were counted; null before the first. */
  reading: z.nullable(z.strictObject({ tokens: count, by: z.enum(['usage', 'bytes']), of: z.nullable(count) })),
  /** The bytes in the window beyond that reading; absent before any size was stated. */
  unread: z.exactOptional(count),
  /** The bytes of instructions and tools that the reading includes. */
  read_definition: z.exactOptional(count),
  /** Whether a compaction is due before the next step, and why. */
  due: z.nullable(compactionDue),
});

/** The part of the transcript that the model is shown. */
export type ContextWindow = z.infer<typeof contextWindow>;
