/** What the server tells a page about a request that it does not carry out: a status and a sentence. */
import { isRepriseError } from 'reprise';
import { printError } from 'reprise/terminal';
import * as z from 'zod';

/** A request that is not carried out. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** Reports what was wrong with a request, but not what went wrong in the server. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof z.ZodError) return new Refusal(400, `Invalid request: ${z.prettifyError(error)}`);
  if (isRepriseError(error, 'invalid_argument') || isRepriseError(error, 'invalid_value'))
    return new Refusal(400, `Invalid request: ${error.message}`);
  if (isRepriseError(error, 'request_conflict'))
    return new Refusal(409, 'This id belongs to another message: send it with an id of its own.');
  if (isRepriseError(error, 'request_rejected')) return new Refusal(409, `Not now: ${error.message}`);
  if (isRepriseError(error, 'world_closed')) return new Refusal(503, 'The server is stopping. Try again in a moment.');
  printError(error);
  return new Refusal(500, 'The server failed. Its terminal shows why.');
}
