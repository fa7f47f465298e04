/** The special answers of a handler, besides text and data. */

import type { Usage, Value } from '@reprise/contracts';
import { anObject, aText, type KnownOptions, requireArgument, requireKnownOptions } from '@reprise/contracts';
import { type Duration, durationMs } from '../../contracts/duration.js';
import type { Artifact } from '../../contracts/tool-call.js';

const SPECIAL: unique symbol = Symbol.for('reprise.tool_result') as never;

/** A refusal or failure that the model reads as text. Made by {@link toolError}. */
export interface ToolError {
  readonly [SPECIAL]: 'error';
  readonly message: string;
  readonly usage?: Usage;
}

/** Defers the call to an outside party. Made by {@link deferred}. */
export interface Deferral {
  readonly [SPECIAL]: 'deferred';
  /** The time until the call expires, in milliseconds. */
  readonly expiresIn?: number;
  readonly to?: string;
}

/**
 * Reports that a call was done but its result was lost. A handler throws or returns it, or its stream throws it: the
 * model reads that the call was done, and never that it failed.
 *
 * @example throw new ResultLost('the answer broke off')
 */
export class ResultLost extends Error {
  override readonly name = 'ResultLost';
}

/** Reports that it is unknown whether the call happened. Made by {@link outcomeUnknown}. */
export interface UnknownOutcome {
  readonly [SPECIAL]: 'unknown';
  readonly error?: unknown;
}

/** An answer of several parts. Made by {@link toolParts}. */
export interface ToolParts {
  readonly [SPECIAL]: 'parts';
  readonly parts: readonly ToolPart[];
  readonly usage?: Usage;
}

/** What is known of an answer besides its content. */
interface AnswerOptions {
  /** What the call used, for example of a model: it counts in the usage of the run, and against its limits. */
  readonly usage?: Usage;
}

/** A part of an answer: text, data, or a file or image that was put into the content store with `ctx.put`. */
export type ToolPart = string | { readonly json: Value } | { readonly file: Artifact };

/** An output that arrives as a stream of text or bytes; all of it is stored, up to the bound of an output. */
export type ToolStream = AsyncIterable<string | Uint8Array> | ReaderSource;

/** A web stream, for runtimes where it is not iterable. */
export interface ReaderSource {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: string | Uint8Array | undefined }>;
    cancel(): Promise<unknown>;
  };
}

/**
 * An answer of a handler: text, data (shown to the model as JSON), parts, a stream, a refusal, a deferral, an unknown
 * outcome, or a lost result.
 */
export type ToolAnswer<O> = O | ToolError | Deferral | UnknownOutcome | ResultLost | ToolParts | ToolStream;

const ANSWER_OPTIONS: KnownOptions<AnswerOptions> = { usage: anObject };
const DEFERRED_OPTIONS = { expiresIn: true, to: aText } as const;

/** Makes a refusal or failure that the model reads and can act on. */
export function toolError(message: string, options: AnswerOptions = {}): ToolError {
  requireArgument(typeof message === 'string', 'toolError(message)', 'text for the model', message);
  requireKnownOptions(options, ANSWER_OPTIONS, 'toolError');
  const { usage } = options;
  return { [SPECIAL]: 'error', message, ...(usage === undefined ? {} : { usage }) };
}

/**
 * Defers the call to an outside party: a webhook, a person, a batch. The call outlives the process and is never
 * executed again; `world.settle` ends it.
 *
 * @param options `expiresIn`: the time until the call expires; `to`: who may settle it besides the operator, as a
 * pattern of principals
 * @throws RepriseError `invalid_argument` when `expiresIn` is not a duration
 */
export function deferred(options: { readonly expiresIn?: Duration; readonly to?: string } = {}): Deferral {
  requireKnownOptions(options, DEFERRED_OPTIONS, 'deferred');
  const { expiresIn, to } = options;
  return {
    [SPECIAL]: 'deferred',
    ...(expiresIn === undefined ? {} : { expiresIn: durationMs(expiresIn, 'expiresIn') }),
    ...(to === undefined ? {} : { to }),
  };
}

/**
 * Reports that it is unknown whether the call happened, because its answer was lost. The model is told so, unless
 * `onUnknown` of the tool states another reaction.
 *
 * @param error the error behind it, for operators
 */
export function outcomeUnknown(error?: unknown): UnknownOutcome {
  return { [SPECIAL]: 'unknown', ...(error === undefined ? {} : { error }) };
}

/**
 * Makes an answer of several parts, in order. Given as a list, they can be followed by what the call used.
 *
 * @example return toolParts('Here is the chart.', { file: await ctx.put({ path: 'chart.png', bytes, mediaType: 'image/png' }) })
 * @example return toolParts(['Done.'], { usage: { tokens_in: 1_200, tokens_out: 80 } })
 */
export function toolParts(parts: readonly ToolPart[], options?: AnswerOptions): ToolParts;
export function toolParts(...parts: readonly ToolPart[]): ToolParts;
export function toolParts(...given: readonly unknown[]): ToolParts {
  const [first, options = {}] = given;
  if (!Array.isArray(first)) return { [SPECIAL]: 'parts', parts: given as readonly ToolPart[] };
  const { usage } = options as AnswerOptions;
  return { [SPECIAL]: 'parts', parts: first, ...(usage === undefined ? {} : { usage }) };
}

/** Whether a handler's answer is a refusal. */
export function isToolError(answer: unknown): answer is ToolError {
  return specialOf(answer) === 'error';
}

/** Whether a handler defers its call. */
export function isDeferral(answer: unknown): answer is Deferral {
  return specialOf(answer) === 'deferred';
}

/** Whether a handler reports an unknown outcome. */
export function isUnknownOutcome(answer: unknown): answer is UnknownOutcome {
  return specialOf(answer) === 'unknown';
}

/** Whether a handler's answer has parts. */
export function isToolParts(answer: unknown): answer is ToolParts {
  return specialOf(answer) === 'parts';
}

/** Whether a handler's answer is a stream. */
export function isToolStream(answer: unknown): answer is ToolStream {
  if (typeof answer !== 'object' || answer === null) return false;
  return Symbol.asyncIterator in answer || typeof (answer as Partial<ReaderSource>).getReader === 'function';
}

function specialOf(answer: unknown): 'error' | 'deferred' | 'unknown' | 'parts' | undefined {
  return typeof answer === 'object' && answer !== null && SPECIAL in answer
    ? (answer as ToolError | Deferral | UnknownOutcome | ToolParts)[SPECIAL]
    : undefined;
}
