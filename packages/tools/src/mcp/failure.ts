/**
 * What became of a call that was not answered: whether it may have happened, and whether the server has to be reached
 * anew. What nobody can tell counts as what may have happened.
 */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';

/**
 * `refused`: the server said no. `unreached`: nothing was done. `unknown`: nobody can tell. `too_much`: nobody can tell
 * either, since what the server said was too much to be read.
 */
export interface Missing {
  readonly kind: 'refused' | 'unreached' | 'unknown' | 'too_much';
  readonly why: string;
  /** Whether what held the connection is of no use any more. */
  readonly lost: boolean;
}

const NOT_SENT: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Reads an error of the MCP package. */
export function missingBy(error: unknown): Missing {
  const why = whyOf(error);
  if (error instanceof ProtocolError) return { kind: 'refused', why, lost: false };
  if (error instanceof SdkHttpError) return byStatus(error.status, why);
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected)
    return { kind: 'unreached', why, lost: true };
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return { kind: 'unknown', why, lost: false };
  if (codesOf(error).some((code) => NOT_SENT.includes(code))) return { kind: 'unreached', why, lost: true };
  return { kind: 'unknown', why, lost: true };
}

/** A server that answers by a status has seen the request; below 500 it has not taken it up. */
function byStatus(status: number, why: string): Missing {
  if (status === 404) return { kind: 'unreached', why, lost: true }; // its session is over
  return status < 500 ? { kind: 'refused', why, lost: false } : { kind: 'unknown', why, lost: true };
}

/** What is said of an error, with what caused it. */
export function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
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
