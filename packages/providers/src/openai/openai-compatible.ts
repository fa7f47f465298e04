import type { Reply } from '../http.js';
import { parseJson } from '../json.js';
import type {
  ModelClient,
  ModelContext,
  ModelResult,
  ProviderProfile,
  UnifiedRequest,
  WrittenRequest,
} from '../model.js';
import type { Scrubber } from '../scrub.js';
import { wellFormed } from '../text.js';
import {
  type AnswerReader,
  ask,
  endpoint,
  failed,
  type Judged,
  noResponse,
  refusal,
  type SecretText,
  type TransportOptions,
} from '../transport.js';
import { errorBody, retryable, statusInside, type Verdict } from '../verdict.js';
import { writtenOf } from '../wire/request-fields.js';
import { type ChatDialect, toChatRequest } from './chat-request.js';
import { type ReadCompletion, readCompletion } from './chat-response.js';
import { checkChatRequest } from './chat-rules.js';
import { ChatStream } from './chat-stream.js';

/** What {@link openAiCompatible} takes. */
export interface OpenAiCompatibleOptions extends TransportOptions {
  /** The address before `/chat/completions`, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** The model's name at that address. */
  readonly model: string;
  /** Sent as a bearer token. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /** What this provider can do, where it differs from the default. */
  readonly profile?: Partial<Omit<ProviderProfile, 'model_default'>>;
  /** Default `max_tokens`. */
  readonly maxTokensField?: ChatDialect['maxTokensField'];
  /** Whether reasoning that the model sent goes back to it; some servers demand it, others refuse it. Default false. */
  readonly returnReasoning?: boolean;
}

/**
 * A model behind an HTTP endpoint that speaks chat-completions: OpenAI, and nearly every gateway and local server.
 *
 * @throws RepriseError `invalid_argument` when the address is not one
 * @example openAiCompatible({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-…', apiKey: { secret: 'OPENAI_API_KEY' } })
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): ModelClient {
  const url = endpoint(options.baseUrl, '/chat/completions');
  const profile = profileOf(options);
  const dialect: ChatDialect = {
    model: options.model,
    profile,
    maxTokensField: options.maxTokensField ?? 'max_tokens',
    returnReasoning: options.returnReasoning ?? false,
  };
  const client: Client = { url, dialect, options };
  return {
    profile,
    write: (request) => writtenOf(toChatRequest(request, dialect)),
    generate: (request, context) => generate(client, request, context),
  };
}

interface Client {
  readonly url: string;
  readonly dialect: ChatDialect;
  readonly options: OpenAiCompatibleOptions;
}

function profileOf(options: OpenAiCompatibleOptions): ProviderProfile {
  return Object.freeze({
    profile_id: 'openai-compatible',
    provider: 'openai-compatible',
    supports_parallel_tool_calls: true,
    supports_reasoning_effort: false,
    supports_streaming: true,
    supports_tool_choice_named: true,
    ...options.profile,
    model_default: options.model,
  });
}

async function generate(client: Client, request: UnifiedRequest, context: ModelContext): Promise<ModelResult> {
  const { url, dialect, options } = client;
  const problems = problemsOf(request, dialect);
  if (problems.length > 0) {
    context.progress({ type: 'request_refused', problems: problems.slice(0, 10) });
    return failed(INVALID_REQUEST);
  }
  const written = writtenOf(toChatRequest(request, dialect));
  const idsInUse = request.messages.flatMap((m) => (m.role === 'assistant' ? m.calls.map(({ callId }) => callId) : []));
  const { apiKey } = options;
  return ask({
    url,
    ...(apiKey === undefined ? {} : { key: { header: 'authorization', prefix: 'Bearer ', text: apiKey } }),
    options,
    written,
    context,
    reader: (scrubber) => new ChatReader({ written, context, idsInUse, scrubber }),
  });
}

const INVALID_REQUEST: Verdict = {
  failure: { status: 'error', code: 'internal_invariant_violation/request' },
  again: false,
};

/** What is wrong with what we write. Native options are the provider's to judge. */
function problemsOf(request: UnifiedRequest, dialect: ChatDialect): string[] {
  const { provider_options_default: _, ...profile } = dialect.profile;
  const { providerOptions: __, ...ours } = request;
  const { body } = toChatRequest(ours, { ...dialect, profile });
  return checkChatRequest(body).map(({ rule, at }) => `${rule} at ${at}`);
}

interface Answering {
  readonly written: WrittenRequest;
  readonly context: ModelContext;
  readonly idsInUse: readonly string[];
  readonly scrubber: Scrubber;
}

/** Reads one answer, streamed or whole: a server may send either, whatever was asked for. */
class ChatReader implements AnswerReader {
  private stream: ChatStream | undefined;

  constructor(private readonly about: Answering) {}

  take(bytes: Uint8Array, response: Response): void {
    if (!response.ok || !isEventStream(response.headers)) return;
    const { scrubber, context } = this.about;
    this.stream ??= new ChatStream(scrubber, (delta) => context.progress(delta));
    this.stream.push(bytes);
  }

  judge(reply: Reply): Judged {
    if (reply.kind === 'response')
      return this.stream === undefined ? this.whole(reply) : this.streamed(reply, this.stream);
    const said = this.stream?.text ?? '';
    return reply.kind === 'cancelled' && said !== '' ? this.interrupted(reply, said) : noResponse(reply.kind);
  }

  private whole(reply: Reply & { kind: 'response' }): Judged {
    const body = parseJson(this.about.scrubber.scrub(textOf(reply.body)));
    const error = errorBody(body);
    const { context } = this.about;
    if (reply.status < 200 || reply.status > 299) return refusal(reply, { status: reply.status, error }, context);
    const completion = this.read(body);
    if (completion !== undefined) return this.answered(reply, completion);
    return error === undefined
      ? { ok: false, ...retryable('malformed') }
      : refusal(reply, { status: statusInside(error), error }, context);
  }

  private streamed(reply: Reply & { kind: 'response' }, stream: ChatStream): Judged {
    const error = errorBody(stream.failure);
    if (error !== undefined) return refusal(reply, { status: statusInside(error), error }, this.about.context);
    if (stream.malformed) return { ok: false, ...retryable('malformed') };
    if (!stream.ended) return { ok: false, ...retryable('network') };
    const completion = this.read(stream.answer());
    return completion === undefined ? { ok: false, ...retryable('malformed') } : this.answered(reply, completion);
  }

  private interrupted(reply: Reply, said: string): Judged {
    const text = wellFormed(this.about.scrubber.scrub(said));
    return this.answered(reply, { text, calls: [], finishReason: 'interrupted', usage: { calls: 1 }, warnings: [] });
  }

  private read(body: unknown): ReadCompletion | undefined {
    const { idsInUse, scrubber } = this.about;
    return readCompletion(body, idsInUse, (text) => scrubber.scrub(text));
  }

  private answered({ body }: Reply, completion: ReadCompletion): Judged {
    const received = textOf(body);
    const scrubbed = this.about.scrubber.scrub(received);
    const rawBody = scrubbed === received ? body : new TextEncoder().encode(scrubbed);
    return { ok: true, response: { ...completion, request: this.about.written, rawBody } };
  }
}

function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8').decode(bytes);
}
