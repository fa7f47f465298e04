/** Maps a provider's refusal, by status and error body, to a failure and to whether a retry may help. */
import type { Failure } from './model.js';

/** A failure, and whether the transport may retry. */
export interface Verdict {
  readonly failure: Failure;
  /** The error for operators: the provider's message with its status, or an exception of the platform. */
  readonly error?: unknown;
  /** Whether sending the same bytes again may succeed. */
  readonly again: boolean;
}

/** A failure that a retry of the same request may avoid. */
export function retryable(reason: string): Verdict {
  return { failure: { status: 'error', code: `provider_error_retryable/${reason}`, retryable: true }, again: true };
}

/** A failure that every retry of the same request would meet. */
export function terminal(reason: string): Verdict {
  return { failure: { status: 'error', code: `provider_error_terminal/${reason}`, retryable: false }, again: false };
}

/** What is known about a provider's error. */
interface ProviderErrorFacts {
  readonly status?: number;
  readonly code?: string;
  readonly param?: string;
  readonly server?: string;
  readonly cause?: unknown;
}

/** A provider's error message, as an error for operators. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  /** The HTTP status of the provider's answer. */
  readonly status?: number;
  /** The code of the error in the provider's own words. */
  readonly code?: string;
  /** The place in the request that the provider's error names. */
  readonly param?: string;
  /** The host name of the server. */
  readonly server?: string;

  constructor(message: string, { status, code = '', param = '', server, cause }: ProviderErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (status !== undefined) this.status = status;
    if (code !== '') this.code = code;
    if (param !== '') this.param = param;
    if (server !== undefined) this.server = server;
  }

  /** The same error, with the server that it came from. */
  from(server: string): ProviderError {
    const { message, status, code, param, cause } = this;
    return new ProviderError(message, {
      ...(status === undefined ? {} : { status }),
      ...(code === undefined ? {} : { code }),
      ...(param === undefined ? {} : { param }),
      ...{ server, cause },
    });
  }
}

/** Failures that say something about the server and its account, and not about one request. */
const OF_SERVER =
  /^(?:provider_error_retryable(?!\/malformed)|provider_error_terminal\/(?:auth|credentials_missing|quota|not_found|redirected)$|adapter_timeout$)/;

/** Whether a failure concerns the server, so that other requests would meet it as well. */
export function isOfServer({ failure }: Pick<Verdict, 'failure'>): boolean {
  return OF_SERVER.test(codeOf(failure));
}

/** The code of a failure; its status when it has none. */
export function codeOf(failure: Failure): string {
  return 'code' in failure && failure.code !== undefined ? failure.code : failure.status;
}

/** The fields of an error body that decide the verdict. */
export interface ErrorBody {
  readonly code: string;
  readonly type: string;
  readonly message: string;
  /** The place in the request that it names. */
  readonly param?: string;
}

/** Verdicts by status, when the body adds nothing. */
export const VERDICT_BY_STATUS: Readonly<Record<number, Verdict>> = {
  400: terminal('bad_request'),
  401: terminal('auth'),
  402: terminal('quota'),
  403: terminal('auth'),
  404: terminal('not_found'),
  408: retryable('request_timeout'),
  409: retryable('conflict'),
  413: terminal('request_too_large'),
  422: terminal('bad_request'),
  425: retryable('conflict'),
  429: retryable('rate_limited'),
};

/** The verdict on an unsuccessful answer. */
export function verdictOf(status: number, error: ErrorBody | undefined): Verdict {
  if (error !== undefined && status < 500) {
    if (isContextLimit(error)) return terminal('context_limit');
    if (error.code === 'insufficient_quota' || error.type === 'billing_error') return terminal('quota');
    if (error.code === 'content_filter') return terminal('content_filter');
  }
  const known = VERDICT_BY_STATUS[status];
  if (known !== undefined) return known;
  if (status >= 500) return retryable('server');
  if (status < 400) return terminal('redirected');
  return terminal('bad_request');
}

/** Providers of this format share no code for this error, so its wordings are matched too. */
function isContextLimit({ code, message }: ErrorBody): boolean {
  if (code === 'context_length_exceeded') return true;
  return /context (length|window|size)|maximum context|prompt is too long|too many tokens/i.test(message);
}

/** The error in a body, in any form that servers of these formats use; undefined when the body has no error. */
export function errorBody(body: unknown): ErrorBody | undefined {
  if (!isRecord(body)) return undefined;
  const { error, errors } = body;
  if (typeof error === 'string' && error !== '') return { code: '', type: '', message: error };
  if (isRecord(error)) return fieldsOfError(error);
  if (body.object === 'error' || body.type === 'error' || error === true) return fieldsOfError(body);
  if (Array.isArray(errors) && errors.length > 0) return errorBody({ error: errors[0] });
  return bareError(body);
}

/** An error that is the whole body, as some gateways send it: a message with a code, or a detail. */
function bareError(body: Record<string, unknown>): ErrorBody | undefined {
  const { message, detail } = body;
  const isMarked = [body.code, body.status, body.statusCode, body.error_code].some((mark) => textOf(mark) !== '');
  if (typeof message === 'string' && message !== '' && isMarked) return fieldsOfError(body);
  if (typeof detail === 'string' && detail !== '') return { ...fieldsOfError(body), message: detail };
  const first: unknown = Array.isArray(detail) ? detail[0] : undefined;
  return isRecord(first) && typeof first.msg === 'string'
    ? { code: '', type: textOf(first.type), message: first.msg }
    : undefined;
}

function fieldsOfError(error: Record<string, unknown>): ErrorBody {
  const code =
    [error.code, error.status, error.statusCode, error.error_code].map(textOf).find((text) => text !== '') ?? '';
  const message = [error.message, error.msg, error.detail].map(textOf).find((text) => text !== '') ?? '';
  const param = textOf(error.param);
  return { code, type: textOf(error.type), message, ...(param === '' ? {} : { param }) };
}

/** Statuses by an error's name, for errors that have no status. */
export const STATUS_BY_NAME: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  content_filter: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  timeout_error: 408,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  overloaded_error: 529,
};

/** The status of an error inside a successful answer: a provider can fail after its answer has begun. */
export function statusInside({ code, type }: ErrorBody): number {
  const status = Number(code);
  if (Number.isInteger(status) && status >= 400 && status < 600) return status;
  const named = [code, type].find((name) => Object.hasOwn(STATUS_BY_NAME, name));
  return named === undefined ? 502 : (STATUS_BY_NAME[named] ?? 502);
}

function isRecord(thing: unknown): thing is Record<string, unknown> {
  return typeof thing === 'object' && thing !== null && !Array.isArray(thing);
}

function textOf(thing: unknown): string {
  return typeof thing === 'string' || typeof thing === 'number' ? String(thing) : '';
}
