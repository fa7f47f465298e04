/**
 * A client for any language model of the AI SDK.
 *
 * Invariants
 * K1  The model receives exactly what the recorded bytes say: the bytes are parsed and passed to it.
 * K2  Only our transport retries a request. A language model of the SDK does not retry by itself; its callers do.
 * K3  Only JSON is stored of an answer: no undefined fields, no objects of the SDK.
 */

import { parseOwnJson, present, RepriseError, startOfText, type Value, wellFormed } from '@reprise/contracts';
import type { Scrubber } from '@reprise/kernel';
import { concealHeaders } from '@reprise/kernel/store';
import { toJson } from '../model/json.js';
import type { ModelClient, ModelContext, ProviderProfile, UnifiedRequest, WrittenRequest } from '../model/model.js';
import type { AnswerOptions, ProfileOptions } from '../model/profile-options.js';
import { aiSdkSendable, IMAGES_AND_PDF } from '../model/sendable.js';
import { ProviderError, retryable } from '../model/verdict.js';
import { requireRepeatedCalls } from '../transport/client-options.js';
import { Silence } from '../transport/http.js';
import {
  ANSWER_MS_DEFAULT,
  type Judged,
  noResponse,
  repeat,
  SILENCE_MS_DEFAULT,
  type TransportOptions,
} from '../transport/transport.js';
import type { ReadAnswer } from '../wire/answer.js';
import { writtenOf } from '../wire/request-fields.js';
import { verdictOnWanted } from '../wire/wanted.js';
import { callIdsOf, invalidRequest, profileOf } from '../wire/wire-client.js';
import { generatedOf, readGenerated } from './call-answer.js';
import { attributed, judgeThrown } from './call-failure.js';
import { type AiSdkDialect, toAiSdkCall } from './call-request.js';
import { checkAiSdkCall } from './call-rules.js';
import { CallStream } from './call-stream.js';
import { type AiSdkModel, type CallSurroundings, type Generated, SPECIFICATIONS } from './language-model.js';

/** Options of {@link aiSdk}. Keys, addresses and headers belong to the model and are set there. */
export interface AiSdkOptions
  extends Pick<TransportOptions, 'retry' | 'sleep' | 'timeoutMs' | 'answerTimeoutMs'>,
    ProfileOptions,
    AnswerOptions {
  /**
   * Tools that the provider runs itself, in the SDK's form: `{ type: 'provider', id: 'openai.web_search', name, args }`.
   * The policies of the world do not see these calls.
   */
  readonly providerTools?: readonly Value[];
}

/**
 * Makes a client of a language model of the AI SDK, of any provider, with specification `v2`, `v3` or `v4`.
 *
 * @param model a model object from a provider's package, for example `openai('gpt-…')`; not the name of a model
 * @throws RepriseError `invalid_argument` when `model` is not such an object
 * @example aiSdk(createOpenAI({ apiKey })('gpt-…'))
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): ModelClient {
  requireModel(model);
  requireRepeatedCalls(options.repeatedCalls);
  const profile = profileOf(
    {
      profile_id: startOfText(`ai-sdk/${model.provider}`, 128),
      provider: model.provider,
      supports_parallel_tool_calls: true,
      supports_reasoning_effort: false,
      supports_streaming: true,
      supports_tool_choice_named: true,
      media_types: IMAGES_AND_PDF,
    },
    options,
    model.modelId,
  );
  const providerTools = (options.providerTools ?? []).map(toJson);
  const dialect: Omit<AiSdkDialect, 'profile'> = { specification: model.specificationVersion, providerTools };
  const draft = (request: UnifiedRequest, shown: ProviderProfile) =>
    toAiSdkCall(request, { ...dialect, profile: shown });
  return {
    profile,
    sendable: aiSdkSendable(model.provider),
    write: (request) => writtenOf(draft(request, profile)),
    generate: async (request, context) => {
      const drafted = draft(request, profile);
      const refused = invalidRequest({ profile, draft, check: checkAiSdkCall }, request, drafted, context);
      if (refused !== undefined) return refused;
      const written = writtenOf(drafted);
      if (context.scrubber !== undefined) await concealKeys(model, context.scrubber);
      const server = { server: profile.provider };
      const attempt = async (): Promise<Judged> => {
        const judged = await new Attempt(model, options, written, request, context).execute(profile);
        return attributed(judged, profile.provider);
      };
      return repeat(attempt, { ...options, ...server }, context);
    },
  };
}

function requireModel(model: AiSdkModel): void {
  const given: unknown = model;
  const fits =
    typeof given === 'object' &&
    given !== null &&
    SPECIFICATIONS.includes((given as AiSdkModel).specificationVersion) &&
    typeof (given as AiSdkModel).doStream === 'function';
  if (fits) return;
  throw new RepriseError('invalid_argument', 'invalid argument "model": not a language model of the AI SDK', {
    expected: `a model object of specification ${SPECIFICATIONS.join(', ')}`,
    hint: "Pass the object that a provider's package makes, for example openai('gpt-…'), instead of a model's name.",
  });
}

/**
 * Conceals the headers that a model sends, since they may hold its key. By a convention of the SDK a model object
 * exposes its headers; where one does not, its author declares the keys with `openWorld({ conceal })`.
 */
async function concealKeys(model: AiSdkModel, scrubber: Scrubber): Promise<void> {
  try {
    const { config } = model as unknown as { readonly config?: { readonly headers?: unknown } };
    const { headers } = config ?? {};
    const given: unknown = await Promise.resolve(typeof headers === 'function' ? headers() : headers);
    const pairs = Object.entries((given ?? {}) as Readonly<Record<string, unknown>>);
    concealHeaders(
      scrubber,
      pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
    );
  } catch {
    // The headers could not be read. A missing key then shows in the call itself.
  }
}

