/**
 * From the recorded parameters of a model call to the request that it stands for: at dispatch, and again whenever
 * somebody wants to see or to check what was sent.
 */

import { readTranscript, readValue, type TranscriptItem } from '@reprise/agent';
import {
  type ContextText,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  type Ref,
  RepriseError,
  type Value,
  value,
} from '@reprise/contracts';
import { type ContentReader, portableSha256, toHex } from '@reprise/kernel';
import * as z from 'zod';
import type { ModelClient, UnifiedRequest, WrittenRequest } from '../model/model.js';
import { assemblePrompt, PROMPT_VERSION } from '../prompt/assemble-prompt.js';
import { readTools } from '../prompt/read-tools.js';
import { TranscriptReader } from '../prompt/reader.js';
import { systemText } from '../prompt/system-text.js';

/** Reads the items of a transcript whose head is linked: single ones, and all from an index on; oldest first. */
export type ReadContext = (
  content: ContentReader,
  head: Ref,
  from: number,
  singles: readonly number[],
) => AsyncIterable<TranscriptItem>;

/** What a request is projected from besides its parameters. */
export interface PromptSources {
  readonly content: ContentReader;
  /** Who is asked: decides what of the transcript it is told, and how it is written. */
  readonly client: Pick<ModelClient, 'profile' | 'write'>;
  /** What context sources gave, where the parameters do not say it: the receipt does. */
  readonly context?: readonly ContextText[];
  /** How a transcript is read. Default: from the kernel's log. */
  readonly readContext?: ReadContext;
}

/** A request for any provider, and what of the transcript is not in it. */
export interface ProjectedCall {
  readonly request: UnifiedRequest;
  /** Codes, each once: `prompt_loss:reasoning` and the like. */
  readonly warnings: readonly string[];
  /** Whether content that it would tell was erased. */
  readonly erased: boolean;
}

/**
 * Projects a model call.
 *
 * @throws RepriseError `blob_missing`, `blob_erased`, `invalid_value` for the tools and options that the parameters
 *   link; never for what the transcript links
 */
export async function projectCall(params: LlmGenerateParams, sources: PromptSources): Promise<ProjectedCall> {
  const { content, client } = sources;
  const { profile } = client;
  const context = params.context ?? sources.context ?? [];
  const { base_ref } = params.window;
  const { ask_ref, head } = params.summarise ?? {};
  const { messages, losses, erased } = await assemblePrompt(content, windowOf(params, sources), {
    profile: profile.profile_id,
    model: profile.model_default,
    parallelCalls: profile.supports_parallel_tool_calls,
    mediaTypes: profile.media_types ?? [],
    ...(base_ref === undefined ? {} : { base: base_ref }),
    ...(ask_ref === undefined ? {} : { ask: ask_ref }),
    ...(head === undefined ? {} : { resultBytesMax: head }),
  });
  const reader = new TranscriptReader(content);
  const system = await systemText(params.system_ref, context, reader);
  const request = {
    system,
    tools: await readTools(content, [params.tools_ref, ...(params.toolset_refs ?? [])]),
    messages,
    ...(await optionsOf(params, content)),
  };
  const warnings = new Set([...losses, ...reader.losses].map((loss) => `prompt_loss:${loss}`));
  return { request, warnings: [...warnings].sort(), erased: erased || reader.erased };
}

/** The items that a call tells: those that were pinned before its window, and those in it. */
async function* windowOf(
  { context_head, window: { from, pins = [] }, summarise }: LlmGenerateParams,
  { content, readContext = readTranscript }: PromptSources,
): AsyncGenerator<TranscriptItem> {
  const singles = pins.filter((item) => item < from);
  let left = summarise === undefined ? Number.POSITIVE_INFINITY : singles.length + summarise.to - from;
  for await (const item of readContext(content, context_head, from, singles)) {
    if (left-- <= 0) return;
    yield item;
  }
}

async function optionsOf(params: LlmGenerateParams, content: ContentReader): Promise<Partial<UnifiedRequest>> {
  const linked = async (link: Ref | undefined) => (link === undefined ? undefined : readValue(content, link));
  const native = await linked(params.provider_options_ref);
  const fields = {
    maxTokens: params.max_tokens,
    temperature: params.temperature,
    toolChoice: params.tool_choice,
    reasoningEffort: params.reasoning_effort,
    stopSequences: params.stop_sequences,
    metadata: params.metadata,
    responseFormat: await linked(params.response_format_ref),
    providerOptions: native === undefined ? undefined : nativeOf(native),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
}

function nativeOf(options: Value): Readonly<Record<string, Value>> {
  const parsed = z.record(z.string(), value()).safeParse(options);
  if (parsed.success) return parsed.data;
  throw new RepriseError('invalid_value', 'these provider options are not a map', { cause: parsed.error });
}

/** What a recorded model call sent. */
export interface AssembledRequest {
  readonly written: WrittenRequest;
  /** The request's body as JSON data. */
  readonly body: unknown;
  /** Of the body, as receipts record it. */
  readonly digest: string;
  readonly prefixDigest: string;
  /** Whether content that it tells was erased: then it is not what was sent before that. */
  readonly erased: boolean;
}

/**
 * Projects the request of a recorded model call again, in bytes.
 *
 * @param receipt the payload that answered it; where the parameters say no context, it does
 * @example (await assembleRequest(params, { content, client }, receipt)).digest === receipt.request_digest
 */
export async function assembleRequest(
  params: LlmGenerateParams,
  sources: PromptSources,
  receipt?: Pick<LlmGenerateReceipt, 'context'>,
): Promise<AssembledRequest> {
  if (params.prompt !== PROMPT_VERSION) throw unknownPrompt(params.prompt);
  const context = receipt?.context === undefined ? {} : { context: receipt.context };
  const { request, erased } = await projectCall(params, { ...sources, ...context });
  const written = sources.client.write(request);
  return {
    written,
    body: JSON.parse(new TextDecoder().decode(written.body)),
    digest: digestOf(written.body),
    prefixDigest: digestOf(written.body.subarray(0, written.prefixBytes)),
    erased,
  };
}

/** A digest as receipts hold it. */
export function digestOf(bytes: Uint8Array): string {
  return toHex(portableSha256(bytes));
}

function unknownPrompt(actual: string): RepriseError {
  return new RepriseError('invalid_value', 'this build has no such prompt assembly', {
    where: 'params.prompt',
    expected: PROMPT_VERSION,
    actual,
    hint: 'Use a release that is not older than the one that recorded the call.',
  });
}
