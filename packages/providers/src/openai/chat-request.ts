/** The chat-completions request: its shape, its rules, and how it is made of a unified request. */
import type { Value } from '@reprise/contracts';
import * as z from 'zod';
import type { ProviderProfile, UnifiedCall, UnifiedMessage, UnifiedRequest } from '../model.js';

const functionName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const callId = z.string().min(1).max(128);

const systemMessage = z.strictObject({ role: z.literal('system'), content: z.string().min(1) });
const userMessage = z.strictObject({ role: z.literal('user'), content: z.string() });
const toolMessage = z.strictObject({ role: z.literal('tool'), tool_call_id: callId, content: z.string() });
const assistantMessage = z.strictObject({
  role: z.literal('assistant'),
  content: z.nullable(z.string()),
  tool_calls: z.exactOptional(
    z
      .array(
        z.strictObject({
          id: callId,
          type: z.literal('function'),
          function: z.strictObject({
            name: functionName,
            arguments: z.string().refine(isJsonObject, 'not a JSON object'),
          }),
        }),
      )
      .min(1),
  ),
});

const chatMessage = z.discriminatedUnion('role', [systemMessage, userMessage, assistantMessage, toolMessage]);

/** The fields of a request that we write; provider-native ones come beside them. */
const chatRequest = z.looseObject({
  model: z.string().min(1),
  messages: z.array(chatMessage).min(1),
  tools: z.exactOptional(
    z
      .array(
        z.strictObject({
          type: z.literal('function'),
          function: z.strictObject({
            name: functionName,
            description: z.string(),
            parameters: z.looseObject({ type: z.literal('object') }),
          }),
        }),
      )
      .min(1),
  ),
  tool_choice: z.exactOptional(
    z.union([
      z.enum(['auto', 'none', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: functionName }) }),
    ]),
  ),
});

/** A chat-completions message. */
export type ChatMessage = z.infer<typeof chatMessage>;
/** A chat-completions request. */
export type ChatRequest = z.infer<typeof chatRequest>;

/**
 * Checks a request against every rule that some provider of this format enforces; stricter than any one of them.
 * Asserted on everything we send.
 *
 * @returns what is wrong, each with its place; empty when nothing is
 */
export function checkChatRequest(request: unknown): string[] {
  const parsed = chatRequest.safeParse(request);
  if (!parsed.success) return parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  return [...checkOrder(parsed.data.messages), ...checkTools(parsed.data)];
}

function checkOrder(messages: readonly ChatMessage[]): string[] {
  const wrong: string[] = [];
  const seen = new Set<string>();
  let due: string[] = [];
  messages.forEach((message, i) => {
    const at = `messages.${i}`;
    if (message.role === 'system' && i !== 0) wrong.push(`${at}: a system message stands first`);
    if (message.role === 'tool') {
      if (due.shift() !== message.tool_call_id) wrong.push(`${at}: it does not answer the call whose turn it is`);
      return;
    }
    if (due.length > 0) wrong.push(`${at}: the calls ${due.join(', ')} before it are not answered`);
    due = [];
    if (message.role !== 'assistant') return;
    due = (message.tool_calls ?? []).map(({ id }) => id);
    if (due.length === 0 && (message.content ?? '') === '') wrong.push(`${at}: neither text nor calls`);
    for (const id of due) {
      if (seen.has(id)) wrong.push(`${at}: the call id ${id} is used twice`);
      seen.add(id);
    }
  });
  if (due.length > 0) wrong.push(`messages: the calls ${due.join(', ')} at the end are not answered`);
  if (messages.every(({ role }) => role === 'system')) wrong.push('messages: there is nothing to answer');
  return wrong;
}

