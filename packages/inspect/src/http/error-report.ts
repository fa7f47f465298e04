/** Errors as answers: a status, and the error as JSON. No stack and no cause leaves the server. */
import { type ErrorCode, isRepriseError, type RepriseError } from '@reprise/contracts';
import { toJson } from '@reprise/operators/text';
import { HttpRefusal } from '@reprise/server/guard';
import type { ErrorReport } from '../contract/index.js';
import { Refusal } from './refusal.js';

/** What is answered in place of a report. */
interface ErrorAnswer {
  readonly status: number;
  readonly report: ErrorReport;
  readonly headers: Readonly<Record<string, string>>;
}

/** The statuses of codes that say what was wrong with the request; all others are the server's. */
const STATUSES: { readonly [C in ErrorCode]?: number } = {
  invalid_argument: 400,
  invalid_value: 400,
  invalid_name: 400,
  cell_absent: 404,
  unknown_reducer: 404,
  blob_missing: 404,
  blob_erased: 404,
};

/** An error as the answer to a request. */
export function errorAnswer(error: unknown): ErrorAnswer {
  if (error instanceof Refusal) return { ...errorAnswer(error.error), status: error.status, headers: error.headers };
  if (error instanceof HttpRefusal) {
    const { status, headers, message } = error;
    return { status, headers, report: { code: 'invalid_argument', message } };
  }
  if (!isRepriseError(error)) return { status: 500, headers: {}, report: UNEXPECTED };
  return { status: STATUSES[error.code] ?? 500, headers: {}, report: errorReport(error) };
}

/** An error as JSON. An error that is not of the closed list is a fault of this program: its words stay here. */
export function errorReport(error: unknown): ErrorReport {
  if (!isRepriseError(error)) return UNEXPECTED;
  const { code, what, details } = error;
  const { where, expected, actual, hint } = details;
  return {
    ...{ code, message: what },
    ...(where === undefined ? {} : { where }),
    ...(expected === undefined ? {} : { expected: textOf(expected) }),
    ...(actual === undefined ? {} : { actual: textOf(actual) }),
    ...(hint === undefined ? {} : { hint }),
  };
}

function textOf(thing: unknown): string {
  return typeof thing === 'string' ? thing : toJson(thing);
}

const UNEXPECTED: ErrorReport = {
  code: 'internal_error' satisfies RepriseError['code'],
  message: 'the server failed at this question',
  hint: 'The command that answers the same question says more. Please report it.',
};
