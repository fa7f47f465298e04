/** The shape and the rules of Anthropic's messages request. */
import * as z from '@reprise/contracts/schema';
import type { CallIdRule } from '../model/call-ids.js';
import { SCHEMA_RULES } from '../schemas/schema-rules.js';
import {
  base64,
  checkerOf,
  commonFields,
  range,
  spoken,
  textOr,
  toolSchema,
  wholeFrom,
  wireCallId,
  wireToolName,
  wireTools,
} from '../wire/format-rules.js';
import type { RequestIssue, Turn } from '../wire/request-rules.js';
import { checkRuns, type RunNames } from '../wire/runs.js';

/** Ids of 1 to 64 letters, digits, `_` and `-`. */
export const MESSAGES_CALL_IDS: CallIdRule = { lengthMin: 1, lengthMax: 64, alphabet: 'word' };

/** The smallest thinking budget that the format accepts, in tokens. */
export const THINKING_TOKENS_MIN = 1_024;

const callId = wireCallId(MESSAGES_CALL_IDS);

/** A thinking block as the model sent it: signed, or redacted. */
export const thinkingBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) }),
]);

/** A call of a tool that the provider ran itself. */
export const providerCall = z.looseObject({
  type: z.enum(['server_tool_use', 'mcp_tool_use']),
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.looseObject({}),
});

/** The types of results of tools that the provider runs. */
const PROVIDER_RESULTS = [
  'web_search_tool_result',
  'web_fetch_tool_result',
  'code_execution_tool_result',
  'bash_code_execution_tool_result',
  'text_editor_code_execution_tool_result',
  'tool_search_tool_result',
  'mcp_tool_result',
] as const;

/** The result of a tool that the provider ran itself. */
export const providerResult = z.looseObject({
  type: z.enum(PROVIDER_RESULTS),
  tool_use_id: z.string().min(1),
  content: z.union([z.string(), z.array(z.unknown()), z.looseObject({})]),
});

/** Citations that belong to a text block. */
export const textMarks = z.strictObject({ citations: z.array(z.looseObject({ type: z.string() })).min(1) });

const textBlock = z.strictObject({ type: z.literal('text'), text: spoken });
const cacheControl = z.looseObject({ type: z.literal('ephemeral') });
const cacheable = { cache_control: z.exactOptional(cacheControl) };

const assistantBlock = z.discriminatedUnion(
  'type',
  [
    textBlock.extend({ citations: z.exactOptional(textMarks.shape.citations) }),
    z.strictObject({
      type: z.literal('tool_use'),
      id: callId,
      name: wireToolName,
      input: z.record(z.string(), z.unknown(), 'arguments'),
    }),
    ...thinkingBlock.options,
    providerCall,
    providerResult,
  ],
  'role',
);

const source = z.strictObject({ type: z.literal('base64'), media_type: z.string().min(1), data: base64 });

const saidBlock = z.discriminatedUnion(
  'type',
  [
    textBlock.extend(cacheable),
    z.strictObject({ type: z.literal('image'), source, ...cacheable }),
    z.strictObject({ type: z.literal('document'), source, title: z.string().min(1), ...cacheable }),
  ],
  'role',
);

