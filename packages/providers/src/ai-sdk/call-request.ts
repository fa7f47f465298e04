/** Writes a unified request as a call of a language model of the AI SDK. */

import { present } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import * as z from '@reprise/contracts/schema';
import { mintCallIds } from '../model/call-ids.js';
import { isJson, isJsonObject, type Json, toJson } from '../model/json.js';
import type {
  ProviderProfile,
  UnifiedAnswer,
  UnifiedMessage,
  UnifiedPart,
  UnifiedRequest,
  UnifiedResult,
} from '../model/model.js';
import { Derived } from '../model/steady.js';
import { SCHEMA_RULES } from '../schemas/schema-rules.js';
import {
  choiceOf,
  type Draft,
  ElementWriter,
  effortOf,
  nativeOptions,
  sendableCall,
  sendableTools,
  stopTexts,
  within,
} from '../wire/request-fields.js';
import { oddRuns } from '../wire/runs.js';
import { type Stretch, weave } from '../wire/weave.js';
import {
  AI_SDK_CALL_IDS,
  type AssistantPart,
  PROMPT_RUNS,
  type PromptMessage,
  providerSays,
  type SaidPart,
} from './call-rules.js';
import { answeredData, returnedData, saidFile, shownFile } from './file-forms.js';
import type { Specification } from './language-model.js';

/** Options that decide how a call is written. */
export interface AiSdkDialect {
  readonly profile: ProviderProfile;
  readonly specification: Specification;
  /** Tools that the provider runs itself, in the SDK's form. */
  readonly providerTools?: readonly Json[];
}

/** Writes a unified request as a call. The growing list comes last, so that later calls share the first bytes. */
export function toAiSdkCall(unified: UnifiedRequest, dialect: AiSdkDialect): Draft {
  const { profile, specification } = dialect;
  const warnings: string[] = [];
  const { supports_reasoning_effort } = profile;
  const canThink = supports_reasoning_effort && specification === 'v4';
  const reasoning = effortOf(unified, { ...profile, supports_reasoning_effort: canThink }, warnings);
  if (unified.metadata !== undefined) warnings.push('unsupported:metadata');
  const native = nativeOptions(unified, profile, [], warnings);
  const body = {
    specification,
    ...present({
      maxOutputTokens: unified.maxTokens,
      temperature: within(unified.temperature, [0, 2], 'temperature', warnings),
      stopSequences: stopTexts(unified.stopSequences, 4, warnings),
      responseFormat: unified.responseFormat === undefined ? undefined : toJson(unified.responseFormat),
      reasoning,
      providerOptions: Object.keys(native).length === 0 ? undefined : native,
    }),
    ...toolFields(unified, dialect, warnings),
    prompt: promptOf(unified, specification, warnings),
  };
  return { body, warnings };
}

function toolFields(
  unified: UnifiedRequest,
  { profile, providerTools = [] }: AiSdkDialect,
  warnings: string[],
): Record<string, unknown> {
  const own = sendableTools(unified, SCHEMA_RULES['ai-sdk'], warnings, providerTools.length);
  const choice = choiceOf(unified, own, profile, warnings);
  const tools = [
    ...own.map(({ name, description, schema }) => ({ type: 'function', name, description, inputSchema: schema })),
    ...providerTools,
  ];
  if (tools.length === 0) return unified.messages.some(hasCalls) ? { tools: [NO_TOOL] } : {};
  const named = typeof choice === 'object' ? { type: 'tool', toolName: choice.tool } : undefined;
  return present({ toolChoice: named ?? (choice === undefined ? undefined : { type: choice }), tools });
}

/** Some providers behind the SDK refuse a history that holds calls when the request has no tools. */
const NO_TOOL = {
  type: 'function',
  name: 'no_tool',
  description: 'There are no tools at present. Do not call this.',
  inputSchema: { type: 'object', properties: {} },
} as const;

function hasCalls(message: UnifiedMessage): boolean {
  return message.role === 'assistant' && message.calls.length > 0;
}

function promptOf(unified: UnifiedRequest, specification: Specification, warnings: string[]): PromptMessage[] {
  const prompt: PromptMessage[] = unified.system.trim() === '' ? [] : [{ role: 'system', content: unified.system }];
  const names = new Map<string, string>();
  let results: UnifiedResult[] = [];
  const endResults = () => {
    const [first, ...others] = results;
    if (first === undefined) return;
    const named = results.map((result) => ({ result, toolName: names.get(result.callId) ?? '_' }));
    results = [];
    const key = JSON.stringify([specification, ...named.map(({ toolName }) => toolName)]);
    const write = (): PromptMessage[] => [
      { role: 'tool', content: named.map((one) => resultPart(one, specification)) },
    ];
    prompt.push(...writer.write([first, ...others], key, warnings, write));
  };
  for (const message of mintCallIds(unified.messages, AI_SDK_CALL_IDS)) {
    if (message.role === 'tool') {
      results.push(message);
      continue;
    }
    endResults();
    const write = (codes: string[]) => [messageOf(message, specification, codes)];
    const said = writer.write([message], specification, warnings, write);
    if (message.role === 'assistant')
      for (const { id, name } of called.of(message, [], '', () => calledIn(message))) names.set(id, name);
    prompt.push(...said);
  }
  endResults();
  return prompt;
}

const writer = new ElementWriter<PromptMessage>();

