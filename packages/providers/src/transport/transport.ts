/**
 * Calls a provider over HTTP: the address, the keys, and the single owner of retries.
 *
 * Invariants
 * T1  Requests are retried here and nowhere below; after the last retry the plan decides.
 * T2  Every retry sends the same bytes.
 * T3  Before a retry, watchers are told to discard what was reported so far.
 * T4  Usage that a failed attempt reported counts with that of the call (`attempts.ts`).
 * T5  Secrets never leave: neither stored data nor progress to watchers holds one.
 */
import { kindOfThing, RepriseError, type Usage } from '@reprise/contracts';
import { concealAddress, concealHeaders, Scrubber } from '@reprise/kernel/store';
import type { ModelContext, ModelResult, WrittenRequest } from '../model/model.js';
import { cut } from '../model/text.js';
import {
  codeOf,
  type ErrorBody,
  isOfServer,
  ProviderError,
  retryable,
  terminal,
  type Verdict,
  verdictOf,
} from '../model/verdict.js';
import { addUsage, withUsage } from './attempts.js';
import { requireKey } from './client-options.js';
import { post, type Reply } from './http.js';
import { RETRY_DEFAULT, type RetryPolicy, retryAfterMs, type Sleep, sleep, waitBefore } from './retry.js';

/** The longest silence of a provider by default, in milliseconds; it allows for slow models with reasoning. */
export const SILENCE_MS_DEFAULT = 180_000;

/** The longest time for a whole answer by default, in milliseconds. */
export const ANSWER_MS_DEFAULT = 3_600_000;

/** A value, or the name of a secret whose value is read at each call and never stored. */
export type SecretText = string | { readonly secret: string };

/** Options of every client over HTTP. */
export interface TransportOptions {
  /** Additional headers, for example for a gateway. */
  readonly headers?: Readonly<Record<string, SecretText>>;
  /** The longest silence in milliseconds, before the answer and between two pieces of it. Default three minutes. */
  readonly timeoutMs?: number;
  /** The longest time for a whole answer, in milliseconds. Default one hour. */
  readonly answerTimeoutMs?: number;
  /** Retries of the transport. Default {@link RETRY_DEFAULT}. */
  readonly retry?: Partial<RetryPolicy>;
  /** Called in place of the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Replaces waiting on this process's clock. */
  readonly sleep?: Sleep;
}

/**
 * Builds the address of a provider's operation.
 *
 * @throws RepriseError `invalid_argument` when the base is not a valid address, or holds a user or password
 */
export function endpoint(baseUrl: string, operation: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw invalidAddress(baseUrl, url);
  requireBase(url, operation);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${operation}`;
  return url.href;
}

/** Examples of providers often show the whole address of a request: it would be asked for twice over. */
function requireBase(url: URL, operation: string): void {
  if (!url.pathname.replace(/\/+$/, '').endsWith(operation)) return;
  throw new RepriseError('invalid_argument', 'invalid option "baseUrl": the address of one operation', {
    where: 'baseUrl',
    expected: `an address to which the client adds ${operation}`,
    hint: `Leave ${operation} out.`,
  });
}

/** The refusal of an address. Shows it only where it can hold no key: without a user, a password and a query. */
function invalidAddress(given: unknown, url: URL | undefined): RepriseError {
  const hasUser = (url?.username ?? '') !== '' || (url?.password ?? '') !== '';
  const shown =
    typeof given === 'string' && given !== '' && !/^[\w.:/[\]-]{1,200}$/.test(given)
      ? 'another text'
      : kindOfThing(given);
  return new RepriseError('invalid_argument', 'invalid option "baseUrl": not the address of a provider', {
    where: 'baseUrl',
    expected: 'http(s)://host/path without a user or password',
    actual: hasUser ? 'an address with a user or a password' : shown,
    hint: hasUser ? 'Put keys into apiKey or headers.' : addressHint(given),
  });
}

/** Most often the scheme is missing: `localhost:11434/v1`, `api.example.com/v1`. */
function addressHint(given: unknown): string {
  if (typeof given !== 'string' || given.trim() === '') return 'Is the environment variable set in this process?';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return 'Give an address that begins with https:// or http://.';
  const scheme = /^(?:localhost|127\.|10\.|192\.168\.|\[?::1)/i.test(given) ? 'http' : 'https';
  const meant = `${scheme}://${given.replace(/^\/+/, '')}`;
  return URL.canParse(meant) && new URL(meant).username === '' && /^[\w.:/[\]-]+$/.test(given)
    ? `The scheme is missing. Did you mean "${meant}"?`
    : 'Give an address that begins with https:// or http://.';
}

