/** Things that a question names and that are not there. */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import { Refusal } from '../http/index.js';

/** An answer whose question was checked before: what is still wrong with it is that the thing is not there. @throws Refusal 404 */
export async function found<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw isRepriseError(error, 'invalid_argument') ? new Refusal(404, error) : error;
  }
}

/** The refusal of a question about something that is not there. */
export function absent(what: string, where: string, actual: unknown): Refusal {
  return new Refusal(404, new RepriseError('invalid_argument', what, { where, actual }));
}
