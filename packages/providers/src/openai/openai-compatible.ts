import { RepriseError, type Value } from '@reprise/contracts';
import { post, type Reply } from '../http.js';
import type { ModelClient, ModelContext, ModelResult, ProviderProfile, UnifiedRequest } from '../model.js';
import { RETRY_DEFAULT, type RetryPolicy, retryAfterMs, type Sleep, sleep, waitBefore } from '../retry.js';
import { type Scrub, scrubber } from '../scrub.js';
import { cut } from '../text.js';
import { errorBody, retryable, statusInside, terminal, type Verdict, verdictOf } from './chat-failure.js';
import { type ChatDialect, checkChatRequest, toChatRequest } from './chat-request.js';
import { readCompletion } from './chat-response.js';

/** How long one request may take by default, in milliseconds: long answers of slow models included. */
const TIMEOUT_MS_DEFAULT = 180_000;

/** A value, or the name of a secret whose value is asked for at each call and never kept. */
export type SecretText = string | { readonly secret: string };

/** What {@link openAiCompatible} takes. */
export interface OpenAiCompatibleOptions {
  /** The address before `/chat/completions`, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** The model's name at that address. */
  readonly model: string;
  /** Sent as a bearer token. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /** Further headers, for example the ones a gateway asks for. */
  readonly headers?: Readonly<Record<string, SecretText>>;
  /** How long one request may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** What this provider can do, where it differs from the default. */
  readonly profile?: Partial<ProviderProfile>;
  /** Default `max_tokens`. */
  readonly maxTokensField?: ChatDialect['maxTokensField'];
  /** Retries of the transport. Default {@link RETRY_DEFAULT}. */
  readonly retry?: Partial<RetryPolicy>;
  /** In place of the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** In place of waiting on this process's clock. */
  readonly sleep?: Sleep;
}

/**
 * A model behind an HTTP endpoint that speaks chat-completions: OpenAI, and nearly every gateway and local server.
 *
 * @throws RepriseError `invalid_argument` when the address is not one
 * @example openAiCompatible({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-…', apiKey: { secret: 'OPENAI_API_KEY' } })
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): ModelClient {
  const url = endpoint(options.baseUrl);
  const profile = profileOf(options);
  const dialect: ChatDialect = {
    model: options.model,
    profile,
    maxTokensField: options.maxTokensField ?? 'max_tokens',
  };
  const client: Client = { url, dialect, options, retry: { ...RETRY_DEFAULT, ...options.retry } };
  return { profile, generate: (request, context) => generate(client, request, context) };
}

interface Client {
  readonly url: string;
  readonly dialect: ChatDialect;
  readonly options: OpenAiCompatibleOptions;
  readonly retry: RetryPolicy;
}

function endpoint(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new RepriseError('invalid_argument', 'this is not the address of a provider', {
      expected: 'http(s)://host/path without a user or password',
      hint: 'Put keys into apiKey or headers.',
    });
  }
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/chat/completions`;
  return url.href;
}

function profileOf(options: OpenAiCompatibleOptions): ProviderProfile {
  return Object.freeze({
    profile_id: 'openai-compatible',
    provider: 'openai-compatible',
    model_default: options.model,
    supports_parallel_tool_calls: true,
    supports_reasoning_effort: false,
    supports_streaming: false,
    supports_tool_choice_named: true,
    ...options.profile,
  });
}

async function generate(client: Client, request: UnifiedRequest, context: ModelContext): Promise<ModelResult> {
  const projected = toChatRequest(request, client.dialect);
  const wrong = checkChatRequest(projected.request);
  if (wrong.length > 0) {
    context.progress({ kind: 'request_refused', problems: wrong.slice(0, 10) });
    return failed({ failure: { status: 'error', code: 'internal_invariant_violation/request' }, again: false });
  }
  const credentials = await resolveHeaders(client.options, context);
  if (credentials === undefined) return failed(terminal('credentials_missing'));
  const requestBody = new TextEncoder().encode(JSON.stringify(projected.request));
  const exchange: Exchange = { client, context, requestBody, ...credentials };
  const idsInUse = request.messages.flatMap((m) => (m.role === 'assistant' ? m.calls.map(({ callId }) => callId) : []));
  const answer = await sendWithRetries(exchange, (reply) => judge(reply, exchange, idsInUse));
  if (!answer.ok) return answer;
  const warnings = [...projected.warnings, ...answer.response.warnings];
  return { ok: true, response: { ...answer.response, warnings } };
}

interface Exchange {
  readonly client: Client;
  readonly context: ModelContext;
  readonly requestBody: Uint8Array;
  readonly headers: Headers;
  readonly scrub: Scrub;
}

function failed({ failure }: Verdict): ModelResult & { ok: false } {
  return { ok: false, failure };
}

/** The headers to send and what must never be stored of them; undefined when a secret is missing or unusable. */
async function resolveHeaders(
  { apiKey, headers = {} }: OpenAiCompatibleOptions,
  context: ModelContext,
): Promise<Pick<Exchange, 'headers' | 'scrub'> | undefined> {
  try {
    const secrets: string[] = [];
    const reveal = async (text: SecretText) => {
      if (typeof text === 'string') return text;
      const value = await context.secret(text.secret);
      secrets.push(value);
      return value;
    };
    const out = new Headers({ 'content-type': 'application/json', accept: 'application/json' });
    out.set('idempotency-key', context.idempotencyKey);
    if (apiKey !== undefined) {
      const key = await reveal(apiKey);
      secrets.push(key);
      out.set('authorization', `Bearer ${key}`);
    }
    for (const [name, text] of Object.entries(headers)) out.set(name, await reveal(text));
    return { headers: out, scrub: scrubber(secrets) };
  } catch {
    // Neither the resolver's error nor the platform's (which may quote the value) goes any further.
    return undefined;
  }
}

