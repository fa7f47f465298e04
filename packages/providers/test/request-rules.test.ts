import { describe, expect, it } from 'vitest';
import { validateRequest, WIRE_FORMATS, type WireFormat } from '../src/generate/formats.js';
import { REQUEST_RULES, type RequestRule } from '../src/wire/request-rules.js';

// biome-ignore lint/suspicious/noExplicitAny: mutants break a body anywhere
type Body = any;

const BYTES = 'AQID';
const IMAGE = `data:image/png;base64,${BYTES}`;

const chat = (): Body => ({
  model: 'm',
  stream: false,
  temperature: 0.5,
  stop: ['END'],
  tools: [tool('add'), tool('sub')],
  tool_choice: { type: 'function', function: { name: 'add' } },
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
    { role: 'tool', tool_call_id: 'a', content: '' },
    { role: 'tool', tool_call_id: 'b', content: '2' },
    { role: 'assistant', content: 'Done.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Thanks' },
        { type: 'image_url', image_url: { url: IMAGE } },
      ],
    },
  ],
});

const responses = (): Body => ({
  model: 'm',
  store: false,
  instructions: 'Be brief.',
  max_output_tokens: 16,
  tools: [
    { type: 'function', name: 'add', description: '', parameters: { type: 'object', properties: {} }, strict: false },
    { type: 'function', name: 'sub', description: '', parameters: { type: 'object', properties: {} }, strict: false },
    { type: 'web_search' },
  ],
  tool_choice: { type: 'function', name: 'add' },
  input: [
    { type: 'message', role: 'user', content: 'Go' },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
    { type: 'function_call', call_id: 'a', name: 'add', arguments: '{}' },
    { type: 'function_call', call_id: 'b', name: 'add', arguments: '{"n":1}' },
    { type: 'function_call_output', call_id: 'a', output: '' },
    {
      type: 'function_call_output',
      call_id: 'b',
      output: [
        { type: 'input_text', text: '2' },
        { type: 'input_image', image_url: IMAGE, detail: 'auto' },
      ],
    },
    { type: 'message', role: 'assistant', content: 'Done.' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    {
      type: 'message',
      role: 'assistant',
      phase: 'final_answer',
      content: [{ type: 'output_text', text: 'And found.', annotations: [{ type: 'url_citation' }] }],
    },
    { type: 'message', role: 'user', content: 'Thanks' },
  ],
});

const messages = (): Body => ({
  model: 'm',
  max_tokens: 4_096,
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  system: 'Be brief.',
  tools: [
    { name: 'add', description: '', input_schema: { type: 'object', properties: {} } },
    { name: 'sub', description: '', input_schema: { type: 'object', properties: {} } },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
  tool_choice: { type: 'auto' },
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: 's' },
        { type: 'text', text: 'I add.' },
        { type: 'tool_use', id: 'a', name: 'add', input: {} },
        { type: 'tool_use', id: 'b', name: 'add', input: { n: 1 } },
        { type: 'thinking', thinking: 'And that.', signature: 's' },
        { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: '' },
        {
          type: 'tool_result',
          tool_use_id: 'b',
          content: [
            { type: 'text', text: '2' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BYTES } },
          ],
          is_error: true,
        },
        { type: 'text', text: 'Be quick.' },
      ],
    },
  ],
});

