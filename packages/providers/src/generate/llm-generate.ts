/**
 * The adapter of `llm.generate@2`: assembles the request, calls the model, has the answer judged, stores it.
 *
 * Owns: blobs in and out, the receipt. Does not own: the wire (the client does), the words of the prompt (prompt
 * assembly does), permission for calls (the judge does).
 *
 * Invariants
 * G1  Author code runs once, here; the receipt records its result.
 * G2  The receipt's digest covers the bytes that were sent; `assembleRequest` can rebuild them.
 * G3  Text from before a stop or a pause is stored; calls of an `interrupted` answer are ignored.
 * G4  A summary is text: calls beside it are neither judged nor made.
 * G5  The cost is in whole micro-dollars; the model's price gives it when the provider reports none.
 * G6  When an answer holds more calls than a receipt may, the first ones are stored and the receipt counts the others,
 *     for every client.
 * G7  The receipt says whom the call asked, whatever became of it: this is stated before anything that can fail, here
 *     and in no client.
 */

import type { AskedCall, Judge, JudgeContext } from '@reprise/agent';
import { llmGenerate, microDollars } from '@reprise/agent/model';
import {
  type ContextText,
  isFields,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  type LlmToolCall,
  PROMPT_VERSION,
  present,
  requireArgument,
  type Usage,
} from '@reprise/contracts';
import type { Adapter, AdapterContext, AdapterOutcome, ContentStore, EffectDefinition } from '@reprise/kernel';
import { putValue } from '@reprise/kernel/store';
import type { ModelClient, UnifiedResponse } from '../model/model.js';
import { requireClients } from '../model/require-client.js';
import { PromptMemories } from '../prompt/memory.js';
import { droppedWarning, keptCalls } from '../wire/dropped-calls.js';
import { askedOf, FirstChunk } from './asked.js';
import { digestOf, projectCall, type ReadContext } from './assemble-request.js';
import { namingMedia } from './refused-media.js';

/** Who judges answers, and how models are called. */
interface LlmGenerateOptions {
  /** Judges calls and answers, and queries context sources. */
  readonly judge: Judge;
  /** The effect definition to bind to. Default: the agent package's. */
  readonly effect?: EffectDefinition<LlmGenerateParams, LlmGenerateReceipt>;
  /** Reads transcripts. Default: from the kernel's log. */
  readonly readContext?: ReadContext;
  /** How many model calls may run at the same time. Default: the kernel's. */
  readonly concurrency?: number;
}

/**
 * Makes the adapter that executes `llm.generate@2` with the given models.
 *
 * @param models clients by the alias that the journal records; a deployment may put another model behind an alias
 */
export function llmGenerateAdapter(
  models: Readonly<Record<string, ModelClient>>,
  options: LlmGenerateOptions,
): Adapter<LlmGenerateParams, LlmGenerateReceipt> {
  requireClients(models, 'llmGenerateAdapter');
  requireArgument(
    isFields(options) && isFields(options.judge),
    'llmGenerateAdapter(options)',
    'an object with a judge',
    options,
  );
  const memories = new PromptMemories();
  return {
    effect: options.effect ?? llmGenerate,
    name: 'reprise.llm',
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    doExecute: async (params, context) => {
      const client = Object.hasOwn(models, params.model) ? models[params.model] : undefined;
      if (client === undefined) return terminal('unknown_model');
      context.observe?.({ asked: askedOf(client) }); // G7
      if (params.prompt !== PROMPT_VERSION) return terminal('unknown_prompt');
      return execute({ client, params, context, options, memories });
    },
  };
}

function terminal(reason: string): AdapterOutcome<LlmGenerateReceipt> {
  return { status: 'error', code: `provider_error_terminal/${reason}`, retryable: false };
}

interface ModelCall {
  readonly client: ModelClient;
  readonly params: LlmGenerateParams;
  readonly context: AdapterContext;
  readonly options: LlmGenerateOptions;
  readonly memories: PromptMemories;
}

