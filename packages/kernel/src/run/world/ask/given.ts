/** Reads arguments where they enter. Not every caller has types, and looking at a thing may run code of its maker. */
import { isRepriseError, RepriseError } from '@reprise/contracts';

/**
 * Reads what somebody gave, once.
 *
 * @param what what it is, as the subject of a sentence
 * @param read looks at it; what it throws is no refusal of ours, unless it is one
 * @throws RepriseError `invalid_argument`
 */
export function readGiven<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (isRepriseError(cause)) throw cause;
    throw new RepriseError('invalid_argument', `${what} cannot be read`, {
      cause,
      hint: 'Give plain data: no accessors or proxies that throw, nothing absent that is needed.',
    });
  }
}
