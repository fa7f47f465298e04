/** One fault for each rule of the strict servers: a request that keeps all rules, and what breaks one of them. */
import { refusedByAiSdk } from './ai-sdk.js';
import { refusedByAnthropic } from './anthropic.js';
import { refusedByChat, refusedByResponses } from './openai.js';

// biome-ignore lint/suspicious/noExplicitAny: a mutant changes any place of any body
type Body = any;

/** The name of the broken rule, and the fault. */
export type Mutant = readonly [rule: string, breaks: (body: Body) => void];

/** A server, a request that it takes, and the faults that it finds. */
export interface Table {
  readonly name: string;
  readonly refused: (body: unknown) => string[];
  readonly sound: () => Body;
  readonly schemaOf: (body: Body) => Body;
  readonly mutants: readonly Mutant[];
}

const PNG = 'iVBORw0KGgo=';
const PDF = 'JVBERi0xLjc=';
const schema = () => ({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] });

/** Faults of the schema of a tool, which every server finds. */
const SCHEMA_FAULTS: readonly (readonly [rule: string, breaks: (schema: Body) => void])[] = [
  ['schema_2020_12', (s) => (s.properties.a = { minimum: 1, exclusiveMinimum: true })],
  ['schema_2020_12', (s) => (s.properties.a = { type: 'array', items: [{}] })],
  ['schema_2020_12', (s) => (s.required = true)],
  ['schema_root_object', (s) => delete s.type],
  ['schema_root_properties', (s) => delete s.properties],
  ...['anyOf', 'oneOf', 'allOf'].map((one) => ['schema_root_union', (s: Body) => (s[one] = [{}])] as const),
  ['schema_root_union', (s) => (s.$ref = '#/$defs/x')],
  ['schema_keyword', (s) => (s.properties.a = { not: {} })],
  ['schema_keyword', (s) => (s.properties.a = { type: 'array', prefixItems: [{}], items: {} })],
  ['schema_items', (s) => (s.properties.a = { type: 'array' })],
  ...['(?=a)', '(?<!a)', '\\p{L}', '(a)\\1', '[a'].map(
    (pattern) => ['schema_pattern', (s: Body) => (s.properties.a.pattern = pattern)] as const,
  ),
  ['schema_format', (s) => (s.properties.a.format = 'x-odd')],
  ['schema_ref', (s) => (s.properties.a = { $ref: '#/$defs/nothing' })],
  ['schema_levels', (s) => (s.properties.a = nested(40))],
];

function nested(levels: number): object {
  return levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };
}

const withName: Mutant[1] = (s) => (s.properties['filter[id]'] = {});