/** The outcome of one attempt: an answer, or a verdict and perhaps the wait that the provider requests. */
export type Judged =
  | (ModelResult & { readonly ok: true })
  | (Verdict & { readonly ok: false; readonly waitMs?: number });

/** Reads the answer to one attempt. */
export interface AnswerReader {
  /**
   * Called with each piece of the answer as it arrives.
   *
   * @returns after how many of these bytes the answer is complete, whatever may follow; undefined while it is not
   */
  take(bytes: Uint8Array, response: Response): number | undefined;
  /** Judges the outcome of the attempt. */
  judge(reply: Reply): Judged;
}

/** A request to one operation of a provider. */
export interface Asking {
  readonly url: string;
  /** The key, and the header that carries it. */
  readonly key?: { readonly header: string; readonly prefix: string; readonly text: SecretText };
  /** Headers of the protocol; the options may override them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly options: TransportOptions;
  readonly written: WrittenRequest;
  readonly context: ModelContext;
  /** Makes a reader for the answer to one attempt. */
  reader(scrubber: Scrubber): AnswerReader;
}

/** Calls a provider, with retries where they may help. */
export async function ask(asking: Asking): Promise<ModelResult> {
  const sealed = await reveal(asking);
  const server = new URL(asking.url).host;
  if ('error' in sealed) {
    const verdict = { ...terminal('credentials_missing'), error: sealed.error };
    tellServer(server, verdict, asking.context);
    return failed(verdict);
  }
  return repeat(() => attempt(asking, sealed), { ...asking.options, server }, asking.context);
}

/**
 * Retries until an answer arrives, a failure is final, or the retries are used up.
 *
 * @param options `server`: the name of what is called, for the operator
 */
export async function repeat(
  attempt: () => Promise<Judged>,
  options: Pick<TransportOptions, 'retry' | 'sleep'> & { readonly server: string },
  context: ModelContext,
): Promise<ModelResult> {
  const policy = { ...RETRY_DEFAULT, ...options.retry };
  let before: Usage | undefined;
  for (let retry = 0; ; retry++) {
    const judged = await attempt();
    if (judged.ok) {
      context.serverWorks?.(options.server);
      return withUsage(judged, before);
    }
    const wait_ms = waitBefore(policy, retry, judged.waitMs, context.idempotencyKey);
    const isLast = !judged.again || retry >= policy.retriesMax || wait_ms === undefined;
    tellServer(options.server, { ...judged, again: !isLast }, context);
    if (isLast) return withUsage(failed(judged), before);
    before = addUsage(before, judged.failure.usage);
    context.progress({ type: 'delta.reset' }); // T3
    context.progress({ type: 'retry', retry: retry + 1, wait_ms, code: codeOf(judged.failure) });
    try {
      await (options.sleep ?? sleep)(wait_ms, context.signal);
    } catch {
      return { ok: false, failure: { status: 'cancelled' } };
    }
  }
}

/** Turns a verdict into a client's failure result. */
export function failed({ failure, error }: Verdict): ModelResult & { readonly ok: false } {
  return { ok: false, failure, ...(error === undefined ? {} : { error }) };
}

interface Sealed {
  readonly headers: Headers;
  readonly scrubber: Scrubber;
}

async function attempt({ url, options, written, context, reader }: Asking, sealed: Sealed): Promise<Judged> {
  const answer = reader(sealed.scrubber);
  const reply = await post({
    url,
    headers: sealed.headers,
    body: written.body,
    silenceMs: options.timeoutMs ?? SILENCE_MS_DEFAULT,
    totalMs: options.answerTimeoutMs ?? ANSWER_MS_DEFAULT,
    signal: context.signal,
    fetch: options.fetch ?? globalThis.fetch,
    onBytes: (bytes, response) => answer.take(bytes, response),
  });
  const judged = answer.judge(reply);
  return judged.ok ? judged : { ...judged, ...located(judged, new URL(url).hostname) };
}

