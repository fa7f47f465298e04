/**
 * The adapter of `llm.generate@2`: reads what the parameters link, asks a model, stores what it said.
 *
 * Owns: blobs in and out, the receipt. Does not own: the wire (a client's), the transcript's log (`readContext`).
 */
import type { TranscriptItem } from '@reprise/agent';
import { llmGenerate, putValue, readText, readTranscript, readValue } from '@reprise/agent';
import {
  type LlmGenerateParams,
  type LlmGenerateReceipt,
  type LlmToolCall,
  type Ref,
  RepriseError,
  toolDescriptor,
  type Value,
  value,
} from '@reprise/contracts';
import {
  type Adapter,
  type AdapterContext,
  type ContentReader,
  type EffectDefinition,
  type Outcome,
  portableSha256,
  toHex,
} from '@reprise/kernel';
import * as z from 'zod';
import type { ModelClient, RequestedCall, UnifiedRequest, UnifiedResponse, UnifiedTool } from './model.js';
import { projectTranscript } from './project-transcript.js';

/** Reads the items of a transcript whose head is linked, oldest first. */
export type ReadContext = (content: ContentReader, head: Ref) => AsyncIterable<TranscriptItem>;

/** What {@link llmGenerateAdapter} takes besides the models. */
export interface LlmGenerateOptions {
  /** The definition to bind to. Default: the agent package's. */
  readonly effect?: EffectDefinition<LlmGenerateParams, LlmGenerateReceipt>;
  /** How a transcript is read. Default: from the kernel's log. */
  readonly readContext?: ReadContext;
  /** How many model calls may run at once. Default: the kernel's. */
  readonly concurrency?: number;
}

/**
 * The adapter that performs `llm.generate@2` with these models.
 *
 * @param models clients by the alias that the journal knows; a deploy may put another model behind an alias
 */
export function llmGenerateAdapter(
  models: Readonly<Record<string, ModelClient>>,
  options: LlmGenerateOptions = {},
): Adapter<LlmGenerateParams, LlmGenerateReceipt> {
  return {
    effect: options.effect ?? llmGenerate,
    name: 'reprise.llm',
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    doExecute: (params, context) => {
      const client = Object.hasOwn(models, params.model) ? models[params.model] : undefined;
      return client === undefined
        ? unknownModel()
        : perform(client, params, context, options.readContext ?? readTranscript);
    },
  };
}

async function unknownModel(): Promise<Outcome<LlmGenerateReceipt>> {
  return { status: 'error', code: 'provider_error_terminal/unknown_model', retryable: false };
}

async function perform(
  client: ModelClient,
  params: LlmGenerateParams,
  context: AdapterContext,
  readContext: ReadContext,
): Promise<Outcome<LlmGenerateReceipt>> {
  const projection = await projectTranscript(context.content, readContext(context.content, params.context_head));
  const tools = await readTools(context.content, params.tools_ref);
  const request = {
    ...(await requestOf(params, context.content)),
    tools: tools.map(({ told }) => told),
    messages: projection.messages,
  };
  const result = await client.generate(request, {
    signal: context.signal,
    idempotencyKey: context.idempotencyKey,
    progress: (note) => context.progress(note),
    secret: (name) => context.secret(name),
  });
  if (!result.ok) return result.failure;
  const losses = projection.losses.map((loss) => `projection_loss:${loss}`);
  return store(result.response, losses, tools, context);
}

async function requestOf(
  params: LlmGenerateParams,
  content: ContentReader,
): Promise<Omit<UnifiedRequest, 'messages' | 'tools'>> {
  const linked = async (link: Ref | undefined) => (link === undefined ? undefined : readValue(content, link));
  const options = await linked(params.provider_options_ref);
  const fields: Partial<UnifiedRequest> = present({
    maxTokens: params.max_tokens,
    temperature: params.temperature,
    toolChoice: params.tool_choice,
    reasoningEffort: params.reasoning_effort,
    stopSequences: params.stop_sequences,
    metadata: params.metadata,
    responseFormat: await linked(params.response_format_ref),
    providerOptions: options === undefined ? undefined : optionsOf(options),
  });
  return {
    system: await readText(content, params.system_ref),
    ...fields,
  };
}

function optionsOf(options: Value): Readonly<Record<string, Value>> {
  const parsed = z.record(z.string(), value()).safeParse(options);
  if (parsed.success) return parsed.data;
  throw new RepriseError('invalid_value', 'provider options are a map', { cause: parsed.error });
}

/** How a tool's calls are delivered; beside what the model is told, in the same list. */
const deliveryTerms = z.strictObject({
  delivery: z.exactOptional(z.enum(['idempotent', 'at_most_once'])),
  timeout_ms: z.exactOptional(z.int().min(1)),
});

const toolList = z.array(
  z.union([
    toolDescriptor.extend(deliveryTerms.shape),
    toolDescriptor.omit({ schema_ref: true }).extend({ schema: value(), ...deliveryTerms.shape }),
  ]),
);

/** A tool as the list says it: what the model is told, and the terms of a call. */
interface ListedTool {
  readonly told: UnifiedTool;
  readonly terms: z.infer<typeof deliveryTerms>;
}

/** Tools as the list says, the schema in place or behind its link. */
async function readTools(content: ContentReader, link: Ref): Promise<ListedTool[]> {
  const parsed = toolList.safeParse(await readValue(content, link));
  if (!parsed.success) {
    throw new RepriseError('invalid_value', 'this blob is not a list of tools', {
      where: link.toString(),
      expected: '{name, description, schema}',
      cause: parsed.error,
    });
  }
  return Promise.all(
    parsed.data.map(async (tool) => {
      const schema = 'schema' in tool ? tool.schema : await readValue(content, tool.schema_ref);
      const terms = present({ delivery: tool.delivery, timeout_ms: tool.timeout_ms });
      return { told: { name: tool.name, description: tool.description, schema }, terms };
    }),
  );
}

async function store(
  response: UnifiedResponse,
  losses: readonly string[],
  tools: readonly ListedTool[],
  { content }: AdapterContext,
): Promise<Outcome<LlmGenerateReceipt>> {
  const calls = response.calls.map(({ callId, tool, args }) => ({ call_id: callId, tool, args }));
  const output = { ...(response.text === undefined ? {} : { text: response.text }), tool_calls: calls };
  const warnings = [...losses, ...response.warnings];
  const payload: LlmGenerateReceipt = {
    output_ref: await putValue(content, output),
    raw_output_ref: await content.put(response.rawBody),
    request_digest: toHex(portableSha256(response.requestBody)),
    finish_reason: response.finishReason,
    tool_calls: await Promise.all(response.calls.map((call) => judge(call, tools, content))),
    ...present({
      provider_response_id: response.providerResponseId,
      usage_details: response.usageDetails,
      warnings_ref: warnings.length === 0 ? undefined : await putValue(content, warnings),
    }),
  };
  return { status: 'ok', payload, ...(response.usage === undefined ? {} : { usage: response.usage }) };
}

/** Judges a call where the tools are known: recorded once, so that a deploy cannot change what was decided. */
async function judge(
  { callId, tool, args, issue }: RequestedCall,
  tools: readonly ListedTool[],
  content: AdapterContext['content'],
): Promise<LlmToolCall> {
  const args_ref = await putValue(content, args);
  const listed = tools.find(({ told }) => told.name === tool);
  const found = issue ?? (listed === undefined ? 'tool_not_found' : undefined);
  return { call_id: callId, tool, args_ref, ...listed?.terms, ...(found === undefined ? {} : { issue: found }) };
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined)) as Present<T>;
}
