/** What a client is told of an error that refuses its call. */
import { type ErrorCode, isRepriseError } from '@reprise/contracts';
import type { McpAnswer } from '../protocol/mcp-types.js';

/** The codes of errors that refuse a request, with which the client can do something. Every other error is the server's. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'request_rejected',
  'request_conflict',
  'request_differs',
  'revision_conflict',
  'invalid_value',
  'event_invalid',
  'bound_exceeded',
  'cell_absent',
  'cell_failed',
  'blob_missing',
  'blob_erased',
  'effect_settled',
  'approval_stale',
  'rights_exceeded',
  'account_unknown',
]);

const DENIALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['cap_denied', 'policy_denied']);

/**
 * The answer to a call that a part refused by throwing.
 *
 * @throws the error, when it refuses nothing
 */
export function answerTo(error: unknown): McpAnswer {
  if (!isRepriseError(error)) throw error;
  if (DENIALS.has(error.code)) return refusal('capability_denied', error.what);
  if (REFUSALS.has(error.code)) return refusal(error.code, error.what);
  throw error;
}

/** What a function gives; undefined when the gate refuses it. */
export async function unlessDenied<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isRepriseError(error, 'cap_denied') || isRepriseError(error, 'policy_denied')) return undefined;
    throw error;
  }
}

/** What a function gives; undefined when the gate refuses it, or when what it is to read cannot exist. */
export async function unlessRefused<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await unlessDenied(read);
  } catch (error) {
    if (isRepriseError(error, 'invalid_argument')) return undefined; // such as the address of a cell with too long a key
    throw error;
  }
}

function refusal(error: string, detail: string): McpAnswer {
  return { structured: { error, detail }, isError: true };
}