/** Says of which server an error speaks: its own words rarely do. */
function located({ failure, error }: Verdict, server: string): { readonly error?: unknown } {
  if (failure.status === 'cancelled') return {};
  if (error instanceof ProviderError) return { error: error.from(server) };
  if (failure.status === 'timeout') return { error: new ProviderError('no answer in time', { server, cause: error }) };
  return error === undefined ? {} : { error: new ProviderError('no answer', { server, cause: error }) };
}

/** Tells the world of a server that fails, at once: a person may have to act before the retries are used up. */
function tellServer(server: string, verdict: Verdict, context: ModelContext): void {
  if (!isOfServer(verdict)) return;
  const { failure, error, again } = verdict;
  context.serverFails?.(server, { code: codeOf(failure), error, again });
}

/** The headers to send, with their secrets concealed; an error when a secret is missing or unusable. */
async function reveal({
  url,
  key,
  headers: fixed = {},
  options,
  context,
}: Asking): Promise<Sealed | { error: unknown }> {
  const scrubber = context.scrubber ?? new Scrubber();
  concealAddress(scrubber, url);
  try {
    const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' });
    headers.set('idempotency-key', context.idempotencyKey);
    for (const [name, text] of Object.entries(fixed)) headers.set(name, text);
    if (key !== undefined) {
      const text = await revealed(key.text, context);
      requireKey(text);
      scrubber.conceal(text); // before the platform receives it: its errors may quote it
      headers.set(key.header, `${key.prefix}${text}`);
    }
    for (const [name, text] of Object.entries(options.headers ?? {})) {
      const value = await revealed(text, context);
      if (typeof text !== 'string') scrubber.conceal(value);
      concealHeaders(scrubber, [[name, value]]);
      headers.set(name, value);
    }
    return { headers, scrubber };
  } catch (error) {
    return { error };
  }
}

async function revealed(text: SecretText, context: ModelContext): Promise<string> {
  return typeof text === 'string' ? text : context.secret(text.secret);
}

const NO_RESPONSE: Readonly<Record<Exclude<Reply['kind'], 'response'>, Verdict>> = {
  // The model may still be working: a retry would pay twice. The plan decides.
  timeout: { failure: { status: 'timeout', code: 'adapter_timeout' }, again: false },
  cancelled: { failure: { status: 'cancelled' }, again: false },
  network: retryable('network'),
  too_large: terminal('response_too_large'),
};

/** The verdict on an attempt without a complete answer. */
export function noResponse(kind: keyof typeof NO_RESPONSE, error?: unknown): Judged {
  return { ok: false, ...NO_RESPONSE[kind], ...(error === undefined ? {} : { error }) };
}

/** The most characters of an unreadable answer's body that an error shows. */
const BODY_SHOWN_MAX = 2_000;

/**
 * The verdict on an answer that is not of the format; its text is kept for operators.
 *
 * @param why what is wrong with it, in words
 */
export function malformed(body: string, why: string, status?: number): Judged {
  const said = status === undefined ? {} : { status };
  const message = shownBody(`unreadable answer (${why})`, body);
  return { ok: false, ...retryable('malformed'), error: new ProviderError(message, said) };
}

function shownBody(what: string, body: string): string {
  const text = body.trim();
  return text === '' ? what : `${what}: ${cut(text, BODY_SHOWN_MAX)}`;
}

/** The verdict on an answer that reports a failure. */
export function refusal(
  reply: { readonly headers: Headers },
  {
    status,
    error,
    body = '',
  }: { readonly status: number; readonly error: ErrorBody | undefined; readonly body?: string },
  context: ModelContext,
): Judged {
  const message = error === undefined || error.message === '' ? shownBody(`status ${status}`, body) : error.message;
  const { code = '', type = '', param = '' } = error ?? {};
  const said = new ProviderError(message, { status, code: code || type, param });
  if (error !== undefined) context.progress({ type: 'provider_error', status, message: cut(error.message, 500) });
  const waitMs = retryAfterMs(reply.headers, Date.now());
  return { ok: false, ...verdictOf(status, error), error: said, ...(waitMs === undefined ? {} : { waitMs }) };
}
