/**
 * Rebuilds the request of a model call from its recorded parameters: when the call is dispatched, and later to show or
 * verify what was sent.
 */

import type { TranscriptItem } from '@reprise/agent';
import {
  type ContextText,
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  PROMPT_VERSION,
  parseOwnJson,
  present,
  type Ref,
  RepriseError,
  requireFields,
  type Value,
  value,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { ContentReader } from '@reprise/kernel';
import { toHex } from '@reprise/kernel/codec';
import { getValue, hostSha256, readLogParts } from '@reprise/kernel/store';
import type { ModelClient, UnifiedRequest, WrittenRequest } from '../model/model.js';
import { assemblePrompt, type PartSource } from '../prompt/assemble-prompt.js';
import type { PromptMemory } from '../prompt/memory.js';
import { readTools } from '../prompt/read-tools.js';
import { TranscriptReader } from '../prompt/reader.js';
import { systemText } from '../prompt/system-text.js';

/** Reads items of a transcript by its head's link: single items, or all from an index on; oldest first. */
export type ReadContext = (
  content: ContentReader,
  head: Ref,
  from: number,
  singles: readonly number[],
) => AsyncIterable<TranscriptItem>;

/** Inputs of a request besides its parameters. */
interface PromptSources {
  readonly content: ContentReader;
  /** The model's client: its profile decides what the model can read, and it writes the request. */
  readonly client: Pick<ModelClient, 'profile' | 'sendable' | 'write'>;
  /** Texts from context sources when the parameters do not hold them; the receipt does then. */
  readonly context?: readonly ContextText[];
  /** Reads transcripts. Default: from the kernel's log. */
  readonly readContext?: ReadContext;
  /** What earlier calls of the same world have read. */
  readonly memory?: PromptMemory;
}

/** A request for any provider, with warnings about parts of the transcript that it leaves out. */
export interface ProjectedCall {
  readonly request: UnifiedRequest;
  /** Warning codes without duplicates, such as `prompt_loss:reasoning`. */
  readonly warnings: readonly string[];
  /** Whether some of its content was erased. */
  readonly erased: boolean;
  /** The items of the transcript that it sends, by their index in it. */
  readonly items: ReadonlyMap<number, TranscriptItem>;
  /** For each message, the items whose parts it holds, by their index; see {@link PartSource}. */
  readonly sources: readonly (readonly PartSource[])[];
}

/**
 * Assembles the unified request of a model call.
 *
 * @throws RepriseError `blob_missing`, `blob_erased` or `invalid_value` when the tools or options that the parameters
 *   link cannot be read; content that the transcript links never throws
 */
export async function projectCall(params: LlmGenerateParams, sources: PromptSources): Promise<ProjectedCall> {
  const { content, client, memory } = sources;
  const { profile } = client;
  const context = params.context ?? sources.context ?? [];
  const { base_ref, dropped } = params.window;
  const { ask_ref, head } = params.summarise ?? {};
  const target = {
    profile: profile.profile_id,
    model: profile.model_default,
    parallelCalls: profile.supports_parallel_tool_calls,
    mediaTypes: profile.media_types ?? [],
    ...present({ base: base_ref, ask: ask_ref, resultBytesMax: head, sendable: client.sendable, dropped }),
  };
  const items = await windowOf(params, sources);
  const { messages, losses, erased, sources: from } = await assemblePrompt(content, items, target, memory);
  const reader = new TranscriptReader(content);
  const system = systemText(params.system_ref, context, reader, memory);
  const tools = readTools(content, [params.tools_ref, ...(params.toolset_refs ?? [])], memory);
  const { provider_options_ref: native, response_format_ref: format } = params;
  const request = {
    system: typeof system === 'string' ? system : await system,
    tools: tools instanceof Promise ? await tools : tools,
    messages,
    ...optionsOf(
      params,
      native === undefined ? undefined : await getValue(content, native),
      format === undefined ? undefined : await getValue(content, format),
    ),
  };
  const warnings = new Set([...losses, ...reader.losses].map((loss) => `prompt_loss:${loss}`));
  const places = placesOf(params, items.length);
  return {
    request,
    warnings: [...warnings].sort(),
    erased: erased || reader.erased,
    items: new Map(items.map((item, i) => [places[i] ?? i, item])),
    sources: from.map((parts) =>
      parts.map(({ of, parts: many }) => ({ of: typeof of === 'number' ? (places[of] ?? of) : of, parts: many })),
    ),
  };
}

/** The indexes in the transcript of the items that a call sends: the pinned ones, then its window. */
function placesOf({ window: { from, pins = [] } }: LlmGenerateParams, count: number): number[] {
  const singles = pins.filter((item) => item < from);
  return Array.from({ length: count }, (_, i) => singles[i] ?? from + i - singles.length);
}

/** The items that the call sends: those pinned before its window, then those in the window. */
async function windowOf(
  { context_head, window: { from, pins = [] }, summarise }: LlmGenerateParams,
  { content, readContext, memory }: PromptSources,
): Promise<TranscriptItem[]> {
  const singles = pins.filter((item) => item < from);
  const most = summarise === undefined ? Number.POSITIVE_INFINITY : singles.length + summarise.to - from;
  const items: TranscriptItem[] = [];
  const node = (ref: Ref) => (memory === undefined ? getValue(content, ref) : memory.node(content, ref));
  const parts =
    readContext === undefined
      ? readLogParts(node, context_head, from, singles)
      : oneByOne(readContext(content, context_head, from, singles));
  while (items.length < most) {
    const given = parts.next();
    const part = given instanceof Promise ? await given : given;
    if (part === undefined) break;
    // The session reducer's log schema checked each item before it was appended.
    items.push(...(part as unknown as readonly TranscriptItem[]));
  }
  return items.slice(0, most);
}

function oneByOne(items: AsyncIterable<TranscriptItem>): { next(): Promise<readonly TranscriptItem[] | undefined> } {
  const reading = items[Symbol.asyncIterator]();
  return {
    next: async () => {
      const { done, value: item } = await reading.next();
      return done === true ? undefined : [item];
    },
  };
}

function optionsOf(
  params: LlmGenerateParams,
  native: Value | undefined,
  responseFormat: Value | undefined,
): Partial<UnifiedRequest> {
  const fields = {
    maxTokens: params.max_tokens,
    temperature: params.temperature,
    toolChoice: params.tool_choice,
    reasoningEffort: params.reasoning_effort,
    stopSequences: params.stop_sequences,
    metadata: params.metadata,
    responseFormat,
    providerOptions: native === undefined ? undefined : nativeOf(native),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));
}