const OF_FORMATS: readonly Table[] = [
  {
    name: 'openai-chat',
    refused: refusedByChat,
    sound: () => ({
      model: 'm',
      tools: [{ type: 'function', function: { name: 'add', description: '', parameters: schema() } }],
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
            { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'ok' },
      ],
    }),
    schemaOf: (body) => body.tools[0].function.parameters,
    mutants: [
      ['model', (b) => (b.model = '')],
      ['temperature', (b) => (b.temperature = 3)],
      ['metadata', (b) => (b.metadata = { a: 'x'.repeat(513) })],
      ['max_tokens', (b) => (b.max_tokens = 0)],
      ['stop', (b) => (b.stop = ['a', 'b', 'c', 'd', 'e'])],
      ['tools_count', (b) => (b.tools = Array(129).fill(b.tools[0]))],
      ['tool_type', (b) => (b.tools[0].type = 'custom')],
      ['tool_name', (b) => (b.tools[0].function.name = 'a.b')],
      ['tool_description', (b) => (b.tools[0].function.description = 'x'.repeat(1_025))],
      ['tool_choice', (b) => (b.tool_choice = { type: 'function', function: { name: 'absent' } })],
      ['tool_choice_without_tools', (b) => Object.assign(b, { tools: undefined, tool_choice: 'auto' })],
      ['messages_empty', (b) => (b.messages = [])],
      ['role', (b) => (b.messages[1].role = 'owner')],
      ['content_empty', (b) => (b.messages[1].content = ' ')],
      ['content_missing', (b) => delete b.messages[2].tool_calls],
      ['part_type', (b) => (b.messages[1].content[0].type = 'video')],
      ['image', (b) => (b.messages[1].content[1].image_url.url = `data:image/png;base64,${PDF}`)],
      ['file', (b) => (b.messages[1].content[2].file.file_data = `data:application/pdf;base64,${PNG}`)],
      ['calls_empty', (b) => (b.messages[2].tool_calls = [])],
      ['call_id', (b) => (b.messages[2].tool_calls[0].id = 'x'.repeat(41))],
      ['call_id_twice', (b) => b.messages[2].tool_calls.push(b.messages[2].tool_calls[0])],
      ['call_name', (b) => (b.messages[2].tool_calls[0].function.name = '')],
      ['call_arguments', (b) => (b.messages[2].tool_calls[0].function.arguments = '[')],
      ['calls_unanswered', (b) => (b.messages[3] = { role: 'user', content: 'And?' })],
      ['answer_without_call', (b) => (b.messages[3].tool_call_id = 'c2')],
      ['last_message', (b) => b.messages.push({ role: 'assistant', content: 'Well' })],
    ],
  },
  {
    name: 'openai-responses',
    refused: refusedByResponses,
    sound: () => ({
      model: 'm',
      tools: [{ type: 'function', name: 'add', description: '', parameters: schema(), strict: false }],
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
          ],
        },
        { type: 'reasoning', summary: [], encrypted_content: 'e' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I add.', annotations: [] }] },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: 'ok' },
      ],
    }),
    schemaOf: (body) => body.tools[0].parameters,
    mutants: [
      ['max_output_tokens', (b) => (b.max_output_tokens = 15)],
      ['tool_name', (b) => (b.tools[0].name = 'x'.repeat(65))],
      ['tool_choice', (b) => (b.tool_choice = { type: 'function', name: 'absent' })],
      ['input_empty', (b) => (b.input = [])],
      ['role', (b) => (b.input[0].role = 'owner')],
      ['item_type', (b) => (b.input[0] = { type: 'odd' })],
      ['content_empty', (b) => (b.input[0].content = [])],
      ['content_text', (b) => delete b.input[0].content[0].text],
      ['content_parts', (b) => (b.input[2].content[0].type = 'input_text')],
      ['part_type', (b) => (b.input[0].content[0].type = 'text')],
      ['image', (b) => (b.input[0].content[1].image_url = 'data:image/png;base64,')],
      ['file', (b) => (b.input[0].content[2].file_data = `data:text/plain;base64,${PDF}`)],
      ['reasoning_summary', (b) => delete b.input[1].summary],
      ['reasoning_alone', (b) => b.input.push({ type: 'reasoning', summary: [] })],
      ['call_id', (b) => (b.input[3].call_id = 'x'.repeat(65))],
      ['call_id_twice', (b) => b.input.splice(3, 0, b.input[3])],
      ['call_name', (b) => (b.input[3].name = 'a b')],
      ['call_arguments', (b) => (b.input[3].arguments = '"x"')],
      ['answer_without_call', (b) => b.input.splice(3, 1)],
      ['calls_unanswered', (b) => b.input.pop()],
    ],
  },
  {
    name: 'anthropic-messages',
    refused: refusedByAnthropic,
    sound: () => ({
      model: 'm',
      max_tokens: 4_096,
      system: 'Be brief.',
      thinking: { type: 'enabled', budget_tokens: 2_048 },
      tools: [{ name: 'add', description: '', input_schema: schema() }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'I add.' },
            { type: 'tool_use', id: 'c1', name: 'add', input: {} },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'ok' }] }],
        },
      ],
    }),
    schemaOf: (body) => body.tools[0].input_schema,
    mutants: [
      ['model', (b) => delete b.model],
      ['max_tokens', (b) => delete b.max_tokens],
      ['temperature', (b) => (b.temperature = 1.5)],
      ['temperature_with_thinking', (b) => (b.temperature = 0.5)],
      ['system_empty', (b) => (b.system = ' ')],
      ['stop_sequences', (b) => (b.stop_sequences = [' '])],
      ['tools_count', (b) => (b.tools = [])],
      ['tools_missing', (b) => delete b.tools],
      ['tool_twice', (b) => b.tools.push(b.tools[0])],
      ['tool_name', (b) => (b.tools[0].name = 'a.b')],
      ['tool_description', (b) => (b.tools[0].description = null)],
      ['schema_property_name', (b) => withName(b.tools[0].input_schema)],
      ['tool_choice', (b) => (b.tool_choice = { type: 'tool', name: 'absent' })],
      ['tool_choice_with_thinking', (b) => (b.tool_choice = { type: 'any' })],
      ['tool_choice_without_tools', (b) => Object.assign(b, { tools: undefined, tool_choice: { type: 'auto' } })],
      ['budget_tokens', (b) => (b.thinking.budget_tokens = 8_192)],
      ['thinking_missing', (b) => b.messages[1].content.shift()],
      ['thinking', (b) => delete b.messages[1].content[0].signature],
      ['thinking_last', (b) => b.messages[1].content.push(b.messages[1].content[0])],
      ['first_message', (b) => b.messages.shift()],
      ['last_message', (b) => b.messages.pop()],
      ['role', (b) => (b.messages[0].role = 'system')],
      ['alternation', (b) => b.messages.push(b.messages[2])],
      ['content_empty', (b) => (b.messages[1].content[1].text = '\n')],
      ['block_type', (b) => (b.messages[0].content[0].type = 'video')],
      ['image', (b) => (b.messages[0].content[1].source.media_type = 'image/jpeg')],
      ['document', (b) => (b.messages[0].content[2].source.data = PNG)],
      ['call_id', (b) => (b.messages[1].content[2].id = 'a b')],
      ['call_id_twice', (b) => b.messages[1].content.push(b.messages[1].content[2])],
      ['call_name', (b) => (b.messages[1].content[2].name = '')],
      ['call_input', (b) => (b.messages[1].content[2].input = 'x')],
      ['calls_unanswered', (b) => (b.messages[2].content = 'And?')],
      ['answer_without_call', (b) => (b.messages[2].content[0].tool_use_id = 'c2')],
      ['answer_twice', (b) => b.messages[2].content.push(b.messages[2].content[0])],
      ['results_first', (b) => b.messages[2].content.unshift({ type: 'text', text: 'x' })],
    ],
  },
  {
    name: 'ai-sdk',
    refused: refusedByAiSdk,
    sound: () => ({
      specification: 'v4',
      tools: [{ type: 'function', name: 'add', description: '', inputSchema: schema() }],
      prompt: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'file', mediaType: 'image/png', data: { type: 'data', data: PNG }, filename: 'a.png' },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: {} }],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'add',
              output: { type: 'content', value: [{ type: 'text', text: 'ok' }] },
            },
          ],
        },
      ],
    }),
    schemaOf: (body) => body.tools[0].inputSchema,
    mutants: [
      ['specification', (b) => (b.specification = 'v9')],
      ['max_output_tokens', (b) => (b.maxOutputTokens = 0)],
      ['reasoning', (b) => Object.assign(b, { specification: 'v3', reasoning: 'low' })],
      ['tool_name', (b) => (b.tools[0].name = 'a.b')],
      ['tool_choice', (b) => (b.toolChoice = { type: 'tool', toolName: 'absent' })],
      ['schema_property_name', (b) => withName(b.tools[0].inputSchema)],
      ['tools_missing', (b) => delete b.tools],
      ['prompt_empty', (b) => (b.prompt = [])],
      ['content_empty', (b) => (b.prompt[1].content = [])],
      ['part_type', (b) => (b.prompt[1].content[0].type = 'image')],
      [
        'part_type',
        (b) => Object.assign(b, { specification: 'v3' }).prompt[2].content.push({ type: 'custom', kind: 'p.x' }),
      ],
      ['file_data', (b) => (b.prompt[1].content[1].data = PNG)],
      ['file', (b) => (b.prompt[1].content[1].mediaType = 'application/pdf')],
      ['call', (b) => (b.prompt[2].content[0].input = '{}')],
      ['answer_without_call', (b) => (b.prompt[3].content[0].toolCallId = 'c2')],
      ['output', (b) => (b.prompt[3].content[0].output = { type: 'text', value: 7 })],
      ['output_part', (b) => b.prompt[3].content[0].output.value.push({ type: 'image-data', data: PNG })],
    ],
  },
];

/** All tables; each has the faults of schemas as well. */
export const TABLES: readonly Table[] = OF_FORMATS.map((table) => ({
  ...table,
  mutants: [
    ...table.mutants,
    ...SCHEMA_FAULTS.map(([rule, breaks]): Mutant => [rule, (body) => breaks(table.schemaOf(body))]),
  ],
}));
