/**
 * Writes a unified request as a responses request. The provider stores nothing: each request holds the whole
 * conversation.
 */
import { present } from '@reprise/contracts';
import { mintCallIds } from '../model/call-ids.js';
import { isJsonObject, type Json, toJson } from '../model/json.js';
import type { ProviderProfile, UnifiedAnswer, UnifiedMessage, UnifiedPart, UnifiedRequest } from '../model/model.js';
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
  within,
} from '../wire/request-fields.js';
import { type Stretch, weave } from '../wire/weave.js';
import {
  type InputPart,
  messageMarks,
  providerItem,
  RESPONSES_CALL_IDS,
  type ResponsesItem,
  reasoningItem,
} from './responses-rules.js';

/** Options that decide how a request is written. */
export interface ResponsesDialect {
  readonly model: string;
  readonly profile: ProviderProfile;
  /** Tools that the provider runs itself, in its own form. */
  readonly providerTools?: readonly Json[];
}

/** Fields that provider options cannot replace: the journal records them. */
const RESERVED = ['model', 'input', 'instructions', 'tools', 'tool_choice', 'stream', 'previous_response_id'] as const;

/** The smallest token limit that the format accepts. */
const OUTPUT_TOKENS_MIN = 16;

/**
 * Asks for encrypted reasoning, which we send back, so that the server need not store it. Models without reasoning
 * refuse it.
 */
const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/**
 * Writes a unified request as a responses request. The growing list comes last, so that later requests share the first
 * bytes.
 */
export function toResponsesRequest(unified: UnifiedRequest, dialect: ResponsesDialect): Draft {
  const { model, profile } = dialect;
  const warnings: string[] = [];
  if (unified.stopSequences !== undefined) warnings.push('unsupported:stop_sequences');
  const effort = effortOf(unified, profile, warnings);
  const native = nativeOptions(unified, profile, RESERVED, warnings);
  const body = {
    model,
    stream: profile.supports_streaming,
    store: false,
    ...native,
    ...present({
      include: included(native.include, profile),
      reasoning: merged(effort === undefined ? undefined : { effort }, native.reasoning),
      max_output_tokens: within(unified.maxTokens, [OUTPUT_TOKENS_MIN, Infinity], 'max_tokens', warnings),
      temperature: within(unified.temperature, [0, 2], 'temperature', warnings),
      metadata: metadataOf(unified.metadata, warnings),
      text: merged(
        native.text,
        unified.responseFormat === undefined ? undefined : { format: toJson(unified.responseFormat) },
      ),
      instructions: unified.system.trim() === '' ? undefined : unified.system,
    }),
    ...toolFields(unified, dialect, warnings),
    input: mintCallIds(unified.messages, RESPONSES_CALL_IDS).flatMap((message) =>
      writer.write([message], '', warnings, (codes) => itemsOf(message, codes)),
    ),
  };
  return { body, warnings };
}

const writer = new ElementWriter<ResponsesItem>();

function included(native: Json | undefined, profile: ProviderProfile): readonly Json[] | undefined {
  const asked = Array.isArray(native) ? (native as readonly Json[]) : [];
  const all = profile.supports_reasoning_effort ? [...new Set([ENCRYPTED_REASONING, ...asked])] : asked;
  return all.length === 0 ? undefined : all;
}

/** Merges two maps; the second one's fields win and come first. */
function merged(one: Json | undefined, two: Json | undefined): Json | undefined {
  return isJsonObject(one) && isJsonObject(two) ? { ...one, ...two } : (two ?? one);
}

function toolFields(unified: UnifiedRequest, dialect: ResponsesDialect, warnings: string[]): Record<string, unknown> {
  const tools = sendableTools(unified, SCHEMA_RULES['openai-responses'], warnings, dialect.providerTools?.length);
  const choice = choiceOf(unified, tools, dialect.profile, warnings);
  // Not strict: strict mode supports only a part of JSON Schema, and arguments are checked here anyway.
  const own = tools.map(({ name, description, schema }) => ({
    type: 'function',
    name,
    description,
    parameters: schema,
    strict: false,
  }));
  const all = [...own, ...(dialect.providerTools ?? [])];
  if (all.length === 0) return {};
  return present({
    tools: all,
    tool_choice: typeof choice === 'object' ? { type: 'function', name: choice.tool } : choice,
  });
}

function itemsOf(message: UnifiedMessage, warnings: string[]): ResponsesItem[] {
  if (message.role === 'user') {
    return [{ type: 'message', role: 'user', content: sayingText(message) ?? message.parts.map(partOf) }];
  }
  if (message.role === 'tool') {
    const { media = [] } = message;
    const text: UnifiedPart = { kind: 'text', text: message.text };
    const output = media.length === 0 ? message.text : [text, ...media].map(partOf);
    return [{ type: 'function_call_output', call_id: message.callId, output }];
  }
  return answerItems(message, warnings);
}

function partOf(part: UnifiedPart): InputPart {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  if (isImage(part)) return { type: 'input_image', image_url: dataUrlOf(part), detail: 'auto' };
  return { type: 'input_file', filename: fileNameOf(part), file_data: dataUrlOf(part) };
}

type AssistantMessage = ResponsesItem & { readonly type: 'message'; readonly role: 'assistant' };

/** The items of an assistant message, in the order in which the model sent them. */
function answerItems(answer: UnifiedAnswer, warnings: string[]): ResponsesItem[] {
  const items: ResponsesItem[] = [];
  const losses: string[] = [];
  for (const stretch of weave(answer)) {
    const marks = stretch.kind === 'item' ? messageMarks.safeParse(marksIn(stretch.item)).data : undefined;
    const said = items.at(-1);
    if (marks !== undefined) {
      if (isAnswers(said)) items.splice(-1, 1, marked(said, marks));
      continue;
    }
    const item = itemOf(stretch);
    if (item !== undefined) items.push(item);
    else if (stretch.kind === 'item') losses.push(stretch.part.kind);
  }
  // Providers refuse reasoning that nothing follows. An answer that was cut short can end like that.
  for (; items.at(-1)?.type === 'reasoning'; items.pop()) losses.push('reasoning');
  warnings.push(...losses.map((kind) => `prompt_loss:${kind}`));
  return items;
}

function itemOf(stretch: Stretch): ResponsesItem | undefined {
  if (stretch.kind === 'text') return { type: 'message', role: 'assistant', content: stretch.text };
  if (stretch.kind === 'call') {
    const { id, name, args } = sendableCall(stretch.call);
    return { type: 'function_call', call_id: id, name, arguments: JSON.stringify(args) };
  }
  const reasoning = reasoningItem.safeParse(stretch.item).data;
  if (reasoning === undefined) return providerItem.safeParse(stretch.item).data;
  // The item's id and status refer to an item that no server stores.
  const { id: _, status: __, ...rest } = reasoning;
  return rest as ResponsesItem;
}

function marksIn(item: Json): unknown {
  if (!isJsonObject(item) || item.type !== 'message') return undefined;
  const { type: _, ...marks } = item;
  return marks;
}

function isAnswers(item: ResponsesItem | undefined): item is AssistantMessage {
  return item?.type === 'message' && item.role === 'assistant';
}

function marked(
  said: AssistantMessage,
  { annotations, ...marks }: { readonly annotations?: { readonly type: string }[]; readonly phase?: string },
): ResponsesItem {
  if (annotations === undefined || typeof said.content !== 'string') return { ...said, ...marks };
  return { ...said, ...marks, content: [{ type: 'output_text', text: said.content, annotations }] };
}
