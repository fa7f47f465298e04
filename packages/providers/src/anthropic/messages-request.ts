/** Writes a unified request as a messages request of Anthropic. */
import { present, startOfText } from '@reprise/contracts';
import { mintCallIds } from '../model/call-ids.js';
import { isJsonObject, type Json, toJson } from '../model/json.js';
import type { ProviderProfile, UnifiedAnswer, UnifiedMessage, UnifiedPart, UnifiedRequest } from '../model/model.js';
import { SCHEMA_RULES } from '../schemas/schema-rules.js';
import {
  base64Of,
  choiceOf,
  type Draft,
  ElementWriter,
  effortOf,
  fileNameOf,
  isImage,
  nativeOptions,
  sendableCall,
  sendableTools,
  stopTexts,
  within,
} from '../wire/request-fields.js';
import { oddRuns } from '../wire/runs.js';
import { type Stretch, weave } from '../wire/weave.js';
import {
  type AssistantBlock,
  continuesThought,
  isThought,
  MESSAGES_CALL_IDS,
  MESSAGES_RUNS,
  providerCall,
  providerResult,
  type SaidBlock,
  THINKING_TOKENS_MIN,
  textMarks,
  thinkingBlock,
  thinks,
  type WireMessage,
} from './messages-rules.js';

/** Options that decide how a request is written. */
export interface MessagesDialect {
  readonly model: string;
  readonly profile: ProviderProfile;
  /** The token limit of an answer when a call has none: the format requires a number. */
  readonly maxTokensDefault: number;
  /** How the effort is sent: newer models take a word, older models a number of tokens. */
  readonly effort: 'adaptive' | 'budget';
  /** How long the provider caches the start of a request; absent for no cache. */
  readonly cache?: '5m' | '1h';
  /** Tools that the provider runs itself, in its own form. */
  readonly providerTools?: readonly Json[];
}

/** Fields that provider options cannot replace: the journal records them. */
const RESERVED = ['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'] as const;

/** The token limit that is sent when a call has none: the format requires a number. */
export const MAX_TOKENS_DEFAULT = 8_192;

/** Tokens for thinking, by effort. */
const EFFORT_TOKENS = { low: THINKING_TOKENS_MIN, medium: 4_096, high: 16_384 } as const;

/** The format refuses a history that holds calls when the request has no tools. */
const NO_TOOL = {
  name: 'no_tool',
  description: 'There are no tools at present. Do not call this.',
  input_schema: { type: 'object', properties: {} },
} as const;

/**
 * Writes a unified request as a messages request. The growing list comes last, so that later requests share the first
 * bytes.
 */
export function toMessagesRequest(unified: UnifiedRequest, dialect: MessagesDialect): Draft {
  const { model, profile } = dialect;
  const warnings: string[] = [];
  const native = nativeOptions(unified, profile, RESERVED, warnings);
  const messages = mergeSides(mintCallIds(unified.messages, MESSAGES_CALL_IDS), warnings);
  const max_tokens = unified.maxTokens ?? dialect.maxTokensDefault;
  const effort = effortOf(unified, profile, warnings);
  const asked = native.thinking ?? thinkingOf(effort, max_tokens, dialect);
  const enabled = isJsonObject(asked) && asked.type === 'enabled';
  const thinking = enabled && !mayThink(asked, max_tokens, messages) ? undefined : asked;
  if (thinking !== asked) warnings.push('unsupported:thinking_here');
  const isThinking = isJsonObject(thinking) && thinks(thinking);
  const body = {
    model,
    stream: profile.supports_streaming,
    ...withoutThinking(native),
    ...present({
      max_tokens,
      thinking,
      output_config: outputConfig(unified, native.output_config, dialect.effort === 'adaptive' ? effort : undefined),
      cache_control: native.cache_control ?? cacheControl(dialect.cache),
      temperature: temperatureOf(unified, isThinking, warnings),
      stop_sequences: stopTexts(unified.stopSequences, Infinity, warnings),
      metadata: metadataOf(unified, warnings),
      system: unified.system.trim() === '' ? undefined : unified.system,
    }),
    ...toolFields(unified, dialect, { thinking: isThinking, called: hasCalls(messages) }, warnings),
    messages,
  };
  return { body, warnings };
}

