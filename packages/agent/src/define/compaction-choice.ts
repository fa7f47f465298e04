/** The compaction options of an agent, as authors write them and as they are recorded. */
import { fieldsOf, isFields, kindOfThing, RepriseError } from '@reprise/contracts';
import { type CompactionPolicy, compactionPolicy } from '../contracts/config.js';

/** How a session compacts its model's window. The transcript keeps everything; the model is shown less. */
export type CompactionChoice =
  | 'off'
  | {
      /** The pressure on the window, in percent, that starts a compaction: 70, 85 (default) or 95. */
      readonly at?: 70 | 85 | 95;
      /** How many of the last answers stay word for word, with their inputs and results; 6 when absent, 16 at most. */
      readonly keep?: number;
      /** The alias of the model that writes the summary; the session's own when absent. */
      readonly model?: string;
      /** The text that requests the summary, in place of the built-in one. */
      readonly ask?: string;
    };

/** The compaction options with all defaults filled in. */
export type ChosenCompaction = Omit<CompactionPolicy, 'ask_ref'> & { readonly ask: string };

const ASK =
  'Automatic request, not written by the user. The conversation above becomes too long and is about to be replaced by ' +
  'what you write now. Write a summary for one who goes on with the work in your place and has read none of it: what ' +
  'was asked for, in the words that matter; what was decided and why; what was done, with names, paths, numbers and ' +
  'identifiers exactly as they are; what was tried and failed; what is still open, and what comes next. Call no tools. ' +
  'Answer with the summary alone.';

/**
 * Fills in the defaults of the compaction options.
 *
 * @throws RepriseError `invalid_definition`
 */
export function chosenCompaction(choice: CompactionChoice, where: string): ChosenCompaction | null {
  if (choice === 'off') return null;
  if (!isFields(choice)) throw invalidCompaction(where, kindOfThing(choice));
  const { at = 85, keep = 6, model = null, ask = ASK, ...unknown } = choice;
  const policy = compactionPolicy.omit({ ask_ref: true }).safeParse({ at, keep, model });
  const [stranger] = Object.keys(unknown);
  if (policy.success && stranger === undefined && typeof ask === 'string' && ask.trim() !== '') {
    return Object.freeze({ ...policy.data, ask });
  }
  const field = stranger ?? (policy.success ? 'ask' : String(policy.error.issues[0]?.path[0]));
  throw invalidCompaction(`${where} compaction.${field}`, kindOfThing(fieldsOf(choice)[field]));
}

function invalidCompaction(where: string, actual: string): RepriseError {
  return new RepriseError('invalid_definition', 'invalid option "compaction"', {
    where,
    expected: "'off', or {at: 70 | 85 | 95, keep: 1 to 16, model, ask}",
    actual,
  });
}