function checkTools({ tools, tool_choice }: ChatRequest): string[] {
  const names = (tools ?? []).map((tool) => tool.function.name);
  const wrong = names.filter((name, i) => names.indexOf(name) !== i).map((name) => `tools: ${name} is there twice`);
  if (tool_choice !== undefined && names.length === 0) wrong.push('tool_choice: there are no tools');
  if (typeof tool_choice === 'object' && !names.includes(tool_choice.function.name)) {
    wrong.push(`tool_choice: there is no tool ${tool_choice.function.name}`);
  }
  return wrong;
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** How a client writes requests. */
export interface ChatDialect {
  readonly model: string;
  readonly profile: ProviderProfile;
  /** Newer OpenAI models take `max_completion_tokens`, everybody else `max_tokens`. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
}

/** A request and what of the unified one is not in it. */
export interface ChatProjection {
  readonly request: ChatRequest;
  readonly warnings: readonly string[];
}

/** Fields that no provider option may replace: they are what the journal says was asked. */
const RESERVED = ['model', 'messages', 'tools', 'tool_choice', 'stream', 'n'] as const;

/**
 * Writes a unified request as a chat-completions request. The order of the fields is fixed and the parts that grow
 * come last, so that equal histories have equal prefixes.
 */
export function toChatRequest(unified: UnifiedRequest, dialect: ChatDialect): ChatProjection {
  const warnings: string[] = [];
  const options = { ...dialect.profile.provider_options_default, ...unified.providerOptions };
  const native = Object.entries(options).filter(([name]) => {
    const reserved = (RESERVED as readonly string[]).includes(name);
    if (reserved) warnings.push(`provider_option_ignored:${name}`);
    return !reserved;
  });
  const request: ChatRequest = {
    model: dialect.model,
    stream: false,
    ...Object.fromEntries(native),
    ...sampling(unified, dialect, warnings),
    ...toolFields(unified, dialect.profile, warnings),
    messages: chatMessages(unified),
  };
  return { request, warnings };
}

function sampling(unified: UnifiedRequest, dialect: ChatDialect, warnings: string[]): Record<string, unknown> {
  const effort = dialect.profile.supports_reasoning_effort ? unified.reasoningEffort : undefined;
  if (effort !== unified.reasoningEffort) warnings.push('unsupported:reasoning_effort');
  return present({
    [dialect.maxTokensField]: unified.maxTokens,
    temperature: unified.temperature,
    reasoning_effort: effort,
    stop: unified.stopSequences,
    metadata: unified.metadata,
    response_format: unified.responseFormat,
  });
}

function toolFields(unified: UnifiedRequest, profile: ProviderProfile, warnings: string[]): Partial<ChatRequest> {
  if (unified.tools.length === 0) {
    if (unified.toolChoice !== undefined && unified.toolChoice !== 'none') warnings.push('unsupported:tool_choice');
    return {};
  }
  const tools = unified.tools.map(({ name, description, schema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: schema as { type: 'object' } },
  }));
  const choice = toolChoice(unified, profile, warnings);
  return { tools, ...(choice === undefined ? {} : { tool_choice: choice }) };
}

function toolChoice(
  unified: UnifiedRequest,
  profile: ProviderProfile,
  warnings: string[],
): ChatRequest['tool_choice'] | undefined {
  const choice = unified.toolChoice;
  if (choice === undefined || choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (!unified.tools.some(({ name }) => name === choice)) {
    warnings.push('unsupported:tool_choice');
    return undefined;
  }
  if (profile.supports_tool_choice_named) return { type: 'function', function: { name: choice } };
  warnings.push('unsupported:tool_choice_named');
  return 'required';
}

function chatMessages(unified: UnifiedRequest): ChatMessage[] {
  const system: ChatMessage[] = unified.system === '' ? [] : [{ role: 'system', content: unified.system }];
  return [...system, ...unified.messages.map(chatMessageOf)];
}

function chatMessageOf(message: UnifiedMessage): ChatMessage {
  if (message.role === 'user') return { role: 'user', content: message.text };
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text };
  const calls = message.calls.map(chatCall);
  return {
    role: 'assistant',
    content: message.text ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function chatCall(call: UnifiedCall) {
  return {
    id: call.callId,
    type: 'function' as const,
    function: { name: sendableName(call.tool), arguments: JSON.stringify(sendableArgs(call.args)) },
  };
}

/** A model may have called a name that no provider takes back; the history keeps it, the wire gets a plain one. */
function sendableName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || '_';
}

/** Arguments that were not an object are told as what they were: several servers refuse a history they cannot parse. */
function sendableArgs(args: Value): Value {
  const isMap = typeof args === 'object' && args !== null && !Array.isArray(args) && !(args instanceof Uint8Array);
  return isMap ? args : { invalid_arguments: args };
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
