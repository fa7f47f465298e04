/** The error for leaves that contradict each other: those of a snapshot that was changed. */
import { RepriseError } from '@reprise/contracts';

/**
 * The error for leaves that no fold can have written.
 *
 * @param what the contradiction, as a sentence
 * @param where the leaf or node
 */
export function damagedLeaves(what: string, where: string): RepriseError {
  return new RepriseError('journal_damaged', what, {
    where,
    hint: 'The snapshot was changed after it was written. Restore the store from a copy.',
  });
}
