/** Refusals as problem details (RFC 9457), with the code of the closed list. */
import { type ErrorCode, isRepriseError } from '@reprise/contracts';

/** The codes of refusals: those of errors, and those that only a request can cause. */
type ApiCode =
  | ErrorCode
  | 'not_found'
  | 'not_json'
  | 'wrong_method'
  | 'wrong_cursor'
  | 'may_not_start'
  | 'too_many'
  | 'token_needed'
  | 'foreign'
  | 'closing';

/** A request that is refused, in words for its client. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: ApiCode,
    readonly detail: string,
    /** Where in the request, what belongs there, and why. */
    readonly about: Readonly<Record<string, string>> = {},
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }
}

/** Nothing is there, or the principal may not know of it: both look the same. */
export const notFound = (what: string): Problem =>
  new Problem(404, 'not_found', `${what} is not there, or you may not read it.`);

/** The answer that says it. */
function problemResponse(
  status: number,
  code: string,
  detail: string,
  more: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = JSON.stringify({
    type: `urn:reprise:error:${code}`,
    title: TITLES[status] ?? 'Error',
    status,
    code,
    detail,
    ...more,
  });
  return new Response(body, { status, headers: { 'content-type': 'application/problem+json', ...headers } });
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content too large',
  422: 'Unprocessable content',
  429: 'Too many requests',
  500: 'Internal server error',
  503: 'Service unavailable',
};

/** The status of errors with which a client can do something. Every other error is the server's. */
const STATUS: Partial<Readonly<Record<ErrorCode, number>>> = {
  invalid_argument: 400,
  invalid_value: 400,
  event_invalid: 400,
  bound_exceeded: 413,
  cap_denied: 403,
  policy_denied: 403,
  rights_exceeded: 403,
  request_rejected: 409,
  request_conflict: 409,
  request_differs: 409,
  revision_conflict: 409,
  effect_settled: 409,
  approval_stale: 409,
  cell_failed: 409,
  unknown_agent: 409,
  unknown_model: 409,
  cell_absent: 404,
  blob_missing: 404,
  blob_erased: 410,
  world_closed: 503,
};

/** The refusal that an error is; undefined for an error of the server, of which a client is told nothing. */
export function refusalOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!isRepriseError(error)) return undefined;
  const status = STATUS[error.code];
  if (status === undefined) return undefined;
  const { reason, where, expected } = error.details;
  const about = error.code === 'invalid_argument' ? { where, expected } : { reason };
  return new Problem(status, error.code, error.what, texts(about));
}

/** The answer that tells a refusal, as {@link refusalOf} finds it. */
export function problemOf(error: unknown): Response | undefined {
  const refused = refusalOf(error);
  return refused && problemResponse(refused.status, refused.code, refused.detail, refused.about, refused.headers);
}

function texts(facts: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(facts).filter((fact): fact is [string, string] => typeof fact[1] === 'string'),
  );
}

/** The codes of refusals that the door makes, by their status. */
const DOOR_CODES: Readonly<Record<number, ApiCode>> = {
  401: 'token_needed',
  403: 'foreign',
  404: 'not_found',
  405: 'wrong_method',
  413: 'bound_exceeded',
  429: 'too_many',
  500: 'internal_error',
  503: 'closing',
};

/** The answer of a surface of this kind to a request that the door refuses. */
export function doorRefusal(status: number, words: string, headers: Record<string, string> = {}): Response {
  return problemResponse(status, DOOR_CODES[status] ?? 'internal_error', words, {}, headers);
}