function messageOf(
  message: Exclude<UnifiedMessage, UnifiedResult>,
  specification: Specification,
  warnings: string[],
): PromptMessage {
  if (message.role === 'assistant')
    return { role: 'assistant', content: answerParts(message, specification, warnings) };
  return { role: 'user', content: message.parts.map((part) => saidPart(part, specification)) };
}

const called = new Derived<readonly Called[]>();

/** A call, and the tool that it calls: a result names its tool. */
interface Called {
  readonly id: string;
  readonly name: string;
}

function calledIn(answer: UnifiedAnswer): Called[] {
  return weave(answer).flatMap((stretch) => {
    if (stretch.kind !== 'call') return [];
    const { id, name } = sendableCall(stretch.call);
    return [{ id, name }];
  });
}

function saidPart(part: UnifiedPart, specification: Specification): SaidPart {
  return part.kind === 'text' ? { type: 'text', text: part.text } : saidFile(part, specification);
}

function resultPart(
  { result, toolName }: { readonly result: UnifiedResult; readonly toolName: string },
  specification: Specification,
) {
  const { callId, text, isError, media = [] } = result;
  return {
    type: 'tool-result' as const,
    toolCallId: callId,
    toolName,
    output:
      media.length === 0
        ? { type: isError ? ('error-text' as const) : ('text' as const), value: text }
        : {
            type: 'content' as const,
            value: [{ type: 'text' as const, text }, ...media.map((one) => shownFile(one, specification))],
          },
  };
}

/** The parts of an assistant message, in the order in which the model sent them. */
function answerParts(answer: UnifiedAnswer, specification: Specification, warnings: string[]): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const losses: string[] = [];
  for (const stretch of weave(answer)) {
    const marks = stretch.kind === 'item' ? marksIn(stretch.item) : undefined;
    if (marks !== undefined) {
      const last = parts.at(-1);
      if (last?.type === 'text' || last?.type === 'tool-call') last.providerOptions = marks;
      continue;
    }
    const part = partOf(stretch, specification);
    if (part !== undefined) parts.push(part);
    else if (stretch.kind === 'item' && !isForPeople(stretch.item)) losses.push(stretch.part.kind);
  }
  const odd = oddRuns(parts, PROMPT_RUNS);
  losses.push(...Array(odd.size).fill('provider_tool'));
  const whole = parts.filter((part) => !odd.has(part));
  // Providers refuse reasoning that nothing follows. An answer that was cut short can end like that.
  for (; whole.at(-1)?.type === 'reasoning'; whole.pop()) losses.push('reasoning');
  warnings.push(...losses.map((kind) => `prompt_loss:${kind}`));
  return whole;
}

/** The provider's metadata of a part goes back to it as provider options. */
const kept = { providerMetadata: z.exactOptional(providerSays) };

const marks = z.strictObject({ type: z.literal('marks'), providerMetadata: providerSays });

const item = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('reasoning'), text: z.string(), ...kept }),
  z.object({ type: z.literal('file'), mediaType: z.string().min(1), data: answeredData, ...kept }),
  z.object({ type: z.literal('reasoning-file'), mediaType: z.string().min(1), data: answeredData, ...kept }),
  z.object({ type: z.literal('custom'), kind: z.string().includes('.'), ...kept }),
  z.object({
    type: z.literal('tool-call'),
    toolCallId: z.string().min(1),
    toolName: z.string().min(1),
    input: z.string(),
    ...kept,
  }),
  z.object({
    type: z.literal('tool-result'),
    toolCallId: z.string().min(1),
    toolName: z.string().min(1),
    result: z.custom<Json>(isJson),
    isError: z.exactOptional(z.boolean()),
    ...kept,
  }),
]);

function marksIn(given: Json) {
  return marks.safeParse(given).data?.providerMetadata;
}

/** Sources and citations are shown to people; a prompt cannot carry them. */
function isForPeople(given: Json): boolean {
  return isJsonObject(given) && (given.type === 'source' || given.type === 'citations');
}

function partOf(stretch: Stretch, specification: Specification): AssistantPart | undefined {
  if (stretch.kind === 'text') return { type: 'text', text: stretch.text };
  if (stretch.kind === 'call') {
    const { id, name, args } = sendableCall(stretch.call);
    return { type: 'tool-call', toolCallId: id, toolName: name, input: args };
  }
  const parsed = item.safeParse(stretch.item).data;
  if (parsed === undefined) return undefined;
  const { providerMetadata, ...rest } = parsed;
  const said = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (rest.type === 'tool-call') return { ...rest, input: inputOf(rest.input), providerExecuted: true, ...said };
  if (rest.type === 'file' || rest.type === 'reasoning-file') {
    const data = returnedData(rest.data, specification);
    const isKnown = rest.type === 'file' || specification === 'v4';
    return data === undefined || !isKnown ? undefined : { ...rest, data, ...said };
  }
  if (rest.type === 'custom' && specification !== 'v4') return undefined;
  if (rest.type !== 'tool-result') return { ...rest, ...said };
  const { result, isError, ...named } = rest;
  return { ...named, output: { type: isError === true ? 'error-json' : 'json', value: result }, ...said };
}

function inputOf(text: string): Record<string, unknown> {
  try {
    const data: unknown = parseJson(text);
    return isJsonObject(data) ? { ...data } : {};
  } catch {
    return {};
  }
}