const aiSdk = (): Body => ({
  specification: 'v3',
  maxOutputTokens: 100,
  toolChoice: { type: 'tool', toolName: 'add' },
  tools: [
    { type: 'function', name: 'add', description: '', inputSchema: { type: 'object', properties: {} } },
    { type: 'function', name: 'sub', description: '', inputSchema: { type: 'object', properties: {} } },
    { type: 'provider', id: 'openai.web_search', name: 'web_search', args: {} },
  ],
  prompt: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { anthropic: { signature: 's' } } },
        { type: 'tool-call', toolCallId: 's1', toolName: 'web_search', input: {}, providerExecuted: true },
        { type: 'tool-result', toolCallId: 's1', toolName: 'web_search', output: { type: 'json', value: [] } },
        { type: 'text', text: 'I add.' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'add', input: {} },
        { type: 'tool-call', toolCallId: 'b', toolName: 'add', input: { n: 1 } },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'a', toolName: 'add', output: { type: 'text', value: '' } },
        { type: 'tool-result', toolCallId: 'b', toolName: 'add', output: { type: 'error-text', value: '2' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Thanks' },
        { type: 'file', mediaType: 'image/png', data: BYTES, filename: 'x' },
      ],
    },
  ],
});

function tool(name: string) {
  return { type: 'function', function: { name, description: '', parameters: { type: 'object', properties: {} } } };
}

function call(id: string) {
  return { id, type: 'function', function: { name: 'add', arguments: '{}' } };
}

const VALID: Readonly<Record<WireFormat, () => Body>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  'ai-sdk': aiSdk,
};

type Mutant = readonly [rule: RequestRule, what: string, breaking: (body: Body) => void];

const CHAT_MUTANTS: readonly Mutant[] = [
  ['shape', 'no model', (body) => delete body.model],
  ['shape', 'no messages', (body) => (body.messages = [])],
  ['shape', 'an image without bytes', (body) => (body.messages[6].content[1].image_url.url = 'data:image/png;base64,')],
  ['shape', 'an image elsewhere', (body) => (body.messages[6].content[1].image_url.url = 'https://x.example/y.png')],
  ['shape', 'an unknown field of a message', (body) => (body.messages[1].extra = 1)],
  ['shape', 'content that is not text', (body) => (body.messages[1].content = null)],
  ['shape', 'an empty list of calls', (body) => (body.messages[5].tool_calls = [])],
  ['role', 'an unknown role', (body) => (body.messages[1].role = 'developer')],
  ['empty_content', 'a blank user message', (body) => (body.messages[1].content = ' \n')],
  ['empty_content', 'an answer without text and calls', (body) => (body.messages[5].content = null)],
  ['system_place', 'a system message in the middle', (body) => body.messages.push(body.messages.shift())],
  ['alternation', 'two consecutive user messages', (body) => body.messages.push(body.messages.at(-1))],
  ['alternation', 'two consecutive answers', (body) => body.messages.splice(5, 0, body.messages[5])],
  ['first_message', 'an answer first', (body) => body.messages.splice(1, 1)],
  ['last_message', 'an answer last', (body) => body.messages.pop()],
  ['call_id', 'an id with a space', (body) => renameChat(body, 'a b')],
  ['call_id', 'an id that is too long', (body) => renameChat(body, 'a'.repeat(41))],
  ['call_id_twice', 'two calls with one id', (body) => (body.messages[2].tool_calls[1].id = 'a')],
  ['call_unanswered', 'a call without a result', (body) => body.messages.splice(4, 1)],
  ['call_unanswered', 'a call at the end', (body) => body.messages.splice(3)],
  ['answer_without_call', 'a result twice', (body) => body.messages.splice(5, 0, body.messages[4])],
  ['answer_order', 'results in another order', (body) => body.messages.splice(3, 0, body.messages.splice(4, 1)[0])],
  ['arguments', 'a list', (body) => (body.messages[2].tool_calls[0].function.arguments = '[]')],
  ['arguments', 'half an object', (body) => (body.messages[2].tool_calls[0].function.arguments = '{')],
  [
    'tool_name',
    'a call of a tool with a dot in its name',
    (body) => (body.messages[2].tool_calls[0].function.name = 'a.b'),
  ],
  ['tool_name', 'a tool without a name', (body) => (body.tools[0].function.name = '')],
  ['tool_twice', 'a tool twice', (body) => body.tools.push(tool('add'))],
  ['tool_schema', 'a schema of a list', (body) => (body.tools[0].function.parameters.type = 'array')],
  ['tool_schema', 'a schema without properties', (body) => delete body.tools[0].function.parameters.properties],
  ['tool_choice', 'a choice that is not a tool', (body) => (body.tool_choice.function.name = 'mul')],
  ['tool_choice', 'a choice without tools', (body) => delete body.tools],
  ['tool_choice', 'a choice of an unknown form', (body) => (body.tool_choice = 'any')],
  ['parameter_range', 'a temperature above 2', (body) => (body.temperature = 2.1)],
  ['parameter_range', 'a token limit of zero', (body) => (body.max_tokens = 0)],
  ['parameter_range', 'five stops', (body) => (body.stop = ['1', '2', '3', '4', '5'])],
];

