/** What the engine says when the leaves that it reads do not belong together: those of a snapshot that was changed. */
import { RepriseError } from '@reprise/contracts';

/**
 * The error of leaves that no fold leaves behind.
 *
 * @param what what is wrong with them, as a sentence
 * @param where the leaf or node
 */
export function damagedLeaves(what: string, where: string): RepriseError {
  return new RepriseError('journal_damaged', what, {
    where,
    hint: 'The snapshot was changed after it was written. Restore the store from a copy.',
  });
}