function nativeOf(options: Value): Readonly<Record<string, Value>> {
  const parsed = z.record(z.string(), value()).safeParse(options);
  if (parsed.success) return parsed.data;
  throw new RepriseError('invalid_value', 'provider options are not a map', { cause: parsed.error });
}

/** The request that a recorded model call sent. */
export interface AssembledRequest {
  readonly written: WrittenRequest;
  /** The request's body as JSON data. */
  readonly body: unknown;
  /** The digest of the body, as receipts record it. */
  readonly digest: string;
  readonly prefixDigest: string;
  /** Whether content of the request was erased since; the body then differs from what was sent. */
  readonly erased: boolean;
}

/**
 * Rebuilds the request of a recorded model call byte for byte.
 *
 * @param receipt the payload of the call's receipt; it holds the context texts when the parameters do not
 * @example (await assembleRequest(params, { content, client }, receipt)).digest === receipt.request_digest
 */
export async function assembleRequest(
  params: LlmGenerateParams,
  sources: PromptSources,
  receipt?: Pick<LlmGenerateReceipt, 'context'>,
): Promise<AssembledRequest> {
  requireFields(params, 'assembleRequest(params)', 'the parameters of a model call');
  requireFields(sources, 'assembleRequest(sources)', 'an object with content and client');
  if (params.prompt !== PROMPT_VERSION) throw unknownPrompt(params.prompt);
  const context = receipt?.context === undefined ? {} : { context: receipt.context };
  const { request, erased } = await projectCall(params, { ...sources, ...context });
  const written = sources.client.write(request);
  return {
    written,
    body: parseOwnJson(new TextDecoder().decode(written.body)),
    digest: digestOf(written.body),
    prefixDigest: digestOf(written.body.subarray(0, written.prefixBytes)),
    erased,
  };
}

/** Computes a digest in the form that receipts store. */
export function digestOf(bytes: Uint8Array): string {
  return toHex(hostSha256()(bytes));
}

function unknownPrompt(actual: string): RepriseError {
  return new RepriseError('invalid_value', 'unknown version of the prompt assembly', {
    where: 'params.prompt',
    expected: PROMPT_VERSION,
    actual,
    hint: 'Use a release at least as new as the one that recorded the call.',
  });
}
