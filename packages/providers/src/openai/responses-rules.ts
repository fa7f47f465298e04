/** The shape and the rules of OpenAI's responses request. */
import * as z from '@reprise/contracts/schema';
import type { CallIdRule } from '../model/call-ids.js';
import { SCHEMA_RULES } from '../schemas/schema-rules.js';
import {
  checkerOf,
  commonFields,
  dataUrl,
  metadataPairs,
  range,
  spoken,
  textOr,
  toolSchema,
  wholeFrom,
  wireArguments,
  wireCallId,
  wireChoice,
  wireToolName,
  wireTools,
} from '../wire/format-rules.js';
import type { RequestIssue, Turn } from '../wire/request-rules.js';

/** Ids of 1 to 64 letters, digits, `_` and `-`. */
export const RESPONSES_CALL_IDS: CallIdRule = { lengthMin: 1, lengthMax: 64, alphabet: 'word' };

/** Items of tools that the provider runs itself and that it accepts back unchanged. */
export const PROVIDER_ITEMS = [
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
] as const;

const callId = wireCallId(RESPONSES_CALL_IDS);

/** Reasoning as the model sent it: encrypted, so that no server has to store it. */
export const reasoningItem = z.looseObject({
  type: z.literal('reasoning'),
  id: z.exactOptional(z.string().min(1)),
  summary: z.array(z.looseObject({})),
  encrypted_content: z.string().min(1),
});

const [firstProviderItem, ...otherProviderItems] = PROVIDER_ITEMS;

/** An item of a tool that the provider ran itself. */
export const providerItem = z.looseObject({
  type: z.literal([firstProviderItem, ...otherProviderItems]),
  id: z.string().min(1),
});

/** The other fields of a message item. */
export const messageMarks = z.strictObject({
  annotations: z.exactOptional(z.array(z.looseObject({ type: z.string() })).min(1)),
  phase: z.exactOptional(z.string().min(1)),
});

const inputPart = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('input_text'), text: spoken }),
    z.strictObject({ type: z.literal('input_image'), image_url: dataUrl, detail: z.enum(['auto', 'low', 'high']) }),
    z.strictObject({ type: z.literal('input_file'), filename: z.string().min(1), file_data: dataUrl }),
  ],
  'role',
);
const inputParts = z.array(inputPart).min(1);

const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: spoken,
  annotations: z.array(z.looseObject({ type: z.string() })),
});

const item = z.discriminatedUnion(
  'type',
  [
    z.discriminatedUnion(
      'role',
      [
        z.strictObject({
          type: z.literal('message'),
          role: z.literal('user'),
          content: textOr(spoken, inputParts),
        }),
        z.strictObject({
          type: z.literal('message'),
          role: z.literal('assistant'),
          content: textOr(spoken, z.array(outputText).min(1)),
          phase: messageMarks.shape.phase,
        }),
      ],
      'role',
    ),
    z.strictObject({
      type: z.literal('function_call'),
      call_id: callId,
      name: wireToolName,
      arguments: wireArguments,
    }),
    z.strictObject({
      type: z.literal('function_call_output'),
      call_id: callId,
      output: textOr(z.string(), inputParts),
    }),
    reasoningItem,
    providerItem,
  ],
  'role',
);

const ownTool = z.strictObject({
  type: z.literal('function'),
  name: wireToolName,
  description: z.string(),
  parameters: toolSchema(SCHEMA_RULES['openai-responses']),
  strict: z.boolean(),
});

/** A tool that the provider runs itself, in its own form. */
const providerTool = z.looseObject({ type: z.string().min(1) });

const responsesRequest = z.looseObject({
  ...commonFields,
  instructions: z.exactOptional(spoken),
  store: z.exactOptional(z.boolean()),
  temperature: z.exactOptional(range(0, 2)),
  max_output_tokens: z.exactOptional(wholeFrom(16)),
  metadata: z.exactOptional(metadataPairs),
  reasoning: z.exactOptional(z.looseObject({ effort: z.exactOptional(z.enum(['low', 'medium', 'high'])) })),
  previous_response_id: z.exactOptional(z.undefined('parameter_conflict')),
  tools: z.exactOptional(
    wireTools(ownTool, providerTool, ({ type }) => type === 'function', SCHEMA_RULES['openai-responses']),
  ),
  tool_choice: z.exactOptional(wireChoice(z.strictObject({ type: z.literal('function'), name: z.string() }))),
  input: z.array(item).min(1),
});

/** A part of a user message or of a tool result. */
export type InputPart = z.infer<typeof inputPart>;
/** An item of a responses request. */
export type ResponsesItem = z.infer<typeof item>;
type ResponsesRequest = z.infer<typeof responsesRequest>;

/** Checks a responses request against this format's rules. */
export const checkResponsesRequest = checkerOf<ResponsesRequest, ResponsesItem>({
  schema: responsesRequest,
  list: 'input',
  element: item,
  turns: (one) => [turnOf(one)],
  own: checkOrder,
  tools: ({ tools = [] }) => tools.flatMap((tool) => (tool.type === 'function' ? [String(tool.name)] : [])),
  choice: ({ tool_choice }) => (typeof tool_choice === 'object' ? { tool: tool_choice.name } : tool_choice && {}),
});

function turnOf(one: ResponsesItem): Turn {
  if (one.type === 'function_call') return { kind: 'call', id: one.call_id };
  if (one.type === 'function_call_output') return { kind: 'answer', id: one.call_id };
  return { kind: isModels(one) ? 'said' : 'other' };
}

function checkOrder(input: readonly ResponsesItem[]): RequestIssue[] {
  const issues: RequestIssue[] = [];
  input.forEach((one, i) => {
    if (one.type === 'reasoning' && !isModels(input[i + 1])) issues.push({ rule: 'reasoning_place', at: `input.${i}` });
    if (isUsers(one) && isUsers(input[i - 1])) issues.push({ rule: 'alternation', at: `input.${i}` });
  });
  const [first, last] = [input[0], input.at(-1)];
  if (!isUsers(first)) issues.push({ rule: 'first_message', at: 'input.0' });
  if (isModels(last) && last?.type !== 'function_call') issues.push({ rule: 'last_message', at: 'input' });
  return issues;
}

function isUsers(one: ResponsesItem | undefined): boolean {
  return one?.type === 'message' && one.role === 'user';
}

/** Whether an item is from the model. */
function isModels(one: ResponsesItem | undefined): boolean {
  if (one === undefined || one.type === 'function_call_output') return false;
  return one.type !== 'message' || one.role === 'assistant';
}
