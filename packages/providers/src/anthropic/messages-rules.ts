/** The messages request of Anthropic: its shape and its rules. */
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
  wireCallId,
  wireToolName,
} from '../wire/request-rules.js';

/** Ids of 1 to 64 letters, digits, `_` and `-`. */
export const MESSAGES_CALL_IDS: CallIdRule = { lengthMin: 1, lengthMax: 64, alphabet: 'word' };

/** The least that a model may be given to think. */
export const THINKING_TOKENS_MIN = 1_024;

const callId = wireCallId(MESSAGES_CALL_IDS);

/** What a model thought, as it came: signed, or not to be read. */
export const thinkingBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) }),
]);

const textBlock = z.strictObject({ type: z.literal('text'), text: spoken });
const cacheable = { cache_control: z.exactOptional(z.looseObject({ type: z.literal('ephemeral') })) };

const assistantBlock = z.discriminatedUnion(
  'type',
  [
    textBlock,
    z.strictObject({
      type: z.literal('tool_use'),
      id: callId,
      name: wireToolName,
      input: z.record(z.string(), z.unknown(), 'arguments'),
    }),
    ...thinkingBlock.options,
  ],
  'role',
);

const userBlock = z.discriminatedUnion(
  'type',
  [
    textBlock.extend(cacheable),
    z.strictObject({
      type: z.literal('tool_result'),
      tool_use_id: callId,
      content: z.string(),
      is_error: z.exactOptional(z.boolean()),
      ...cacheable,
    }),
  ],
  'role',
);

const message = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('user'), content: z.array(userBlock).min(1, 'empty_content') }),
    z.strictObject({ role: z.literal('assistant'), content: z.array(assistantBlock).min(1, 'empty_content') }),
  ],
  'role',
);

const messagesRequest = z.looseObject({
  model: z.string().min(1),
  max_tokens: wholeFrom(1),
  stream: z.exactOptional(z.boolean()),
  system: z.exactOptional(z.union([spoken, z.array(textBlock.extend(cacheable)).min(1)], 'empty_content')),
  temperature: z.exactOptional(range(0, 1)),
  top_p: z.exactOptional(range(0, 1)),
  stop_sequences: z.exactOptional(z.array(spoken).min(1, 'parameter_range')),
  metadata: z.exactOptional(z.strictObject({ user_id: z.exactOptional(z.string().max(256, 'parameter_range')) })),
  thinking: z.exactOptional(
    z.looseObject({ type: z.string(), budget_tokens: z.exactOptional(wholeFrom(THINKING_TOKENS_MIN)) }),
  ),
  tools: z.exactOptional(
    z
      .array(z.strictObject({ name: wireToolName, description: z.string(), input_schema: toolSchema, ...cacheable }))
      .min(1),
  ),
  tool_choice: z.exactOptional(
    z.union(
      [
        z.looseObject({ type: z.enum(['auto', 'any', 'none']) }),
        z.looseObject({ type: z.literal('tool'), name: z.string() }),
      ],
      'tool_choice',
    ),
  ),
  messages: z.array(message).min(1),
});

/** A message of a messages request. */
export type WireMessage = z.infer<typeof message>;
/** A block of what a model said. */
export type AssistantBlock = z.infer<typeof assistantBlock>;
type MessagesRequest = z.infer<typeof messagesRequest>;

/** Checks a messages request. */
export function checkMessagesRequest(body: unknown): RequestIssue[] {
  const parsed = parseBody(messagesRequest, body);
  if ('issues' in parsed) return parsed.issues;
  const { messages, tools = [], tool_choice } = parsed.data;
  const choice = tool_choice?.type === 'tool' ? { tool: String(tool_choice.name) } : tool_choice && {};
  return [
    ...checkOrder(messages),
    ...checkPairs(messages.flatMap(turnsOf)),
    ...checkTools(
      tools.map(({ name }) => name),
      choice,
    ),
    ...checkTogether(parsed.data),
  ];
}

function turnsOf({ content }: WireMessage, i: number): Turn[] {
  return content.map((block, j): Turn => {
    const at = `messages.${i}.content.${j}`;
    if (block.type === 'tool_use') return { kind: 'call', id: block.id, at };
    if (block.type === 'tool_result') return { kind: 'answer', id: block.tool_use_id, at };
    return { kind: 'other', at };
  });
}

function checkOrder(messages: readonly WireMessage[]): RequestIssue[] {
  const issues: RequestIssue[] = [];
  messages.forEach(({ role, content }, i) => {
    const at = `messages.${i}`;
    if (role === messages[i - 1]?.role) issues.push({ rule: 'alternation', at });
    const thoughtful = content.findLastIndex(isThought);
    if (content.slice(0, Math.max(0, thoughtful)).some((block) => !isThought(block)))
      issues.push({ rule: 'reasoning_place', at });
  });
  if (messages[0]?.role !== 'user') issues.push({ rule: 'first_message', at: 'messages.0' });
  if (messages.at(-1)?.role !== 'user') issues.push({ rule: 'last_message', at: 'messages' });
  return issues;
}

function checkTogether(request: MessagesRequest): RequestIssue[] {
  const issues: RequestIssue[] = [];
  const { messages, thinking, tools, max_tokens, tool_choice, temperature } = request;
  const called = messages.some(({ content }) => content.some(({ type }) => type === 'tool_use'));
  if (called && tools === undefined) issues.push({ rule: 'tools_missing', at: 'tools' });
  if (thinking?.type !== 'enabled') return issues;
  const conflict = (at: string) => issues.push({ rule: 'parameter_conflict', at });
  if ((thinking.budget_tokens ?? max_tokens) >= max_tokens) conflict('thinking.budget_tokens');
  if (temperature !== undefined && temperature !== 1) conflict('temperature');
  if (tool_choice !== undefined && !['auto', 'none'].includes(tool_choice.type)) conflict('tool_choice');
  if (!continuesThought(messages)) conflict('thinking');
  return issues;
}

/** Whether the answer whose calls are being answered, if there is one, begins with a thought. */
export function continuesThought(messages: readonly WireMessage[]): boolean {
  const answered = messages.at(-1)?.content.some(({ type }) => type === 'tool_result') ?? false;
  const first = messages.at(-2)?.content[0];
  return !answered || (first !== undefined && isThought(first));
}

function isThought({ type }: { readonly type: string }): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}
