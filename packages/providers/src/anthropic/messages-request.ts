/** How a messages request is made of a unified request. */
import type { OpaquePart } from '@reprise/agent';
import { mintCallIds } from '../call-ids.js';
import { isJsonObject, toJson } from '../json.js';
import type { ProviderProfile, UnifiedMessage, UnifiedRequest } from '../model.js';
import {
  choiceOf,
  type Draft,
  effortOf,
  nativeOptions,
  present,
  sendableCall,
  sendableTools,
  stopTexts,
  within,
} from '../wire/request-fields.js';
import {
  type AssistantBlock,
  continuesThought,
  MESSAGES_CALL_IDS,
  THINKING_TOKENS_MIN,
  thinkingBlock,
  type WireMessage,
} from './messages-rules.js';

/** How a client writes requests. */
export interface MessagesDialect {
  readonly model: string;
  readonly profile: ProviderProfile;
  /** The format demands a number; this one is sent where a call has none. */
  readonly maxTokensDefault: number;
}

/** Fields that no provider option may replace: they are what the journal says was asked. */
const RESERVED = ['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'] as const;

/** How many tokens a model may think, by effort. */
const EFFORT_TOKENS = { low: THINKING_TOKENS_MIN, medium: 4_096, high: 16_384 } as const;

/** The format refuses a history with calls beside no tools at all. */
const NO_TOOL = {
  name: 'no_tool',
  description: 'There are no tools at present. Do not call this.',
  input_schema: { type: 'object', properties: {} },
} as const;

/** Writes a unified request as a messages request, the list that grows last. */
export function toMessagesRequest(unified: UnifiedRequest, dialect: MessagesDialect): Draft {
  const { model, profile } = dialect;
  const warnings: string[] = [];
  if (unified.responseFormat !== undefined) warnings.push('unsupported:response_format');
  const native = nativeOptions(unified, profile, RESERVED, warnings);
  const messages = mergeSides(mintCallIds(unified.messages, MESSAGES_CALL_IDS), warnings);
  const max_tokens = unified.maxTokens ?? dialect.maxTokensDefault;
  const asked = native.thinking ?? thinkingOf(effortOf(unified, profile, warnings), max_tokens);
  const enabled = isJsonObject(asked) && asked.type === 'enabled';
  const thinking = enabled && !mayThink(asked, max_tokens, messages) ? undefined : asked;
  if (thinking !== asked) warnings.push('unsupported:thinking_here');
  const thinks = enabled && thinking !== undefined;
  const body = {
    model,
    stream: profile.supports_streaming,
    ...withoutThinking(native),
    ...present({
      max_tokens,
      thinking,
      temperature: temperatureOf(unified, thinks, warnings),
      stop_sequences: stopTexts(unified.stopSequences, Infinity, warnings),
      metadata: metadataOf(unified, warnings),
      system: unified.system.trim() === '' ? undefined : unified.system,
    }),
    ...toolFields(unified, profile, { thinks, called: hasCalls(messages) }, warnings),
    messages,
  };
  return { body, warnings };
}

function withoutThinking({ thinking: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest;
}

function thinkingOf(effort: UnifiedRequest['reasoningEffort'], maxTokens: number) {
  if (effort === undefined) return undefined;
  return { type: 'enabled', budget_tokens: Math.min(EFFORT_TOKENS[effort], maxTokens - 1) };
}

/** Thinking needs room, and, while calls are being answered, an answer that began with it. */
function mayThink(thinking: unknown, maxTokens: number, messages: readonly WireMessage[]): boolean {
  const budget = isJsonObject(thinking) ? thinking.budget_tokens : undefined;
  const fits = typeof budget === 'number' && budget >= THINKING_TOKENS_MIN && budget < maxTokens;
  return fits && continuesThought(messages);
}

function temperatureOf({ temperature }: UnifiedRequest, thinks: boolean, warnings: string[]): number | undefined {
  if (!thinks) return within(temperature, [0, 1], 'temperature', warnings);
  if (temperature !== undefined && temperature !== 1) warnings.push('parameter_changed:temperature');
  return undefined;
}

function metadataOf({ metadata }: UnifiedRequest, warnings: string[]) {
  if (metadata === undefined) return undefined;
  const user_id = metadata.user_id?.slice(0, 256);
  if (Object.keys(metadata).some((key) => key !== 'user_id')) warnings.push('parameter_changed:metadata');
  return user_id === undefined ? undefined : { user_id };
}

function toolFields(
  unified: UnifiedRequest,
  profile: ProviderProfile,
  { thinks, called }: { readonly thinks: boolean; readonly called: boolean },
  warnings: string[],
): Record<string, unknown> {
  const tools = sendableTools(unified, warnings);
  const choice = choiceOf(unified, tools, profile, warnings);
  if (tools.length === 0) return called ? { tools: [NO_TOOL], tool_choice: { type: 'none' } } : {};
  const forced = choice === 'required' || typeof choice === 'object';
  if (forced && thinks) warnings.push('unsupported:tool_choice');
  return present({
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    tool_choice: forced && thinks ? undefined : wireChoice(choice),
  });
}

function wireChoice(choice: ReturnType<typeof choiceOf>) {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool };
  return { type: choice === 'required' ? 'any' : choice };
}

function hasCalls(messages: readonly WireMessage[]): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type === 'tool_use'));
}

/** Results and what is said after them are one message of the user's side. */
function mergeSides(messages: readonly UnifiedMessage[], warnings: string[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      merged.push({ role: 'assistant', content: assistantBlocks(message, warnings) });
      continue;
    }
    const blocks = userBlocks(message);
    const last = merged.at(-1);
    if (last?.role === 'user') last.content.push(...blocks);
    else merged.push({ role: 'user', content: blocks });
  }
  return merged;
}

function userBlocks(
  message: Exclude<UnifiedMessage, { role: 'assistant' }>,
): (WireMessage & { role: 'user' })['content'] {
  if (message.role === 'user') return message.parts.map(({ text }) => ({ type: 'text', text }));
  const failed = message.isError ? { is_error: true } : {};
  return [{ type: 'tool_result', tool_use_id: message.callId, content: message.text, ...failed }];
}

function assistantBlocks(message: UnifiedMessage & { role: 'assistant' }, warnings: string[]): AssistantBlock[] {
  const said: AssistantBlock[] = message.text === undefined ? [] : [{ type: 'text', text: message.text }];
  const calls = message.calls.map((call): AssistantBlock => {
    const { id, name, args } = sendableCall(call);
    return { type: 'tool_use', id, name, input: args };
  });
  return [...thoughtsOf(message.opaque ?? [], warnings), ...said, ...calls];
}

function thoughtsOf(parts: readonly OpaquePart[], warnings: string[]): AssistantBlock[] {
  return parts.flatMap(({ kind, native }) => {
    const parsed = thinkingBlock.safeParse(toJson(native));
    if (parsed.success) return [parsed.data];
    warnings.push(`projection_loss:${kind}`);
    return [];
  });
}
