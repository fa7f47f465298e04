/**
 * Classifies a call without an answer: whether it may have happened, and whether to reconnect to the server. An
 * unclear failure counts as one that may have happened.
 */

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { lineOfError } from '@reprise/contracts';
import { isLostAnswer } from '../judge/lost-answer.js';

/**
 * `refused`: the server rejected the call. `unreached`: nothing was done. `unknown`: the call may have happened.
 * `too_much`: the call may have happened, and its answer was too large to read.
 */
export interface Missing {
  readonly kind: 'refused' | 'unreached' | 'unknown' | 'too_much';
  readonly why: string;
  /** Whether the connection can no longer be used. */
  readonly lost: boolean;
}

const NOT_SENT: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Classifies an error of the MCP package. */
export function missingBy(error: unknown): Missing {
  const why = whyOf(error);
  if (isLostAnswer(error)) return { kind: 'unknown', why, lost: false };
  if (error instanceof ProtocolError) return { kind: 'refused', why, lost: false };
  if (error instanceof SdkHttpError) return byStatus(error.status, why);
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected)
    return { kind: 'unreached', why, lost: true };
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return { kind: 'unknown', why, lost: false };
  if (codesOf(error).some((code) => NOT_SENT.includes(code))) return { kind: 'unreached', why, lost: true };
  return { kind: 'unknown', why, lost: true };
}

/** A server that answers with a status has seen the request; a status below 500 means that it did not execute it. */
function byStatus(status: number, why: string): Missing {
  if (status === 404) return { kind: 'unreached', why, lost: true }; // the session no longer exists
  return status < 500 ? { kind: 'refused', why, lost: false } : { kind: 'unknown', why, lost: true };
}

/** The message of an error, with its causes. */
export function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return lineOfError(error);
  const { cause } = error;
  return cause instanceof Error && !error.message.includes(cause.message)
    ? `${error.message}: ${whyOf(cause)}`
    : error.message;
}

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error; typeof at === 'object' && at !== null; at = (at as { cause?: unknown }).cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string') codes.push(code);
  }
  return codes;
}
