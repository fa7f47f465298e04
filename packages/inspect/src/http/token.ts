/** The token of one start of the server: it stands in the fragment of the address, and each question sends it in a header. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { RepriseError } from '@reprise/contracts';
import { Refusal } from './refusal.js';

/** The header that each question sends the token in. */
const TOKEN_HEADER = 'x-reprise-token';

/** A token that nobody can guess: 32 random bytes as base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Refuses a request without the token. The comparison takes the same time wherever the first difference is. @throws Refusal 401 */
export function requireToken(headers: IncomingHttpHeaders, token: string): void {
  const given = headers[TOKEN_HEADER];
  if (typeof given === 'string' && timingSafeEqual(digest(given), digest(token))) return;
  const error = new RepriseError('cap_denied', 'the request does not have the token of this server', {
    where: TOKEN_HEADER,
    hint: 'Open the line that `reprise inspect` printed: the token changes with each start.',
  });
  throw new Refusal(401, error);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
