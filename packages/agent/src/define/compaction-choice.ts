/** How a session makes room in its model's window, as people say it and as it is recorded. */
import { RepriseError } from '@reprise/contracts';
import { type CompactionPolicy, compactionPolicy } from '../contracts/config.js';

/** How room is made in a model's window. The transcript keeps everything; what the model is shown becomes shorter. */
export type CompactionChoice =
  | 'off'
  | {
      /** At which pressure on the window, in percent: 70, 85 (default) or 95. */
      readonly at?: 70 | 85 | 95;
      /** How many of the last answers stay word for word, with what was said to and by them; 6 when not said, 16 at most. */
      readonly keep?: number;
      /** The alias of the model that writes the summary; the session's own when not said. */
      readonly model?: string;
      /** What that model is asked for, in place of the text that is built in. */
      readonly ask?: string;
    };

/** How room is made, with everything said. */
export type ChosenCompaction = Omit<CompactionPolicy, 'ask_ref'> & { readonly ask: string };

const ASK =
  'Automatic request, not written by the user. The conversation above becomes too long and is about to be replaced by ' +
  'what you write now. Write a summary for whoever goes on with the work in your place and has read none of it: what ' +
  'was asked for, in the words that matter; what was decided and why; what was done, with names, paths, numbers and ' +
  'identifiers exactly as they are; what was tried and failed; what is still open, and what comes next. Call no tools. ' +
  'Answer with the summary alone.';

/**
 * What is said of compaction, with its defaults.
 *
 * @throws RepriseError `invalid_definition`
 */
export function chosenCompaction(choice: CompactionChoice, where: string): ChosenCompaction | null {
  if (choice === 'off') return null;
  const { at = 85, keep = 6, model = null, ask = ASK, ...unknown } = choice;
  const policy = compactionPolicy.omit({ ask_ref: true }).safeParse({ at, keep, model });
  const [stranger] = Object.keys(unknown);
  if (policy.success && stranger === undefined && typeof ask === 'string' && ask.trim() !== '') {
    return Object.freeze({ ...policy.data, ask });
  }
  const field = stranger ?? (policy.success ? 'ask' : String(policy.error.issues[0]?.path[0]));
  throw new RepriseError('invalid_definition', 'this is not a way to make room', {
    where: `${where} compaction.${field}`,
    expected: "'off', or {at: 70 | 85 | 95, keep: 1 to 16, model, ask}",
    actual: (choice as Readonly<Record<string, unknown>>)[field],
  });
}