const RESPONSES_MUTANTS: readonly Mutant[] = [
  ['shape', 'no input', (body) => (body.input = [])],
  ['shape', 'an image that is not base64', (body) => (body.input[5].output[1].image_url += '?')],
  ['shape', 'a provider tool call without an id', (body) => delete body.input[7].id],
  ['shape', 'a tool without a type', (body) => delete body.tools[2].type],
  ['shape', 'reasoning without its content', (body) => delete body.input[1].encrypted_content],
  ['role', 'an unknown item', (body) => (body.input[0].type = 'item_reference')],
  ['role', 'an unknown role', (body) => (body.input[0].role = 'tool')],
  ['empty_content', 'a blank text', (body) => (body.input[0].content = '')],
  ['empty_content', 'blank instructions', (body) => (body.instructions = ' ')],
  ['alternation', 'two consecutive user messages', (body) => body.input.push(body.input.at(-1))],
  ['first_message', 'a call first', (body) => body.input.splice(0, 2)],
  ['last_message', 'an answer last', (body) => body.input.pop()],
  ['call_id', 'an id that is too long', (body) => (body.input[2].call_id = body.input[4].call_id = 'a'.repeat(65))],
  ['call_id_twice', 'two calls with one id', (body) => (body.input[3].call_id = 'a')],
  ['call_unanswered', 'a call without an output', (body) => body.input.splice(4, 1)],
  ['call_unanswered', 'a call after an output', (body) => body.input.splice(5, 0, { ...body.input[3], call_id: 'c' })],
  ['answer_without_call', 'an output without a call', (body) => (body.input[5].call_id = 'z')],
  ['answer_order', 'outputs in another order', (body) => body.input.splice(4, 0, body.input.splice(5, 1)[0])],
  ['arguments', 'text that is not JSON', (body) => (body.input[2].arguments = '')],
  ['tool_name', 'a name of 65 letters', (body) => (body.tools[0].name = 'x'.repeat(65))],
  ['tool_twice', 'a tool twice', (body) => (body.tools[1].name = 'add')],
  ['tool_schema', 'no schema', (body) => (body.tools[0].parameters = null)],
  ['tool_choice', 'a choice that is not a tool', (body) => (body.tool_choice.name = 'mul')],
  ['parameter_range', 'a token limit that is too low', (body) => (body.max_output_tokens = 15)],
  ['reasoning_place', 'reasoning before a user message', (body) => body.input.splice(2, 7)],
  ['parameter_conflict', 'a conversation stored at the provider', (body) => (body.previous_response_id = 'resp_1')],
];

