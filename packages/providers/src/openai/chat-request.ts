/** Writes a unified request as a chat-completions request. */

import type { OpaquePart } from '@reprise/agent';
import { present } from '@reprise/contracts';
import { mintCallIds } from '../model/call-ids.js';
import { isJsonObject, toJson } from '../model/json.js';
import type { ProviderProfile, UnifiedMessage, UnifiedPart, UnifiedRequest } from '../model/model.js';
import { SCHEMA_RULES } from '../schemas/schema-rules.js';
import {
  choiceOf,
  type Draft,
  dataUrlOf,
  ElementWriter,
  effortOf,
  fileNameOf,
  isImage,
  metadataOf,
  nativeOptions,
  sayingText,
  sendableCall,
  sendableTools,
  stopTexts,
  within,
} from '../wire/request-fields.js';
import { CHAT_CALL_IDS, type ChatMessage, type ChatPart } from './chat-rules.js';

/** Options that decide how a request is written. */
export interface ChatDialect {
  readonly model: string;
  readonly profile: ProviderProfile;
  /** Newer OpenAI models take `max_completion_tokens`, all other servers `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Whether the model's reasoning is sent back to it: some servers require this, others refuse it. */
  readonly returnReasoning: boolean;
}

/** Fields that provider options cannot replace: the journal records them. */
const RESERVED = ['model', 'messages', 'tools', 'tool_choice', 'stream', 'n'] as const;

/** Fields of a message that hold reasoning, by server. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/**
 * Writes a unified request as a chat-completions request. The order of the fields is fixed and the growing list
 * comes last, so that a longer conversation begins with the same bytes.
 */
export function toChatRequest(unified: UnifiedRequest, dialect: ChatDialect): Draft {
  const { profile } = dialect;
  const warnings: string[] = [];
  const streamed = profile.supports_streaming ? { stream: true, stream_options: { include_usage: true } } : {};
  const body = {
    model: dialect.model,
    stream: false,
    ...streamed,
    ...nativeOptions(unified, profile, RESERVED, warnings),
    ...present({
      [dialect.maxTokensField]: unified.maxTokens,
      temperature: within(unified.temperature, [0, 2], 'temperature', warnings),
      reasoning_effort: effortOf(unified, profile, warnings),
      stop: stopTexts(unified.stopSequences, 4, warnings),
      metadata: metadataOf(unified.metadata, warnings),
      response_format: unified.responseFormat === undefined ? undefined : toJson(unified.responseFormat),
    }),
    ...toolFields(unified, profile, warnings),
    messages: chatMessages(unified, dialect, warnings),
  };
  return { body, warnings };
}

function toolFields(unified: UnifiedRequest, profile: ProviderProfile, warnings: string[]): Record<string, unknown> {
  const tools = sendableTools(unified, SCHEMA_RULES['openai-chat'], warnings);
  const choice = choiceOf(unified, tools, profile, warnings);
  if (tools.length === 0) return {};
  return present({
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
    tool_choice: typeof choice === 'object' ? { type: 'function', function: { name: choice.tool } } : choice,
  });
}

function chatMessages(unified: UnifiedRequest, dialect: ChatDialect, warnings: string[]): ChatMessage[] {
  const system: ChatMessage[] = unified.system.trim() === '' ? [] : [{ role: 'system', content: unified.system }];
  const messages = mintCallIds(unified.messages, CHAT_CALL_IDS);
  const key = dialect.returnReasoning ? 'reasoning' : '';
  const written = (message: UnifiedMessage) =>
    writer.write([message], key, warnings, (codes) => [chatMessageOf(message, dialect, codes)]);
  return [...system, ...messages.flatMap(written)];
}

const writer = new ElementWriter<ChatMessage>();

function chatMessageOf(
  message: UnifiedMessage,
  dialect: Pick<ChatDialect, 'returnReasoning'>,
  warnings: string[],
): ChatMessage {
  if (message.role === 'user') return { role: 'user', content: sayingText(message) ?? message.parts.map(partOf) };
  if (message.role === 'tool') {
    // A result can only be text in this format; its text names images and documents.
    for (const media of message.media ?? []) warnings.push(`prompt_loss:${isImage(media) ? 'image' : 'document'}`);
    return { role: 'tool', tool_call_id: message.callId, content: message.text };
  }
  const calls = message.calls.map((call) => {
    const { id, name, args } = sendableCall(call);
    return { id, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
  });
  return {
    role: 'assistant',
    content: message.text ?? null,
    ...(dialect.returnReasoning ? reasoningFields(message.opaque ?? [], warnings) : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function partOf(part: UnifiedPart): ChatPart {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  if (isImage(part)) return { type: 'image_url', image_url: { url: dataUrlOf(part) } };
  return { type: 'file', file: { filename: fileNameOf(part), file_data: dataUrlOf(part) } };
}

type Reasoning = Pick<ChatMessage & { role: 'assistant' }, (typeof REASONING_FIELDS)[number]>;

/** Reasoning in the fields in which the server sent it. */
function reasoningFields(parts: readonly OpaquePart[], warnings: string[]): Partial<Reasoning> {
  const fields: Partial<Record<keyof Reasoning, unknown>> = {};
  for (const { kind, native } of parts) {
    const given = toJson(native);
    const known = isJsonObject(given) ? REASONING_FIELDS.filter((field) => isReasoning(field, given[field])) : [];
    if (known.length === 0) warnings.push(`prompt_loss:${kind}`);
    for (const field of known) fields[field] = (given as Readonly<Record<string, unknown>>)[field];
  }
  return fields as Partial<Reasoning>;
}

function isReasoning(field: (typeof REASONING_FIELDS)[number], given: unknown): boolean {
  return field === 'reasoning_details' ? Array.isArray(given) && given.every(isJsonObject) : typeof given === 'string';
}
