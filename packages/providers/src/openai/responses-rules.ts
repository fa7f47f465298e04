/** The responses request of OpenAI: its shape and its rules. */
import * as z from 'zod';
import type { CallIdRule } from '../call-ids.js';
import {
  checkPairs,
  checkTools,
  parseBody,
  type RequestIssue,
  range,
  spoken,
  type Turn,
  toolSchema,
  wholeFrom,
  wireArguments,
  wireCallId,
  wireToolName,
} from '../wire/request-rules.js';

/** Ids of 1 to 64 letters, digits, `_` and `-`. */
export const RESPONSES_CALL_IDS: CallIdRule = { lengthMin: 1, lengthMax: 64, alphabet: 'word' };

const callId = wireCallId(RESPONSES_CALL_IDS);

/** Reasoning as it came: encrypted, so that no server has to remember it. */
export const reasoningItem = z.looseObject({
  type: z.literal('reasoning'),
  id: z.exactOptional(z.string().min(1)),
  summary: z.array(z.looseObject({})),
  encrypted_content: z.string().min(1),
});

const item = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('message'), role: z.enum(['user', 'assistant'], 'role'), content: spoken }),
    z.strictObject({
      type: z.literal('function_call'),
      call_id: callId,
      name: wireToolName,
      arguments: wireArguments,
    }),
    z.strictObject({ type: z.literal('function_call_output'), call_id: callId, output: z.string() }),
    reasoningItem,
  ],
  'role',
);

const responsesRequest = z.looseObject({
  model: z.string().min(1),
  instructions: z.exactOptional(spoken),
  stream: z.exactOptional(z.boolean()),
  store: z.exactOptional(z.boolean()),
  temperature: z.exactOptional(range(0, 2)),
  top_p: z.exactOptional(range(0, 1)),
  max_output_tokens: z.exactOptional(wholeFrom(16)),
  metadata: z.exactOptional(
    z
      .record(z.string().max(64, 'parameter_range'), z.string().max(512, 'parameter_range'))
      .refine((pairs) => Object.keys(pairs).length <= 16, 'parameter_range'),
  ),
  reasoning: z.exactOptional(z.looseObject({ effort: z.exactOptional(z.enum(['low', 'medium', 'high'])) })),
  previous_response_id: z.exactOptional(z.undefined('parameter_conflict')),
  tools: z.exactOptional(
    z
      .array(
        z.strictObject({
          type: z.literal('function'),
          name: wireToolName,
          description: z.string(),
          parameters: toolSchema,
          strict: z.boolean(),
        }),
      )
      .min(1)
      .max(128, 'parameter_range'),
  ),
  tool_choice: z.exactOptional(
    z.union(
      [z.enum(['auto', 'none', 'required']), z.strictObject({ type: z.literal('function'), name: z.string() })],
      'tool_choice',
    ),
  ),
  input: z.array(item).min(1),
});

/** An item of a responses request. */
export type ResponsesItem = z.infer<typeof item>;

/** Checks a responses request. */
export function checkResponsesRequest(body: unknown): RequestIssue[] {
  const parsed = parseBody(responsesRequest, body);
  if ('issues' in parsed) return parsed.issues;
  const { input, tools = [], tool_choice } = parsed.data;
  const choice = typeof tool_choice === 'object' ? { tool: tool_choice.name } : tool_choice && {};
  return [
    ...checkOrder(input),
    ...checkPairs(input.map(turnOf)),
    ...checkTools(
      tools.map(({ name }) => name),
      choice,
    ),
  ];
}

function turnOf(one: ResponsesItem, i: number): Turn {
  const at = `input.${i}`;
  if (one.type === 'function_call') return { kind: 'call', id: one.call_id, at };
  if (one.type === 'function_call_output') return { kind: 'answer', id: one.call_id, at };
  return { kind: 'other', at };
}

function checkOrder(input: readonly ResponsesItem[]): RequestIssue[] {
  const issues: RequestIssue[] = [];
  input.forEach((one, i) => {
    const at = `input.${i}`;
    const next = input[i + 1];
    if (one.type === 'reasoning' && !isModels(next)) issues.push({ rule: 'reasoning_place', at });
    const before = input[i - 1];
    const same = one.type === 'message' && before?.type === 'message' && one.role === before.role;
    if (same) issues.push({ rule: 'alternation', at });
  });
  const [first, last] = [input[0], input.at(-1)];
  if (first?.type !== 'message' || first.role !== 'user') issues.push({ rule: 'first_message', at: 'input.0' });
  if (isModels(last) && last?.type !== 'function_call') issues.push({ rule: 'last_message', at: 'input' });
  return issues;
}

/** Whether an item is the model's own. */
function isModels(one: ResponsesItem | undefined): boolean {
  if (one === undefined || one.type === 'function_call_output') return false;
  return one.type !== 'message' || one.role === 'assistant';
}
