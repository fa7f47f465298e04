/**
 * What came of one attempt of a call, here or at another process. Only what the attempt says for certain ends a call; after
 * all else it is made again, with the same request id.
 */
import {
  ERROR_CODES,
  type ErrorCode,
  isRepriseError,
  lineOfError,
  RepriseError,
  shortText,
  type Value,
  wellFormed,
} from '@reprise/contracts';
import { decode, encode } from '@reprise/kernel';

/** The most bytes of an input or an output: more belongs into the content of a world. */
export const CALL_BYTES_MAX = 1024 * 1024;

/** Why an attempt gave no answer. The list is closed; `docs/errors/call_unanswered.md` explains each. */
export const REASONS = [
  'locked',
  'leaving',
  'unknown_operation',
  'failed',
  'wrong_release',
  'unreachable',
  'silent',
  'cut',
  'forged',
  'too_large',
  'refused',
  'slow',
  'aborted',
  'waiting',
  'forgotten',
  'abandoned',
] as const;

/** Why an attempt gave no answer, from a closed list. */
export type UnansweredReason = (typeof REASONS)[number];

/** What came of an attempt. */
export type Outcome =
  | { readonly kind: 'answer'; readonly output: Uint8Array }
  /** The call has failed: another attempt would fail the same way. */
  | {
      readonly kind: 'error';
      readonly error: RepriseError;
      /** The world did not open, so that nothing was done. Said in the process of the attempt alone. */
      readonly isUnopened?: true;
    }
  /** Another process has the world open, at this address when it said one. */
  | { readonly kind: 'elsewhere'; readonly address: string | undefined }
  /** Whether it was executed is unknown, or it was not. */
  | { readonly kind: 'again'; readonly reason: UnansweredReason; readonly error?: unknown };

/** The bytes of an error that travel at most: its message is a line, and its details are for a program. */
const DETAILS_BYTES_MAX = 16 * 1024;

/** The longest sentence of an error that travels, in UTF-16 units. */
const WHAT_UNITS_MAX = 4_096;

/** Writes an outcome. Never throws. Of an error go its code, its sentence and its details, and never its cause or its stack. */
export function writeOutcome(outcome: Outcome): Uint8Array {
  switch (outcome.kind) {
    case 'answer':
      return encode({ kind: 'answer', output: outcome.output });
    case 'error':
      return encode({ kind: 'error', ...errorFields(outcome.error) });
    case 'elsewhere':
      return encode({ kind: 'elsewhere', address: outcome.address });
    case 'again':
      return encode({ kind: 'again', reason: outcome.reason, ...errorFields(outcome.error) });
  }
}

/** Reads an outcome that another process wrote. @returns undefined for anything else */
export function readOutcome(bytes: Uint8Array): Outcome | undefined {
  const fields = mapOf(bytes);
  const { kind, output, address, reason } = fields;
  if (kind === 'answer' && output instanceof Uint8Array) return { kind, output };
  if (kind === 'elsewhere' && (address === undefined || typeof address === 'string')) return { kind, address };
  const error = errorOf(fields);
  if (kind === 'error' && error !== undefined) return { kind, error };
  const known = REASONS.find((one) => one === reason);
  if (kind === 'again' && known !== undefined)
    return { kind, reason: known, ...(error === undefined ? {} : { error }) };
  return undefined;
}

function mapOf(bytes: Uint8Array): Readonly<Record<string, Value>> {
  try {
    const value = decode(bytes);
    const isMap = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
    return isMap ? (value as Readonly<Record<string, Value>>) : {};
  } catch {
    return {};
  }
}

/**
 * The error of Reprise that was thrown, when it is one from head to foot. Code of an app may throw anything, also what only
 * looks like one, or cannot be looked at.
 */
export function errorIn(thrown: unknown): RepriseError | undefined {
  try {
    if (!isRepriseError(thrown)) return undefined;
    const { code, what, details } = thrown;
    const isWhole = ERROR_CODES.includes(code) && typeof what === 'string' && typeof details === 'object';
    return isWhole && details !== null ? thrown : undefined;
  } catch {
    return undefined;
  }
}

function errorFields(thrown: unknown): Readonly<Record<string, Value>> {
  if (thrown === undefined) return {};
  const error = errorIn(thrown);
  if (error === undefined) return { code: 'operation_failed', what: wellFormed(lineOfError(thrown)), details: {} };
  return { code: error.code, what: shortText(wellFormed(error.what), WHAT_UNITS_MAX), details: plain(error.details) };
}

/** Details as values: anything else becomes text, as an error shows it. */
function plain(details: Readonly<Record<string, unknown>>): Readonly<Record<string, Value>> {
  const kept: [string, Value][] = [];
  let left = DETAILS_BYTES_MAX;
  for (const name of Object.keys(details).filter((one) => one !== 'cause')) {
    const [known, value] = [wellFormed(name), asValue(() => details[name])];
    left -= encode([known, value]).length;
    if (left >= 0) kept.push([known, value]);
  }
  return Object.fromEntries(kept);
}

function asValue(read: () => unknown): Value {
  try {
    const detail = read();
    return isWritten(detail) ? decode(encode(detail)) : wellFormed(lineOfError(detail));
  } catch (error) {
    return wellFormed(lineOfError(error)); // reading it throws
  }
}

function isWritten(detail: unknown): boolean {
  try {
    encode(detail);
    return true;
  } catch {
    return false;
  }
}

function errorOf({ code, what, details }: Readonly<Record<string, Value>>): RepriseError | undefined {
  const known = ERROR_CODES.find((one): one is ErrorCode => one === code);
  if (known === undefined || typeof what !== 'string' || typeof details !== 'object') return undefined;
  return new RepriseError(known, what, { ...(details as Readonly<Record<string, Value>>) });
}