/** Makes the addresses of files `URL` objects, which JSON cannot hold: the form that a model of `v4` expects. */
function reviveAddresses(prompt: unknown): void {
  const messages = Array.isArray(prompt) ? (prompt as readonly { readonly content?: unknown }[]) : [];
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const { data } of content as readonly { readonly data?: { readonly type?: unknown; url?: unknown } }[]) {
      if (data?.type === 'url' && typeof data.url === 'string' && URL.canParse(data.url)) data.url = new URL(data.url);
    }
  }
}

type Given = Readonly<Record<string, unknown>> & CallSurroundings;

/** The error of a stream that ended too early. */
const CUT = 'the stream ended without a reason';

const NOT_SHOWN = 'the text that was streamed is not the text of the answer';

function comparable(text: string): string {
  return wellFormed(text).replaceAll('\ufffd', '');
}

function unreadable(why: string): Judged {
  return { ok: false, ...retryable('malformed'), error: new ProviderError(`unreadable answer (${why})`) };
}

/** One call of the model. */
class Attempt {
  private readonly controller = new AbortController();
  private readonly silence: Silence;
  private readonly stream: CallStream;

  constructor(
    private readonly model: AiSdkModel,
    private readonly options: AiSdkOptions,
    private readonly written: WrittenRequest,
    private readonly request: UnifiedRequest,
    private readonly context: ModelContext,
  ) {
    const { timeoutMs = SILENCE_MS_DEFAULT, answerTimeoutMs = ANSWER_MS_DEFAULT } = options;
    this.silence = new Silence(timeoutMs, this.controller, answerTimeoutMs);
    this.stream = new CallStream((delta) => context.progress(delta));
  }

  async execute({ supports_streaming }: ProviderProfile): Promise<Judged> {
    const { signal } = this.context;
    const cancel = () => this.controller.abort();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      if (signal.aborted) return noResponse('cancelled');
      return supports_streaming ? await this.streamed() : await this.whole();
    } catch (thrown) {
      if (signal.aborted) return this.interrupted();
      return this.silence.over ? noResponse('timeout') : judgeThrown(thrown, this.context);
    } finally {
      this.silence.end();
      signal.removeEventListener('abort', cancel);
      this.controller.abort(); // releases the connection of an answer that was not read to its end
    }
  }

  private async whole(): Promise<Judged> {
    const { model } = this;
    const result = await this.orAborted(model.doGenerate(this.given() as never));
    const generated = generatedOf(result);
    return generated === undefined ? unreadable('the result holds no list of content') : this.answered(generated);
  }

  private async streamed(): Promise<Judged> {
    const { model, stream, context } = this;
    const result = (await this.orAborted(model.doStream(this.given() as never))) as {
      stream?: ReadableStream<unknown>;
    };
    const reader = result.stream?.getReader();
    if (reader === undefined) return unreadable('the result holds no stream');
    for (let part = await this.orAborted(reader.read()); !part.done; part = await this.orAborted(reader.read())) {
      this.silence.broken();
      stream.take(part.value);
      if (stream.over) break;
    }
    if (context.signal.aborted) return this.interrupted();
    if (stream.failed) return judgeThrown(stream.failure, context);
    if (stream.tooLarge) return noResponse('too_large');
    if (stream.malformed !== undefined) return unreadable(stream.malformed);
    if (!stream.ended) return { ok: false, ...retryable('network'), error: new ProviderError(CUT) };
    return this.answered(stream.whole(), stream.text);
  }

  // K1
  private given(): Given {
    const { specification: _, ...call } = parseOwnJson(new TextDecoder().decode(this.written.body)) as Given;
    if (this.model.specificationVersion === 'v4') reviveAddresses(call.prompt);
    const headers = { 'idempotency-key': this.context.idempotencyKey };
    return { ...call, headers, abortSignal: this.controller.signal } as Given;
  }

  /** Rejects on abort even when the model ignores the signal. */
  private orAborted<T>(waiting: PromiseLike<T>): Promise<T> {
    const { signal } = this.controller;
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      Promise.resolve(waiting)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', stop));
    });
  }

  private interrupted(): Judged {
    const text = wellFormed(this.stream.text);
    if (text === '') return noResponse('cancelled');
    const answer: ReadAnswer = { text, calls: [], finishReason: 'interrupted', usage: { calls: 1 }, warnings: [] };
    return this.response(answer, this.stream.whole());
  }

  /** @param shown the text that watchers were shown, of an answer that was streamed */
  private answered(generated: Generated, shown?: string): Judged {
    const { repeatedCalls } = this.options;
    const about = {
      idsInUse: callIdsOf(this.request),
      scrub: (text: string) => text,
      ...present({ repeatedCalls }),
    };
    const answer = readGenerated(generated, about);
    if (shown !== undefined && comparable(shown) !== comparable(answer.text ?? '')) return unreadable(NOT_SHOWN);
    return this.response(answer, generated);
  }

  // K3
  private response({ wanted, ...answer }: ReadAnswer, generated: Generated): Judged {
    if (wanted !== undefined) return { ok: false, ...verdictOnWanted(wanted) };
    const { content, finishReason, usage, response } = generated;
    const rawBody = new TextEncoder().encode(JSON.stringify({ content, finishReason, usage, response }));
    return { ok: true, response: { ...answer, request: this.written, rawBody } };
  }
}
