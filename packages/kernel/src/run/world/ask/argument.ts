/** Reads arguments where they enter. Callers may be untyped, and reading a property may run code of the argument's author. */
import { isRepriseError, RepriseError } from '@reprise/contracts';

/**
 * Reads an argument, once.
 *
 * @param what the name of the argument, as the subject of a sentence
 * @param read reads it; an error that it throws becomes `invalid_argument`, unless it is already a refusal of ours
 * @throws RepriseError `invalid_argument`
 */
export function readArgument<T>(what: string, read: () => T): T {
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