const MESSAGES_MUTANTS: readonly Mutant[] = [
  ['shape', 'an image without bytes', (body) => (body.messages[2].content[1].content[1].source.data = '')],
  ['shape', 'content that is not a list of blocks', (body) => (body.messages[0].content = 'Go')],
  ['shape', 'thinking without its signature', (body) => delete body.messages[1].content[0].signature],
  ['role', 'a system message', (body) => (body.messages[0].role = 'system')],
  ['role', 'a block of the other side', (body) => body.messages[0].content.push(body.messages[1].content[2])],
  ['empty_content', 'no blocks', (body) => (body.messages[0].content = [])],
  ['empty_content', 'a blank text', (body) => (body.messages[0].content[0].text = '\n')],
  ['alternation', 'two consecutive user messages', (body) => body.messages.unshift(body.messages[0])],
  ['first_message', 'an answer first', (body) => body.messages.shift()],
  ['last_message', 'an answer last', (body) => body.messages.push({ role: 'assistant', content: [text('So')] })],
  ['call_id', 'an id with a dot', (body) => (body.messages[1].content[2].id = 'a.b')],
  ['call_id_twice', 'two calls with one id', (body) => (body.messages[1].content[3].id = 'a')],
  ['call_unanswered', 'a call without a result', (body) => body.messages[2].content.splice(1, 1)],
  ['call_unanswered', 'results after a text', (body) => body.messages[2].content.unshift(text('First'))],
  ['answer_without_call', 'a result without a call', (body) => (body.messages[2].content[1].tool_use_id = 'z')],
  ['answer_order', 'results in another order', (body) => swap(body.messages[2].content)],
  ['arguments', 'a list', (body) => (body.messages[1].content[2].input = [])],
  ['tool_name', 'a name with a space', (body) => (body.messages[1].content[2].name = 'a b')],
  ['tool_twice', 'a tool twice', (body) => (body.tools[1].name = 'add')],
  ['tool_schema', 'a schema of text', (body) => (body.tools[0].input_schema.type = 'string')],
  ['tools_missing', 'calls and no tools', withoutTools],
  ['tool_choice', 'a choice that is not a tool', (body) => (body.tool_choice = { type: 'tool', name: 'mul' })],
  ['parameter_range', 'a temperature above 1', (body) => (body.temperature = 1.5)],
  ['parameter_range', 'no token limit', (body) => delete body.max_tokens],
  ['call_unanswered', 'a provider tool call without its result', (body) => body.messages[1].content.pop()],
  ['answer_without_call', 'a provider tool result without its call', (body) => body.messages[1].content.splice(5, 1)],
  ['reasoning_place', 'reasoning that nothing follows', (body) => body.messages[1].content.splice(5)],
  ['parameter_conflict', 'adaptive thinking with a temperature', adaptive],
  ['reasoning_place', 'thinking after a text', (body) => swap(body.messages[1].content)],
  ['parameter_conflict', 'a thinking budget above the token limit', (body) => (body.max_tokens = 1_024)],
  ['parameter_conflict', 'thinking with a temperature', (body) => (body.temperature = 0)],
  ['parameter_conflict', 'thinking and a forced tool', (body) => (body.tool_choice = { type: 'any' })],
  ['parameter_conflict', 'thinking after an answer without thinking', (body) => body.messages[1].content.shift()],
];

