/** The shape and the rules of a call of a language model of the AI SDK, as JSON data. */
import * as z from '@reprise/contracts/schema';
import type { CallIdRule } from '../model/call-ids.js';
import { isJson, type Json } from '../model/json.js';
import { SCHEMA_RULES } from '../schemas/schema-rules.js';
import {
  base64,
  checkerOf,
  range,
  spoken,
  toolSchema,
  wholeFrom,
  wireCallId,
  wireToolName,
  wireTools,
} from '../wire/format-rules.js';
import type { RequestIssue, Turn } from '../wire/request-rules.js';
import { checkRuns, type RunNames } from '../wire/runs.js';
import { SPECIFICATIONS, type Specification } from './language-model.js';

/** Ids of 1 to 40 letters, digits, `_` and `-`: every provider behind the SDK accepts these. */
export const AI_SDK_CALL_IDS: CallIdRule = { lengthMin: 1, lengthMax: 40, alphabet: 'word' };

const callId = wireCallId(AI_SDK_CALL_IDS);

/** Provider-specific data, by the provider's name. */
export const providerSays = z.record(z.string().min(1), z.looseObject({}));

const said = { providerOptions: z.exactOptional(providerSays) };

const textPart = z.strictObject({ type: z.literal('text'), text: spoken, ...said });

/** The data of a file from `v4` on. */
const bytes = z.strictObject({ type: z.literal('data'), data: base64 });

const sent = z.union([base64, bytes]);

const named = { type: z.literal('file'), mediaType: z.string().min(1), filename: z.string().min(1) };

const saidPart = z.discriminatedUnion('type', [textPart, z.strictObject({ ...named, data: sent })], 'role');

const shown = { mediaType: z.string().min(1), data: base64 };
const shownPart = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('image-data'), ...shown }),
  z.strictObject({ type: z.literal('file-data'), filename: z.string().min(1), ...shown }),
  z.strictObject({ type: z.literal('media'), ...shown }),
  z.strictObject({ ...named, data: bytes }),
]);

/** The form of a file that the model itself made, which it takes back. */
const returned = z.union([
  z.string().min(1),
  bytes,
  z.strictObject({ type: z.literal('url'), url: z.string().min(1) }),
]);

const resultOutput = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('content'),
    value: z
      .array(z.union([z.strictObject({ type: z.literal('text'), text: z.string() }), ...shownPart.options]))
      .min(1),
  }),
  z.strictObject({ type: z.enum(['text', 'error-text']), value: z.string() }),
  z.strictObject({ type: z.enum(['json', 'error-json']), value: z.custom<Json>(isJson) }),
]);

const toolResult = z.strictObject({
  type: z.literal('tool-result'),
  toolCallId: callId,
  toolName: wireToolName,
  output: resultOutput,
});

const assistantPart = z.discriminatedUnion(
  'type',
  [
    textPart,
    z.strictObject({ type: z.literal('reasoning'), text: z.string(), ...said }),
    z.strictObject({ type: z.literal('file'), mediaType: z.string().min(1), data: returned, ...said }),
    z.strictObject({ type: z.literal('reasoning-file'), mediaType: z.string().min(1), data: returned, ...said }),
    z.strictObject({ type: z.literal('custom'), kind: z.string().includes('.'), ...said }),
    z.strictObject({
      type: z.literal('tool-call'),
      toolCallId: z.string().min(1),
      toolName: z.string().min(1),
      input: z.record(z.string(), z.unknown(), 'arguments'),
      providerExecuted: z.exactOptional(z.literal(true)),
      ...said,
    }),
    z.strictObject({
      type: z.literal('tool-result'),
      toolCallId: z.string().min(1),
      toolName: z.string().min(1),
      output: resultOutput,
      ...said,
    }),
  ],
  'role',
);

const message = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('system'), content: spoken }),
    z.strictObject({ role: z.literal('user'), content: z.array(saidPart).min(1, 'empty_content') }),
    z.strictObject({ role: z.literal('assistant'), content: z.array(assistantPart).min(1, 'empty_content') }),
    z.strictObject({ role: z.literal('tool'), content: z.array(toolResult).min(1, 'empty_content') }),
  ],
  'role',
);

const ownTool = z.strictObject({
  type: z.literal('function'),
  name: wireToolName,
  description: z.string(),
  inputSchema: toolSchema(SCHEMA_RULES['ai-sdk']),
});

const providerTool = z.looseObject({ type: z.string().min(1), id: z.string().includes('.'), name: z.string().min(1) });

const call = z.looseObject({
  specification: z.enum(SPECIFICATIONS),
  maxOutputTokens: z.exactOptional(wholeFrom(1)),
  temperature: z.exactOptional(range(0, 2)),
  stopSequences: z.exactOptional(z.array(spoken).min(1, 'parameter_range').max(4, 'parameter_range')),
  responseFormat: z.exactOptional(z.looseObject({ type: z.enum(['text', 'json']) })),
  toolChoice: z.exactOptional(
    z.union(
      [
        z.strictObject({ type: z.enum(['auto', 'none', 'required']) }),
        z.strictObject({ type: z.literal('tool'), toolName: z.string() }),
      ],
      'tool_choice',
    ),
  ),
  providerOptions: z.exactOptional(providerSays),
  tools: z.exactOptional(wireTools(ownTool, providerTool, ({ type }) => type === 'function', SCHEMA_RULES['ai-sdk'])),
  prompt: z.array(message).min(1),
});

