import { isRepriseError, type RepriseError } from '@reprise/contracts';

/**
 * Runs what must be refused and gives the refusal, so that a test can ask for exactly this one.
 *
 * @throws Error when nothing was refused, or when something other than a Reprise error escaped
 */
export function refusalOf(run: () => unknown): RepriseError {
  let result: unknown;
  try {
    result = run();
  } catch (error) {
    if (isRepriseError(error)) return error;
    throw new Error('something else than a refusal escaped', { cause: error });
  }
  throw new Error(`nothing was refused; got ${String(result)}`);
}
