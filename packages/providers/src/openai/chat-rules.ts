/** The shape and the rules of the chat-completions request. */
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
} from '../wire/format-rules.js';
import type { RequestIssue, Turn } from '../wire/request-rules.js';

/** Ids of 1 to 40 letters, digits, `_` and `-`. */
export const CHAT_CALL_IDS: CallIdRule = { lengthMin: 1, lengthMax: 40, alphabet: 'word' };

const callId = wireCallId(CHAT_CALL_IDS);

const chatPart = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('text'), text: spoken }),
    z.strictObject({ type: z.literal('image_url'), image_url: z.strictObject({ url: dataUrl }) }),
    z.strictObject({
      type: z.literal('file'),
      file: z.strictObject({ filename: z.string().min(1), file_data: dataUrl }),
    }),
  ],
  'role',
);

const chatMessage = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('system'), content: spoken }),
    z.strictObject({ role: z.literal('user'), content: textOr(spoken, z.array(chatPart).min(1)) }),
    z.strictObject({ role: z.literal('tool'), tool_call_id: callId, content: z.string() }),
    z.strictObject({
      role: z.literal('assistant'),
      content: z.nullable(spoken),
      reasoning: z.exactOptional(z.string()),
      reasoning_content: z.exactOptional(z.string()),
      reasoning_details: z.exactOptional(z.array(z.looseObject({}))),
      tool_calls: z.exactOptional(
        z
          .array(
            z.strictObject({
              id: callId,
              type: z.literal('function'),
              function: z.strictObject({ name: wireToolName, arguments: wireArguments }),
            }),
          )
          .min(1),
      ),
    }),
  ],
  'role',
);

const chatRequest = z.looseObject({
  ...commonFields,
  temperature: z.exactOptional(range(0, 2)),
  max_tokens: z.exactOptional(wholeFrom(1)),
  max_completion_tokens: z.exactOptional(wholeFrom(1)),
  stop: z.exactOptional(z.array(spoken).min(1, 'parameter_range').max(4, 'parameter_range')),
  metadata: z.exactOptional(metadataPairs),
  reasoning_effort: z.exactOptional(z.enum(['low', 'medium', 'high'])),
  tools: z.exactOptional(
    z
      .array(
        z.strictObject({
          type: z.literal('function'),
          function: z.strictObject({
            name: wireToolName,
            description: z.string(),
            parameters: toolSchema(SCHEMA_RULES['openai-chat']),
          }),
        }),
      )
      .min(1)
      .max(SCHEMA_RULES['openai-chat'].toolsMax, 'parameter_range'),
  ),
  tool_choice: z.exactOptional(
    wireChoice(z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) })),
  ),
  messages: z.array(chatMessage).min(1),
});

/** A part of a user message. */
export type ChatPart = z.infer<typeof chatPart>;
/** A message of a chat-completions request. */
export type ChatMessage = z.infer<typeof chatMessage>;
type ChatRequest = z.infer<typeof chatRequest>;

/** Checks a chat-completions request against this format's rules. */
export const checkChatRequest = checkerOf<ChatRequest, ChatMessage>({
  schema: chatRequest,
  list: 'messages',
  element: chatMessage,
  turns: turnsOf,
  each: (message) =>
    message.role === 'assistant' && message.content === null && message.tool_calls === undefined
      ? [{ rule: 'empty_content', at: '' }]
      : [],
  own: checkOrder,
  tools: ({ tools = [] }) => tools.map((tool) => tool.function.name),
  choice: ({ tool_choice }) =>
    typeof tool_choice === 'object' ? { tool: tool_choice.function.name } : tool_choice && {},
});

function turnsOf(message: ChatMessage): Turn[] {
  if (message.role === 'tool') return [{ kind: 'answer', id: message.tool_call_id }];
  if (message.role !== 'assistant') return [{ kind: 'other' }];
  return [{ kind: 'other' }, ...(message.tool_calls ?? []).map(({ id }): Turn => ({ kind: 'call', id }))];
}

function checkOrder(messages: readonly ChatMessage[]): RequestIssue[] {
  const issues: RequestIssue[] = [];
  messages.forEach(({ role }, i) => {
    if (role === 'system' && i > 0) issues.push({ rule: 'system_place', at: `messages.${i}` });
    if (role !== 'tool' && role === messages[i - 1]?.role) issues.push({ rule: 'alternation', at: `messages.${i}` });
  });
  const first = messages.find(({ role }) => role !== 'system');
  if (first?.role !== 'user') issues.push({ rule: 'first_message', at: 'messages' });
  if (messages.at(-1)?.role === 'assistant') issues.push({ rule: 'last_message', at: 'messages' });
  return issues;
}
