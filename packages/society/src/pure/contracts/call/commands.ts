/** Commands as an entity keeps them: calls that their callers named, and their answers. */
import { ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';

/** The bytes of an answer that is kept for repetitions: an entry of a table has at most 16 KiB. */
export const COMMAND_BYTES_MAX = 12_000;

/** The tables of an entity for commands. */
export const commandTables = {
  commands: z.strictObject({
    /** What the command was: a digest of the name of its tool and its arguments. */
    digest: z.string().max(64),
    /** Null while it has none, and for one that is too large to be kept. */
    answer: z.nullable(
      z.strictObject({
        value: value(),
        refs: z.array(z.strictObject({ label: z.string().max(64), ref: ref() })).max(8),
        is_error: z.boolean(),
      }),
    ),
  }),
};

/** The answer to another call under the id of a command that was taken: it says what to do. */
export const ANOTHER_CALL = {
  code: 'duplicate_command',
  problem: 'An earlier call, of another tool or with other arguments, has this command_id. Nothing was done now.',
  hint: 'Use a new command_id for every new call. To read the answer of the earlier call, repeat its tool and arguments.',
} as const;

/** The answer to a repetition of a command whose answer is not there to be repeated. */
export const NO_ANSWER_KEPT = {
  code: 'duplicate_command',
  problem: 'This call was taken before under this command_id. It was not done again, and its answer is not kept.',
  hint: 'Read what came of it, or call again under a new command_id to have it done again.',
} as const;
