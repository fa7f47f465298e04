/** What the server tells a page about an error: a status and a sentence. */
import { isRepriseError } from 'reprise';
import { HttpRefusal } from 'reprise/server';
import { printError } from 'reprise/terminal';
import * as z from 'zod';

/** Reports what was wrong with a request, but not what went wrong in the server. */
export function refusalOf(error: unknown): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (error instanceof z.ZodError) return new HttpRefusal(400, `Invalid request: ${z.prettifyError(error)}`);
  if (isRepriseError(error, 'invalid_argument') || isRepriseError(error, 'invalid_value'))
    return new HttpRefusal(400, `Invalid request: ${error.message}`);
  if (isRepriseError(error, 'request_conflict'))
    return new HttpRefusal(409, 'This id belongs to another message: send it with an id of its own.');
  if (isRepriseError(error, 'request_rejected')) return new HttpRefusal(409, `Not now: ${error.message}`);
  if (isRepriseError(error, 'world_closed'))
    return new HttpRefusal(503, 'The server is stopping. Try again in a moment.');
  printError(error);
  return new HttpRefusal(500, 'The server failed. Its terminal shows why.');
}