const userBlock = z.discriminatedUnion(
  'type',
  [
    ...saidBlock.options,
    z.strictObject({
      type: z.literal('tool_result'),
      tool_use_id: callId,
      content: textOr(z.string(), z.array(saidBlock).min(1)),
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

const ownTool = z.strictObject({
  name: wireToolName,
  description: z.string(),
  input_schema: toolSchema(SCHEMA_RULES['anthropic-messages']),
  ...cacheable,
});

/** A tool that the provider runs itself, in its own form. */
const providerTool = z.looseObject({ type: z.string().min(1), name: wireToolName });

const messagesRequest = z.looseObject({
  ...commonFields,
  ...cacheable,
  max_tokens: wholeFrom(1),
  system: z.exactOptional(z.union([spoken, z.array(textBlock.extend(cacheable)).min(1)], 'empty_content')),
  temperature: z.exactOptional(range(0, 1)),
  stop_sequences: z.exactOptional(z.array(spoken).min(1, 'parameter_range')),
  metadata: z.exactOptional(z.strictObject({ user_id: z.exactOptional(z.string().max(256, 'parameter_range')) })),
  thinking: z.exactOptional(
    z.looseObject({ type: z.string(), budget_tokens: z.exactOptional(wholeFrom(THINKING_TOKENS_MIN)) }),
  ),
  output_config: z.exactOptional(z.looseObject({ effort: z.exactOptional(z.enum(['low', 'medium', 'high'])) })),
  tools: z.exactOptional(
    wireTools(ownTool, providerTool, ({ type }) => type === undefined, SCHEMA_RULES['anthropic-messages']),
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

/** A block of a user message or of a tool result. */
export type SaidBlock = z.infer<typeof saidBlock>;
/** A message of a messages request. */
export type WireMessage = z.infer<typeof message>;
/** A block of an assistant message. */
export type AssistantBlock = z.infer<typeof assistantBlock>;
type MessagesRequest = z.infer<typeof messagesRequest>;

/** Checks a messages request against this format's rules. */
export const checkMessagesRequest = checkerOf<MessagesRequest, WireMessage>({
  schema: messagesRequest,
  list: 'messages',
  element: message,
  turns: turnsOf,
  each: ({ role, content }) =>
    role === 'assistant' ? [...checkThoughts(content, ''), ...checkRuns(content, MESSAGES_RUNS, '')] : [],
  own: (messages, request) => [...checkOrder(messages), ...checkTogether(messages, request)],
  tools: ({ tools = [] }) => tools.map(({ name }) => String(name)),
  choice: ({ tool_choice }) => (tool_choice?.type === 'tool' ? { tool: String(tool_choice.name) } : tool_choice && {}),
});

function turnsOf({ role, content }: WireMessage): Turn[] {
  return content.map((block, j): Turn => {
    const at = `.content.${j}`;
    if (block.type === 'tool_use') return { kind: 'call', id: block.id, at };
    if (block.type === 'tool_result') return { kind: 'answer', id: block.tool_use_id, at };
    return { kind: role === 'assistant' ? 'said' : 'other', at };
  });
}

function checkOrder(messages: readonly WireMessage[]): RequestIssue[] {
  const issues: RequestIssue[] = [];
  messages.forEach(({ role }, i) => {
    if (role === messages[i - 1]?.role) issues.push({ rule: 'alternation', at: `messages.${i}` });
  });
  if (messages[0]?.role !== 'user') issues.push({ rule: 'first_message', at: 'messages.0' });
  if (messages.at(-1)?.role !== 'user') issues.push({ rule: 'last_message', at: 'messages' });
  return issues;
}

/** Checks that something follows each thinking block, and that no thinking follows plain text. */
function checkThoughts(content: readonly AssistantBlock[], at: string): RequestIssue[] {
  const misplaced = content.some((block, j) => isThought(block) && content[j - 1]?.type === 'text');
  const last = content.at(-1);
  return misplaced || (last !== undefined && isThought(last)) ? [{ rule: 'reasoning_place', at }] : [];
}

/** Where this format holds the ids of tools that the provider ran. */
export const MESSAGES_RUNS: RunNames<AssistantBlock> = {
  runOf: (block) => providerCall.safeParse(block).data?.id,
  resultOf: (block) => providerResult.safeParse(block).data?.tool_use_id,
};

function checkTogether(messages: readonly WireMessage[], request: MessagesRequest): RequestIssue[] {
  const issues: RequestIssue[] = [];
  const { thinking, tools, max_tokens, tool_choice, temperature } = request;
  const called = messages.some(({ content }) => content.some(({ type }) => type === 'tool_use'));
  if (called && tools === undefined) issues.push({ rule: 'tools_missing', at: 'tools' });
  if (!thinks(thinking)) return issues;
  const conflict = (at: string) => issues.push({ rule: 'parameter_conflict', at });
  if (temperature !== undefined && temperature !== 1) conflict('temperature');
  if (tool_choice !== undefined && !['auto', 'none'].includes(tool_choice.type)) conflict('tool_choice');
  if (thinking?.type !== 'enabled') return issues;
  if ((thinking.budget_tokens ?? max_tokens) >= max_tokens) conflict('thinking.budget_tokens');
  if (!continuesThought(messages)) conflict('thinking');
  return issues;
}

/** Whether this setting turns thinking on. */
export function thinks(thinking: { readonly type?: unknown } | undefined): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

/** Whether the answer whose calls are being answered begins with thinking; true when there is no such answer. */
export function continuesThought(messages: readonly WireMessage[]): boolean {
  const answered = messages.at(-1)?.content.some(({ type }) => type === 'tool_result') ?? false;
  const first = messages.at(-2)?.content[0];
  return !answered || (first !== undefined && isThought(first));
}

/** Whether a block is a thinking block. */
export function isThought({ type }: { readonly type: string }): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}
