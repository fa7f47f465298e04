/** What a handler may answer besides text and data. */
import type { Value } from '@reprise/contracts';
import type { Artifact } from '../contracts/tool-call.js';
import { type Duration, durationMs } from './duration.js';

const SPECIAL: unique symbol = Symbol.for('reprise.tool_result') as never;

/** A refusal or failure, told to the model as text. Made by {@link toolError}. */
export interface ToolError {
  readonly [SPECIAL]: 'error';
  readonly message: string;
}

/** Says that somebody else will finish the call. Made by {@link deferred}. */
export interface Deferral {
  readonly [SPECIAL]: 'deferred';
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly to?: string;
}

/**
 * Says that a call was done, and that what it came to could not be had or kept. Thrown or returned by a handler, or
 * thrown by its stream: the model reads that it was done, and never that it failed.
 *
 * @example throw new ResultLost('the answer broke off')
 */
export class ResultLost extends Error {
  override readonly name = 'ResultLost';
}

/** Says that nobody can tell whether the call happened. Made by {@link outcomeUnknown}. */
export interface UnknownOutcome {
  readonly [SPECIAL]: 'unknown';
  readonly error?: unknown;
}

/** An answer of several parts. Made by {@link toolParts}. */
export interface ToolParts {
  readonly [SPECIAL]: 'parts';
  readonly parts: readonly ToolPart[];
}

/** A part of an answer: text, data, or a file or image that was put into the content store with `ctx.put`. */
export type ToolPart = string | { readonly json: Value } | { readonly file: Artifact };

/** An output as it comes: text or bytes, kept whole however much it is. */
export type ToolStream = AsyncIterable<string | Uint8Array> | ReaderSource;

/** A stream of the web platform, where it cannot be iterated. */
export interface ReaderSource {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: string | Uint8Array | undefined }>;
    cancel(): Promise<unknown>;
  };
}

/**
 * What a handler answers: text, data (shown to the model as JSON), parts, a stream, a refusal, that it will come later,
 * that nobody can tell,
 * or that it was done and its result is lost.
 */
export type ToolAnswer<O> = O | ToolError | Deferral | UnknownOutcome | ResultLost | ToolParts | ToolStream;

/** Answers a call with a refusal or failure that the model reads and can act on. */
export function toolError(message: string): ToolError {
  return { [SPECIAL]: 'error', message };
}

/**
 * Says that somebody else will finish the call: a webhook, a person, a batch. The call outlives the process and is
 * never replayed; `world.settle` ends it.
 *
 * @param options `expiresIn`: when it is given up; `to`: who besides the host may settle it, as a pattern of principals
 * @throws RepriseError `invalid_argument` when `expiresIn` is no span
 */
export function deferred(options: { readonly expiresIn?: Duration; readonly to?: string } = {}): Deferral {
  const { expiresIn, to } = options;
  return {
    [SPECIAL]: 'deferred',
    ...(expiresIn === undefined ? {} : { expiresIn: durationMs(expiresIn, 'expiresIn') }),
    ...(to === undefined ? {} : { to }),
  };
}

/**
 * Says that nobody can tell whether the call happened: its answer was lost on the way. The model is told so, unless
 * `onUnknown` of the tool says otherwise.
 *
 * @param error what went wrong, for operators
 */
export function outcomeUnknown(error?: unknown): UnknownOutcome {
  return { [SPECIAL]: 'unknown', ...(error === undefined ? {} : { error }) };
}

/**
 * An answer of several parts, in order.
 *
 * @example return toolParts('Here is the chart.', { file: await ctx.put({ path: 'chart.png', bytes, mediaType: 'image/png' }) })
 */
export function toolParts(...parts: readonly ToolPart[]): ToolParts {
  return { [SPECIAL]: 'parts', parts };
}

/** Whether a handler's answer is a refusal. */
export function isToolError(answer: unknown): answer is ToolError {
  return specialOf(answer) === 'error';
}

/** Whether a handler hands its call on. */
export function isDeferral(answer: unknown): answer is Deferral {
  return specialOf(answer) === 'deferred';
}

/** Whether a handler says that nobody can tell. */
export function isUnknownOutcome(answer: unknown): answer is UnknownOutcome {
  return specialOf(answer) === 'unknown';
}

/** Whether a handler's answer has parts. */
export function isToolParts(answer: unknown): answer is ToolParts {
  return specialOf(answer) === 'parts';
}

/** Whether a handler's answer comes bit by bit. */
export function isToolStream(answer: unknown): answer is ToolStream {
  if (typeof answer !== 'object' || answer === null) return false;
  return Symbol.asyncIterator in answer || typeof (answer as Partial<ReaderSource>).getReader === 'function';
}

function specialOf(answer: unknown): 'error' | 'deferred' | 'unknown' | 'parts' | undefined {
  return typeof answer === 'object' && answer !== null && SPECIAL in answer
    ? (answer as ToolError | Deferral | UnknownOutcome | ToolParts)[SPECIAL]
    : undefined;
}
