/** Maps exceptions of the AI SDK to failures. The SDK throws where our own clients read a status from the wire. */
import { isJsonObject, jsonIn } from '../model/json.js';
import type { ModelContext } from '../model/model.js';
import { errorBody, ProviderError, retryable, statusInside, terminal, type Verdict } from '../model/verdict.js';
import { type Judged, refusal } from '../transport/transport.js';
import { type Fields, textIn } from '../wire/answer-stream.js';

/** Verdicts by the exception's name, for exceptions before anything is sent or for answers that cannot be read. */
const BY_NAME: Readonly<Record<string, Verdict>> = {
  AI_LoadAPIKeyError: terminal('credentials_missing'),
  AI_LoadSettingError: terminal('credentials_missing'),
  AI_InvalidArgumentError: terminal('bad_request'),
  AI_InvalidPromptError: terminal('bad_request'),
  AI_UnsupportedFunctionalityError: terminal('bad_request'),
  AI_NoSuchModelError: terminal('not_found'),
  AI_JSONParseError: retryable('malformed'),
  AI_TypeValidationError: retryable('malformed'),
  AI_InvalidResponseDataError: retryable('malformed'),
  AI_EmptyResponseBodyError: retryable('malformed'),
};

/** Judges an exception, or an error in a stream. The result carries the original error for operators. */
export function judgeThrown(thrown: unknown, context: ModelContext): Judged {
  const judged = judge(thrown, context);
  if (judged.ok) return judged;
  const given = thrown instanceof Error ? thrown : (judged.error ?? thrown);
  const isSaid = given instanceof Error || (typeof given === 'string' && given.trim() !== '');
  return { ...judged, error: isSaid ? given : new ProviderError('the model reported an error without a message') };
}

/**
 * Says of which server a failure speaks: the host of the request where the SDK's exception names it, otherwise the provider
 * of the model. A failure without an exception, such as a silence, says so as well.
 */
export function attributed(judged: Judged, provider: string): Judged {
  if (judged.ok || judged.failure.status === 'cancelled') return judged;
  const { error } = judged;
  const server = hostOf(error) ?? provider;
  if (error instanceof ProviderError) return { ...judged, error: error.from(server) };
  if (error === undefined) {
    const words = judged.failure.status === 'timeout' ? 'no answer in time' : 'the answer cannot be used';
    return { ...judged, error: new ProviderError(words, { server }) };
  }
  const status = error instanceof Error ? (error as Error & Fields).statusCode : undefined;
  const facts = { server, cause: error, ...(typeof status === 'number' ? { status } : {}) };
  return { ...judged, error: new ProviderError(error instanceof Error ? error.message : 'no answer', facts) };
}

/** The host of the request that an exception is about. */
function hostOf(error: unknown): string | undefined {
  const url = error instanceof Error ? (error as Error & Fields).url : undefined;
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname || undefined : undefined;
}

function judge(thrown: unknown, context: ModelContext): Judged {
  const error: Fields = typeof thrown === 'object' && thrown !== null ? (thrown as Fields) : {};
  const status = error.statusCode;
  if (typeof status === 'number' && status >= 300) return judgeStatus(error, status, context);
  if (typeof status === 'number') return { ok: false, ...retryable('malformed') };
  const name = textIn(error.name);
  const known = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  if (known !== undefined) return { ok: false, ...known };
  return judgeBody(thrown, context) ?? { ok: false, ...retryable('network') };
}

function judgeStatus(error: Fields, status: number, context: ModelContext): Judged {
  const body = errorBody(jsonIn(textIn(error.responseBody))) ?? errorBody(error.data);
  const headers = isJsonObject(error.responseHeaders) ? Object.entries(error.responseHeaders) : [];
  const given = headers.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return refusal({ headers: new Headers(given) }, { status, error: body }, context);
}

/** Judges an error that a provider put into a stream, as JSON data or as its text. */
function judgeBody(thrown: unknown, context: ModelContext): Judged | undefined {
  const data = typeof thrown === 'string' ? jsonIn(thrown) : thrown;
  if (data instanceof Error || !isJsonObject(data)) return undefined;
  const error = errorBody(data) ?? errorBody({ error: data });
  if (error === undefined) return undefined;
  return refusal({ headers: new Headers() }, { status: statusInside(error), error }, context);
}