const AI_SDK_MUTANTS: readonly Mutant[] = [
  ['shape', 'a file that is not base64', (body) => (body.prompt[5].content[1].data = '?')],
  ['shape', 'an unknown specification', (body) => (body.specification = 'v1')],
  [
    'shape',
    'a file without bytes',
    (body) => body.prompt[4].content.push({ type: 'file', mediaType: 'x/y', data: '' }),
  ],
  ['shape', 'options without a provider', (body) => (body.providerOptions = { openai: 1 })],
  ['role', 'an unknown role', (body) => (body.prompt[1].role = 'developer')],
  ['role', 'an unknown part', (body) => (body.prompt[4].content[0].type = 'source')],
  ['empty_content', 'a blank text', (body) => (body.prompt[1].content[0].text = ' ')],
  ['empty_content', 'an empty answer', (body) => (body.prompt[4].content = [])],
  ['system_place', 'a system message in the middle', (body) => body.prompt.push(body.prompt.shift())],
  ['alternation', 'two consecutive user messages', (body) => body.prompt.push(body.prompt.at(-1))],
  ['first_message', 'an answer first', (body) => body.prompt.splice(1, 1)],
  ['last_message', 'an answer last', (body) => body.prompt.pop()],
  ['call_id', 'an id with a space', (body) => (body.prompt[2].content[4].toolCallId = 'a b')],
  ['call_id_twice', 'two calls with one id', (body) => (body.prompt[2].content[5].toolCallId = 'a')],
  ['call_unanswered', 'a call without a result', (body) => body.prompt[3].content.pop()],
  ['call_unanswered', 'a provider tool call without its result', (body) => body.prompt[2].content.splice(2, 1)],
  ['answer_without_call', 'a provider tool result without its call', (body) => body.prompt[2].content.splice(1, 1)],
  ['answer_order', 'results in another order', (body) => body.prompt[3].content.reverse()],
  ['arguments', 'a list', (body) => (body.prompt[2].content[4].input = [])],
  ['tool_name', 'a call of a tool with a dot in its name', (body) => (body.prompt[2].content[4].toolName = 'a.b')],
  ['tool_twice', 'a tool twice', (body) => (body.tools[1].name = 'add')],
  ['tool_schema', 'a schema of text', (body) => (body.tools[0].inputSchema.type = 'string')],
  ['tool_choice', 'a choice that is not a tool', (body) => (body.toolChoice.toolName = 'mul')],
  ['parameter_range', 'a token limit of zero', (body) => (body.maxOutputTokens = 0)],
  [
    'reasoning_place',
    'reasoning that nothing follows',
    (body) => body.prompt[4].content.push({ type: 'reasoning', text: '' }),
  ],
];

function adaptive(body: Body): void {
  body.thinking = { type: 'adaptive' };
  body.temperature = 0;
}

function text(said: string) {
  return { type: 'text', text: said };
}

function swap(list: unknown[]): void {
  [list[0], list[1]] = [list[1], list[0]];
}

function withoutTools(body: Body): void {
  delete body.tools;
  delete body.tool_choice;
}

function renameChat(body: Body, id: string): void {
  body.messages[2].tool_calls[0].id = id;
  body.messages[3].tool_call_id = id;
}

const MUTANTS: Readonly<Record<WireFormat, readonly Mutant[]>> = {
  'openai-chat': CHAT_MUTANTS,
  'openai-responses': RESPONSES_MUTANTS,
  'anthropic-messages': MESSAGES_MUTANTS,
  'ai-sdk': AI_SDK_MUTANTS,
};

describe.each(WIRE_FORMATS)('the rules of %s', (format) => {
  it('a valid request breaks no rule', () => {
    expect(validateRequest(format, VALID[format]())).toEqual([]);
  });

  it('unknown provider fields break no rule', () => {
    expect(validateRequest(format, { ...VALID[format](), service_tier: 'flex' })).toEqual([]);
  });

  it('a request with an image of 5 MB breaks no rule, and one wrong character in it does', () => {
    const image = `${'AQID'.repeat(5_000_000 / 3)}AQ==`;
    const withImage = (bytes: string) => JSON.parse(JSON.stringify(VALID[format]()).replaceAll(BYTES, bytes));
    expect(validateRequest(format, withImage(image))).toEqual([]);
    expect(validateRequest(format, withImage(`?${image.slice(1)}`)).map(({ rule }) => rule)).toContain('shape');
  });

  it.each(MUTANTS[format])('the rule %s finds the mutant: %s', (rule, _, breaking) => {
    const body = VALID[format]();
    breaking(body);
    expect(validateRequest(format, body).map((issue) => issue.rule)).toContain(rule);
  });

  it.each([null, undefined, 1, 'text', [], {}])('the body %j has an invalid shape', (body) => {
    expect(validateRequest(format, body).length).toBeGreaterThan(0);
  });
});

it('every rule is broken by some mutant [MOD-13]', () => {
  const broken = new Set(Object.values(MUTANTS).flatMap((mutants) => mutants.map(([rule]) => rule)));
  expect(REQUEST_RULES.filter((rule) => !broken.has(rule))).toEqual([]);
});
