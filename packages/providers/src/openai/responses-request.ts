/** How a responses request is made of a unified request. Nothing is left at the provider: each request says everything. */
import type { OpaquePart } from '@reprise/agent';
import { mintCallIds } from '../call-ids.js';
import { toJson } from '../json.js';
import type { ProviderProfile, UnifiedMessage, UnifiedRequest } from '../model.js';
import {
  choiceOf,
  type Draft,
  effortOf,
  metadataOf,
  nativeOptions,
  present,
  sayingText,
  sendableCall,
  sendableTools,
  within,
} from '../wire/request-fields.js';
import { RESPONSES_CALL_IDS, type ResponsesItem, reasoningItem } from './responses-rules.js';

/** How a client writes requests. */
export interface ResponsesDialect {
  readonly model: string;
  readonly profile: ProviderProfile;
}

/** Fields that no provider option may replace: they are what the journal says was asked. */
const RESERVED = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'stream', 'previous_response_id'] as const;

/** The least that the format takes. */
const OUTPUT_TOKENS_MIN = 16;

/** Writes a unified request as a responses request, the list that grows last. */
export function toResponsesRequest(unified: UnifiedRequest, { model, profile }: ResponsesDialect): Draft {
  const warnings: string[] = [];
  if (unified.stopSequences !== undefined) warnings.push('unsupported:stop_sequences');
  const effort = effortOf(unified, profile, warnings);
  const body = {
    model,
    stream: profile.supports_streaming,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...nativeOptions(unified, profile, RESERVED, warnings),
    ...present({
      max_output_tokens: within(unified.maxTokens, [OUTPUT_TOKENS_MIN, Infinity], 'max_tokens', warnings),
      temperature: within(unified.temperature, [0, 2], 'temperature', warnings),
      metadata: metadataOf(unified.metadata, warnings),
      text: unified.responseFormat === undefined ? undefined : { format: toJson(unified.responseFormat) },
      instructions: unified.system.trim() === '' ? undefined : unified.system,
    }),
    ...toolFields(unified, profile, warnings),
    input: mintCallIds(unified.messages, RESPONSES_CALL_IDS).flatMap((message) => itemsOf(message, warnings)),
  };
  return { body, warnings };
}

function toolFields(unified: UnifiedRequest, profile: ProviderProfile, warnings: string[]): Record<string, unknown> {
  const tools = sendableTools(unified, warnings);
  const choice = choiceOf(unified, tools, profile, warnings);
  if (tools.length === 0) return {};
  return present({
    // Not strict: that form knows only a part of JSON Schema, and arguments are checked here anyway.
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
      strict: false,
    })),
    tool_choice: typeof choice === 'object' ? { type: 'function', name: choice.tool } : choice,
  });
}

function itemsOf(message: UnifiedMessage, warnings: string[]): ResponsesItem[] {
  if (message.role === 'user') return [{ type: 'message', role: 'user', content: sayingText(message) }];
  if (message.role === 'tool') {
    return [{ type: 'function_call_output', call_id: message.callId, output: message.text }];
  }
  const said: ResponsesItem[] =
    message.text === undefined ? [] : [{ type: 'message', role: 'assistant', content: message.text }];
  const calls = message.calls.map((call): ResponsesItem => {
    const { id, name, args } = sendableCall(call);
    return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) };
  });
  return [...reasoningOf(message.opaque ?? [], warnings), ...said, ...calls];
}

/** Reasoning that can go back without anything being kept at the provider. */
function reasoningOf(parts: readonly OpaquePart[], warnings: string[]): ResponsesItem[] {
  return parts.flatMap(({ kind, native }) => {
    const parsed = reasoningItem.safeParse(toJson(native));
    if (parsed.success) return [parsed.data];
    warnings.push(`projection_loss:${kind}`);
    return [];
  });
}