type Judged = (ModelResult & { ok: true }) | (Verdict & { readonly ok: false; readonly waitMs?: number });

async function sendWithRetries(exchange: Exchange, judgeReply: (reply: Reply) => Judged): Promise<ModelResult> {
  const { client, context } = exchange;
  for (let retry = 0; ; retry++) {
    const judged = judgeReply(await send(exchange));
    if (judged.ok) return judged;
    const waitMs = waitBefore(client.retry, retry, judged.waitMs, context.idempotencyKey);
    if (!judged.again || retry >= client.retry.retriesMax || waitMs === undefined) return failed(judged);
    context.progress({ kind: 'retry', retry: retry + 1, wait_ms: waitMs, code: codeOf(judged) });
    try {
      await (client.options.sleep ?? sleep)(waitMs, context.signal);
    } catch {
      return { ok: false, failure: { status: 'cancelled' } };
    }
  }
}

function codeOf({ failure }: Verdict): Value {
  return failure.status === 'error' ? failure.code : failure.status;
}

function send({ client, context, requestBody, headers }: Exchange): Promise<Reply> {
  return post({
    url: client.url,
    headers,
    body: requestBody,
    timeoutMs: client.options.timeoutMs ?? TIMEOUT_MS_DEFAULT,
    signal: context.signal,
    fetch: client.options.fetch ?? globalThis.fetch,
  });
}

const NO_RESPONSE: Readonly<Record<Exclude<Reply['kind'], 'response'>, Verdict>> = {
  // The model may be at work still: asking again would pay twice. The plan decides.
  timeout: { failure: { status: 'timeout', code: 'adapter_timeout' }, again: false },
  cancelled: { failure: { status: 'cancelled' }, again: false },
  network: retryable('network'),
  too_large: terminal('response_too_large'),
};

function judge(reply: Reply, exchange: Exchange, idsInUse: readonly string[]): Judged {
  if (reply.kind !== 'response') return { ok: false, ...NO_RESPONSE[reply.kind] };
  const received = new TextDecoder('utf-8').decode(reply.body);
  const text = exchange.scrub(received);
  const body = parseJson(text);
  const error = errorBody(body);
  if (reply.status < 200 || reply.status > 299) return refused(reply, exchange, reply.status, error);
  const completion = readCompletion(body, idsInUse, exchange.scrub);
  if (completion === undefined) {
    return error === undefined
      ? { ok: false, ...retryable('malformed') }
      : refused(reply, exchange, statusInside(error), error);
  }
  const rawBody = text === received ? reply.body : new TextEncoder().encode(text);
  return { ok: true, response: { ...completion, requestBody: exchange.requestBody, rawBody } };
}

function refused(
  reply: Reply & { kind: 'response' },
  { context }: Exchange,
  status: number,
  error: ReturnType<typeof errorBody>,
): Judged {
  if (error !== undefined) context.progress({ kind: 'provider_error', status, message: cut(error.message, 500) });
  const waitMs = retryAfterMs(reply.headers, Date.now());
  return { ok: false, ...verdictOf(status, error), ...(waitMs === undefined ? {} : { waitMs }) };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