function outputConfig(
  { responseFormat }: UnifiedRequest,
  native: Json | undefined,
  effort: UnifiedRequest['reasoningEffort'],
): Json | undefined {
  const config = {
    ...(effort === undefined ? {} : { effort }),
    ...(isJsonObject(native) ? native : {}),
    ...(responseFormat === undefined ? {} : { format: toJson(responseFormat) }),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

function cacheControl(cache: MessagesDialect['cache']) {
  if (cache === undefined) return undefined;
  return { type: 'ephemeral', ...(cache === '5m' ? {} : { ttl: cache }) };
}

function withoutThinking({ thinking: _, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return rest;
}

function thinkingOf(effort: UnifiedRequest['reasoningEffort'], maxTokens: number, dialect: MessagesDialect) {
  if (effort === undefined) return undefined;
  if (dialect.effort === 'adaptive') return { type: 'adaptive' };
  return { type: 'enabled', budget_tokens: Math.min(EFFORT_TOKENS[effort], maxTokens - 1) };
}

/** Thinking needs enough tokens. While calls are being answered, it also needs an answer that began with thinking. */
function mayThink(thinking: unknown, maxTokens: number, messages: readonly WireMessage[]): boolean {
  const budget = isJsonObject(thinking) ? thinking.budget_tokens : undefined;
  const fits = typeof budget === 'number' && budget >= THINKING_TOKENS_MIN && budget < maxTokens;
  return fits && continuesThought(messages);
}

function temperatureOf({ temperature }: UnifiedRequest, thinking: boolean, warnings: string[]): number | undefined {
  if (!thinking) return within(temperature, [0, 1], 'temperature', warnings);
  if (temperature !== undefined && temperature !== 1) warnings.push('parameter_changed:temperature');
  return undefined;
}

function metadataOf({ metadata }: UnifiedRequest, warnings: string[]) {
  if (metadata === undefined) return undefined;
  const user_id = metadata.user_id === undefined ? undefined : startOfText(metadata.user_id, 256);
  if (Object.keys(metadata).some((key) => key !== 'user_id')) warnings.push('parameter_changed:metadata');
  return user_id === undefined ? undefined : { user_id };
}

function toolFields(
  unified: UnifiedRequest,
  { profile, providerTools = [] }: MessagesDialect,
  { thinking, called }: { readonly thinking: boolean; readonly called: boolean },
  warnings: string[],
): Record<string, unknown> {
  const own = sendableTools(unified, SCHEMA_RULES['anthropic-messages'], warnings, providerTools.length);
  const choice = choiceOf(unified, own, profile, warnings);
  const tools = [
    ...own.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    ...providerTools,
  ];
  if (tools.length === 0) return called ? { tools: [NO_TOOL], tool_choice: { type: 'none' } } : {};
  const forced = choice === 'required' || typeof choice === 'object';
  if (forced && thinking) warnings.push('unsupported:tool_choice');
  return present({ tools, tool_choice: forced && thinking ? undefined : wireChoice(choice) });
}

function wireChoice(choice: ReturnType<typeof choiceOf>) {
  if (choice === undefined) return undefined;
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool };
  return { type: choice === 'required' ? 'any' : choice };
}

function hasCalls(messages: readonly WireMessage[]): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type === 'tool_use'));
}

const writer = new ElementWriter<WireMessage>();

type UserSide = Exclude<UnifiedMessage, UnifiedAnswer>;

/** Merges results and the user's text after them: the format takes them as one user message. */
function mergeSides(messages: readonly UnifiedMessage[], warnings: string[]): WireMessage[] {
  const merged: WireMessage[] = [];
  let side: UserSide[] = [];
  const endSide = () => {
    const [first, ...others] = side;
    if (first === undefined) return;
    const sources = side;
    side = [];
    const write = (): WireMessage[] => [{ role: 'user', content: sources.flatMap(userBlocks) }];
    merged.push(...writer.write([first, ...others], '', warnings, write));
  };
  for (const message of messages) {
    if (message.role !== 'assistant') {
      side.push(message);
      continue;
    }
    endSide();
    const write = (codes: string[]): WireMessage[] => [{ role: 'assistant', content: assistantBlocks(message, codes) }];
    merged.push(...writer.write([message], '', warnings, write));
  }
  endSide();
  return merged;
}

function userBlocks(message: UserSide): (WireMessage & { role: 'user' })['content'] {
  if (message.role === 'user') return message.parts.map(partOf);
  const { callId, text, media = [] } = message;
  const failed = message.isError ? { is_error: true } : {};
  const content = media.length === 0 ? text : [partOf({ kind: 'text', text }), ...media.map(partOf)];
  return [{ type: 'tool_result', tool_use_id: callId, content, ...failed }];
}

function partOf(part: UnifiedPart): SaidBlock {
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const source = { type: 'base64' as const, media_type: part.mediaType, data: base64Of(part) };
  return isImage(part) ? { type: 'image', source } : { type: 'document', source, title: fileNameOf(part) };
}

/** The blocks of an assistant message, in the order in which the model sent them. */
function assistantBlocks(answer: UnifiedAnswer, warnings: string[]): AssistantBlock[] {
  const blocks: AssistantBlock[] = [];
  const losses: string[] = [];
  for (const stretch of weave(answer)) {
    const citations = stretch.kind === 'item' ? textMarks.safeParse(marksIn(stretch.item)).data : undefined;
    const said = blocks.at(-1);
    if (citations !== undefined) {
      if (said?.type === 'text') blocks.splice(-1, 1, { ...said, ...citations });
      continue;
    }
    const block = blockOf(stretch);
    if (block === undefined) losses.push(stretch.kind === 'item' ? stretch.part.kind : 'other');
    else if (isThought(block) && said?.type === 'text') putAhead(blocks, block);
    else blocks.push(block);
  }
  const odd = oddRuns(blocks, MESSAGES_RUNS);
  const whole = blocks.filter((block) => !odd.has(block));
  losses.push(...Array(odd.size).fill('provider_tool'));
  // Providers refuse thinking that nothing follows. An answer that was cut short can end like that.
  for (let last = whole.at(-1); last !== undefined && isThought(last); last = whole.at(-1)) {
    whole.pop();
    losses.push('reasoning');
  }
  warnings.push(...losses.map((kind) => `prompt_loss:${kind}`));
  return whole;
}

function blockOf(stretch: Stretch): AssistantBlock | undefined {
  if (stretch.kind === 'text') return { type: 'text', text: stretch.text };
  if (stretch.kind === 'call') {
    const { id, name, args } = sendableCall(stretch.call);
    return { type: 'tool_use', id, name, input: args };
  }
  for (const form of [thinkingBlock, providerCall, providerResult]) {
    const parsed = form.safeParse(stretch.item);
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

function marksIn(item: Json): unknown {
  if (!isJsonObject(item) || item.type !== 'text') return undefined;
  const { type: _, ...marks } = item;
  return marks;
}

/** Inserts a thinking block before plain text: the format refuses it after. */
function putAhead(blocks: AssistantBlock[], thought: AssistantBlock): void {
  const before = blocks.findLastIndex(({ type }) => type !== 'text');
  blocks.splice(before + 1, 0, thought);
}