/** The data of a file that we send: its bytes as base64, from `v4` on in an object. */
export type SentData = z.infer<typeof sent>;
/** The data of a file that goes back to the model that made it: bytes or an address. */
export type ReturnedData = z.infer<typeof returned>;
/** A part of a user message. */
export type SaidPart = z.infer<typeof saidPart>;
/** A part of a tool result. */
export type ShownPart = z.infer<typeof shownPart>;
/** A message of a prompt. */
export type PromptMessage = z.infer<typeof message>;
/** A part of an assistant message. */
export type AssistantPart = z.infer<typeof assistantPart>;
type Call = z.infer<typeof call>;

/** Where a prompt holds the ids of tools that the provider ran. */
export const PROMPT_RUNS: RunNames<AssistantPart> = {
  runOf: (part) => (part.type === 'tool-call' && part.providerExecuted === true ? part.toolCallId : undefined),
  resultOf: (part) => (part.type === 'tool-result' ? part.toolCallId : undefined),
};

/** Checks a call against this format's rules. */
export const checkAiSdkCall = checkerOf<Call, PromptMessage>({
  schema: call,
  list: 'prompt',
  element: message,
  turns: turnsOf,
  each: checkAnswer,
  own: (prompt, { specification }) => [...checkOrder(prompt), ...checkForms(prompt, specification)],
  tools: ({ tools = [] }) => tools.map(({ name }) => String(name)),
  choice: ({ toolChoice }) =>
    toolChoice !== undefined && 'toolName' in toolChoice ? { tool: toolChoice.toolName } : toolChoice && {},
});

function turnsOf(message: PromptMessage): Turn[] {
  if (message.role === 'tool') return message.content.map(({ toolCallId: id }) => ({ kind: 'answer', id }));
  if (message.role !== 'assistant') return [{ kind: 'other' }];
  return [{ kind: 'other' }, ...ownCalls(message).map(({ toolCallId: id }): Turn => ({ kind: 'call', id }))];
}

function ownCalls({ content }: PromptMessage & { readonly role: 'assistant' }) {
  return content.flatMap((part) => (part.type === 'tool-call' && part.providerExecuted !== true ? [part] : []));
}

function checkOrder(prompt: readonly PromptMessage[]): RequestIssue[] {
  const issues: RequestIssue[] = [];
  prompt.forEach(({ role }, i) => {
    if (role === 'system' && i > 0) issues.push({ rule: 'system_place', at: `prompt.${i}` });
    if (role === prompt[i - 1]?.role) issues.push({ rule: 'alternation', at: `prompt.${i}` });
  });
  if (prompt.find(({ role }) => role !== 'system')?.role !== 'user')
    issues.push({ rule: 'first_message', at: 'prompt' });
  if (prompt.at(-1)?.role === 'assistant') issues.push({ rule: 'last_message', at: 'prompt' });
  return issues;
}

/** Checks that files and parts stand in the form of the specification. */
function checkForms(prompt: readonly PromptMessage[], specification: Specification): RequestIssue[] {
  return prompt.flatMap((message, i): RequestIssue[] =>
    formsOf(message).some((form) => FORMS.get(form)?.includes(specification) === false)
      ? [{ rule: 'shape', at: `prompt.${i}` }]
      : [],
  );
}

/** The specifications that know a form of a file or of a part. */
const FORMS = new Map<string, readonly Specification[]>([
  ['bytes', ['v2', 'v3']],
  ['data', ['v4']],
  ['media', ['v2']],
  ['image-data', ['v3']],
  ['file-data', ['v3']],
  ['reasoning-file', ['v4']],
  ['custom', ['v4']],
]);

function formsOf(message: PromptMessage): string[] {
  if (message.role === 'system') return [];
  if (message.role === 'tool')
    return message.content.flatMap(({ output }) =>
      output.type === 'content' ? output.value.flatMap((part) => formOf(part)) : [],
    );
  return message.content.flatMap((part) => formOf(part));
}

function formOf(part: { readonly type: string; readonly data?: unknown }): string[] {
  if (part.type === 'file') return [typeof part.data === 'string' ? 'bytes' : 'data'];
  return [part.type];
}

function checkAnswer(message: PromptMessage): RequestIssue[] {
  if (message.role !== 'assistant') return [];
  const at = '';
  return [
    ...checkRuns(message.content, PROMPT_RUNS, at),
    ...(message.content.at(-1)?.type === 'reasoning' ? [{ rule: 'reasoning_place' as const, at }] : []),
    ...ownCalls(message).flatMap(({ toolCallId, toolName }): RequestIssue[] => [
      ...(callId.safeParse(toolCallId).success ? [] : [{ rule: 'call_id' as const, at }]),
      ...(wireToolName.safeParse(toolName).success ? [] : [{ rule: 'tool_name' as const, at }]),
    ]),
  ];
}