async function execute(call: ModelCall): Promise<AdapterOutcome<LlmGenerateReceipt>> {
  const { client, params, context, options, memories } = call;
  const { content, scope, signal } = context;
  const asked =
    params.context === undefined
      ? await options.judge.context({ params, content, signal, ...reporting(context) })
      : undefined;
  const { request, warnings } = await projectCall(params, {
    content,
    client,
    ...(asked === undefined ? {} : { context: asked }),
    ...present({
      readContext: options.readContext,
      memory: scope === undefined ? undefined : await memories.of(scope, content),
    }),
  });
  const first = new FirstChunk(context);
  const answered = await client.generate(request, {
    signal,
    idempotencyKey: context.idempotencyKey,
    progress: (note) => {
      first.take(note);
      context.progress(note);
    },
    secret: (name) => context.secret(name),
    serverFails: (server, failure) => context.serviceFails?.(server, failure),
    serverWorks: (server) => context.serviceWorks?.(server),
    ...(context.scrubber === undefined ? {} : { scrubber: context.scrubber }),
  });
  if (answered.ok) return settle(call, answered.response, warnings, asked);
  const result = namingMedia(answered, request, () => client.write(request));
  if (result.error !== undefined) context.report?.(result.error);
  return { ...result.failure, ...priced(client, result.failure.usage) };
}

function reporting({ report }: AdapterContext): Pick<JudgeContext, 'report'> {
  return report === undefined ? {} : { report };
}

async function settle(
  { client, params, context, options: { judge } }: ModelCall,
  response: UnifiedResponse,
  losses: readonly string[],
  asked: readonly ContextText[] | undefined,
): Promise<AdapterOutcome<LlmGenerateReceipt>> {
  const { content, signal } = context;
  const { request, finishReason, usage } = response;
  const interrupted = finishReason === 'interrupted';
  const about: JudgeContext = { params, content, signal, ...reporting(context) };
  const silent = interrupted || params.summarise !== undefined; // G3, G4
  const { calls, dropped } = keptCalls(silent ? { calls: [] } : response); // G6
  const isFinal = calls.length === 0 && !interrupted && params.summarise === undefined;
  const judged = calls.length === 0 ? [] : [...(await judge.calls(calls, about))];
  const warnings = [...new Set([...losses, ...droppedWarning(dropped), ...request.warnings, ...response.warnings])];
  const payload: LlmGenerateReceipt = {
    output_ref: await putOutput(response, namedAs(judged, calls), content),
    raw_output_ref: await content.put(response.rawBody),
    request_digest: digestOf(request.body),
    prefix_digest: digestOf(request.body.subarray(0, request.prefixBytes)),
    request_bytes: request.body.length,
    finish_reason: finishReason,
    tool_calls: judged,
    ...present({
      dropped_calls: dropped,
      blank: (response.text ?? '').trim() === '' ? (true as const) : undefined,
      returns: isFinal ? await judge.returns(response.text ?? '', about) : undefined,
      context: asked === undefined ? undefined : [...asked],
      provider_response_id: response.providerResponseId,
      usage_details: response.usageDetails,
      warnings_ref: warnings.length === 0 ? undefined : await putValue(content, warnings),
    }),
  };
  return { status: 'ok', payload, ...priced(client, usage), ...present({ response_model: response.responseModel }) };
}

// G5
function priced({ profile: { price } }: ModelClient, usage: Usage | undefined): { readonly usage?: Usage } {
  if (usage === undefined) return {};
  const cost = price === undefined || usage.micro_money !== undefined ? undefined : microDollars(price, usage);
  return { usage: cost === undefined ? usage : { ...usage, micro_money: cost } };
}

/** The calls under the ids that the judge assigned, so that the stored output and its calls agree. */
function namedAs(judged: readonly LlmToolCall[], calls: readonly AskedCall[]): AskedCall[] {
  return calls.map((call, i) => ({ ...call, callId: judged[i]?.call_id ?? call.callId }));
}

function putOutput({ text, opaque }: UnifiedResponse, calls: readonly AskedCall[], content: ContentStore) {
  return putValue(content, {
    ...present({ text, opaque: opaque === undefined || opaque.length === 0 ? undefined : [...opaque] }),
    tool_calls: calls.map(({ callId, tool, args }) => ({ call_id: callId, tool, args })),
  });
}
