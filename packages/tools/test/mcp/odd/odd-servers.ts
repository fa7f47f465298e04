/** Odd servers by a seed: what they say of themselves, which tools they list, and what they do for each call. */
import fc from 'fast-check';

/** What a server does: sends a text, ends, or waits. */
type Deed =
  | { readonly say: string; readonly cut?: number; readonly end?: string; readonly times?: number }
  | { readonly do: 'exit' }
  | { readonly do: 'wait'; readonly ms: number };

/** What a call does, and how it has to end: with this text, or in any way but silence. */
interface Call {
  readonly what: string;
  readonly deeds: readonly Deed[];
  readonly answer?: string;
  /** How it comes over HTTP. */
  readonly how: 'json' | 'events' | 'resumed';
}

/** A tool of a raw list; `isGood`: it follows the protocol, and has to be offered. */
export interface RawTool {
  readonly text: string;
  readonly name: string | undefined;
  readonly isGood: boolean;
}

/** An odd server. */
export interface OddServer {
  readonly greeting: string;
  readonly pages: readonly (readonly string[])[];
  /** What follows the last page: nothing, odd cursors, or pages without an end. */
  readonly cursors: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly calls: Readonly<Record<string, Call>>;
  readonly tools: readonly RawTool[];
}

const json = JSON.stringify;
const answer = (result: string): string => `{"jsonrpc":"2.0","id":"$ID","result":${result}}`;
const OK = '{"content":[{"type":"text","text":"ok"}]}';
const note = (method: string, params = '{}'): string => `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
const progress = (token: string, n: number): string =>
  note('notifications/progress', `{"progressToken":${token},"progress":${n},"total":null,"message":7}`);

const say = (...texts: readonly string[]): readonly Deed[] => texts.map((text) => ({ say: text }));
const storm = (text: string, times: number): readonly Deed[] => [{ say: text, times }];

type Behavior = Omit<Call, 'how'> & { readonly only?: Call['how'] };

/** What servers do for a call. */
const BEHAVIORS: readonly Behavior[] = [
  { what: 'it answers', deeds: say(answer(OK)), answer: 'answer ["ok"]' },
  { what: 'it answers twice', deeds: say(answer(OK), answer('{"content":[]}')), answer: 'answer ["ok"]' },
  { what: 'an error without content', deeds: say(answer('{"isError":true}')) },
  { what: 'an error with null content', deeds: say(answer('{"isError":true,"content":null}')) },
  {
    what: 'null everywhere',
    deeds: say(answer('{"content":null,"structuredContent":null,"isError":null,"_meta":null}')),
    answer: 'answer []',
  },
  { what: 'a null result', deeds: say(answer('null')) },
  {
    what: 'a null error beside a result',
    deeds: say(`{"jsonrpc":"2.0","id":"$ID","error":null,"result":${OK}}`),
    answer: 'answer ["ok"]',
  },
  { what: 'an error of null', deeds: say('{"jsonrpc":"2.0","id":"$ID","error":null}') },
  {
    what: 'blocks of unknown types',
    deeds: say(answer('{"content":[{"type":"video","data":"x"},{"type":"text","text":"ok"},{"type":7},null]}')),
  },
  {
    what: 'data beside a text that differs',
    deeds: say(answer('{"content":[{"type":"text","text":"one"}],"structuredContent":{"n":2}}')),
    answer: 'answer ["one",{"json":{"n":2}}]',
  },
  { what: 'data alone', deeds: say(answer('{"structuredContent":{"n":2}}')), answer: 'answer [{"json":{"n":2}}]' },
  {
    what: 'data that is a list',
    deeds: say(answer('{"content":[],"structuredContent":[1,2]}')),
    answer: 'answer [{"json":{"result":[1,2]}}]',
  },
  {
    what: 'a large number in data',
    deeds: say(answer('{"structuredContent":{"id":9007199254740993}}')),
    answer: 'answer [{"json":{"id":"9007199254740993"}}]',
  },
  { what: 'an answer of 1 MB', deeds: say(answer('{"content":[{"type":"text","text":"$LONG"}]}')) },
  {
    what: 'progress for unknown tokens',
    deeds: say(progress('"nobody"', 1), progress('"$ID"', 2), progress('null', 3), answer(OK)),
    answer: 'answer ["ok"]',
  },
  {
    what: 'a storm of progress',
    deeds: [...storm(progress('"$TOKEN"', 1), 400), ...say(answer(OK))],
    answer: 'answer ["ok"]',
  },
  {
    what: 'a storm of announcements',
    deeds: [...storm(note('notifications/tools/list_changed'), 200), ...say(answer(OK))],
    answer: 'answer ["ok"]',
  },
  {
    what: 'a storm of log lines',
    deeds: [...storm(note('notifications/message', '{"level":"info","data":null}'), 200), ...say(answer(OK))],
    answer: 'answer ["ok"]',
  },
  {
    what: 'questions that nobody supports',
    deeds: say(
      '{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":null}',
      '{"jsonrpc":"2.0","id":0,"method":"roots/list"}',
      answer(OK),
    ),
    answer: 'answer ["ok"]',
  },
  {
    what: 'an id as a text',
    deeds: say(`{"jsonrpc":"2.0","id":"$NUMBER","result":${OK}}`),
    answer: 'answer ["ok"]',
  },
  { what: 'an id of null', deeds: say(`{"jsonrpc":"2.0","id":null,"result":${OK}}`), answer: 'answer ["ok"]' },
  {
    what: 'no id',
    deeds: say('{"level":"error","error":"x"}', `{"jsonrpc":"2.0","result":${OK}}`),
    answer: 'answer ["ok"]',
  },
  { what: 'a foreign id', deeds: say(`{"jsonrpc":"2.0","id":"foreign","result":${OK}}`), answer: 'answer ["ok"]' },
  { what: 'no revision of JSON-RPC', deeds: say(`{"id":"$ID","result":${OK}}`), answer: 'answer ["ok"]' },
  { what: 'half an answer', deeds: say(answer(OK).slice(0, 45)) },
  {
    what: 'an error with a text as its code',
    deeds: say('{"jsonrpc":"2.0","id":"$ID","error":{"code":"E_NO","message":null}}'),
  },
  { what: 'an error that is a text', deeds: say('{"jsonrpc":"2.0","id":"$ID","error":"no"}') },
  {
    what: 'bytes one by one',
    deeds: [{ say: answer('{"content":[{"type":"text","text":"ok é 漢 🐙"}]}'), cut: 1 }],
    answer: 'answer ["ok é 漢 🐙"]',
  },
  { what: 'a byte order mark', deeds: say(`\uFEFF${answer(OK)}`), answer: 'answer ["ok"]' },
  { what: 'a line that ends in CR and LF', deeds: [{ say: answer(OK), end: '\r\n' }], answer: 'answer ["ok"]' },
  { what: 'two lines at once', deeds: say(`${answer(OK)}`, note('notifications/x', '7')), answer: 'answer ["ok"]' },
  { what: 'it exits', deeds: [{ do: 'exit' }] },
  { what: 'it answers and exits', deeds: [...say(answer(OK)), { do: 'exit' }], answer: 'answer ["ok"]' },
  { what: 'it waits', deeds: [{ do: 'wait', ms: 30 }, ...say(answer(OK))], answer: 'answer ["ok"]' },
  { what: 'a stream that is resumed', deeds: say(answer(OK)), answer: 'answer ["ok"]', only: 'resumed' },
  { what: 'input that it does not say', deeds: say(answer('{"resultType":"input_required"}')) },
  {
    what: 'a nested block',
    deeds: say(answer(`{"content":[{"type":"text","text":${'['.repeat(200)}${']'.repeat(200)}}]}`)),
  },
  {
    what: 'a block that nests deeper than is read',
    deeds: say(answer(`{"content":[{"type":"text","text":${'['.repeat(400)}${']'.repeat(400)}}]}`)),
  },
  { what: 'a lone surrogate', deeds: say(answer('{"content":[{"type":"text","text":"\\ud800"}]}')) },
  { what: '__proto__ in data', deeds: say(answer('{"structuredContent":{"__proto__":{"a":1},"b":2}}')) },
];

const call: fc.Arbitrary<Call> = fc
  .tuple(fc.constantFrom(...BEHAVIORS), fc.constantFrom('json' as const, 'events' as const))
  .map(([{ only, ...behavior }, how]) => ({
    ...behavior,
    // JSON over HTTP is one message.
    how: only ?? (behavior.deeds.filter((deed) => 'say' in deed).length === 1 ? how : 'events'),
  }));

const schema = { type: 'object', properties: { a: { type: 'string' } } };

/** Names in the ways of the world. */
const name = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_-]{0,20}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('n'.repeat(65), `${'n'.repeat(64)}a`, `${'n'.repeat(64)}b`, 'x'.repeat(256)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'a.b',
      'a/b',
      'a b',
      'ä',
      '工具',
      '🐙',
      'a__b',
      '-',
      'constructor',
      '__proto__',
      'toString',
    ),
  },
);

/** Members that are odd, but leave a tool that can be offered. */
const oddity = fc.constantFrom<object>(
  { title: 7 },
  { description: null },
  { description: { text: 'x' } },
  { annotations: null },
  { annotations: [] },
  { annotations: { readOnlyHint: 'true', destructiveHint: null } },
  { outputSchema: null },
  { outputSchema: { type: 'string' } },
  { icons: 'x' },
  { _meta: null },
  { execution: null },
  { unknown: { a: [null] } },
  { inputSchema: null },
  { inputSchema: { properties: null, required: null } },
  { inputSchema: { ...schema, $schema: 'http://json-schema.org/draft-07/schema#', additionalProperties: false } },
  { inputSchema: { type: 'object', properties: { a: { type: 'integer', maximum: 2 ** 64, minimum: -(2 ** 63) } } } },
  { description: 'x'.repeat(5_000) },
);

/** Members with which a tool may have to be left out. */
const fault = fc.constantFrom<object>(
  { name: 7 },
  { name: null },
  { name: '' },
  { name: 'x'.repeat(300) },
  { inputSchema: 'object' },
  { inputSchema: { type: 'array' } },
  { inputSchema: { type: 'object', properties: 7 } },
  { inputSchema: { type: 'object', required: 'a' } },
  { inputSchema: { type: 'object', properties: { a: { pattern: '(' } } } },
  { inputSchema: { type: 'object', properties: { a: { $ref: 'https://x.example/s.json' } } } },
  { inputSchema: { type: 'object', properties: { a: { $ref: '#/nowhere' } } } },
  { inputSchema: { type: 'object', properties: { a: { type: 'text' } } } },
  { execution: { taskSupport: 'required' } },
  { description: '$LONG' },
  { description: '\ud800' },
);

const tool: fc.Arbitrary<RawTool> = fc.oneof(
  {
    weight: 4,
    arbitrary: name.map((named) => ({ text: json({ name: named, inputSchema: schema }), name: named, isGood: true })),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(name, oddity).map(([named, odd]) => ({
      text: json({ name: named, inputSchema: schema, ...odd }),
      name: named,
      isGood: true,
    })),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(name, fault).map(([named, odd]) => {
      const raw: { name: unknown } = { name: named, ...odd };
      const is = typeof raw.name === 'string' ? raw.name : undefined;
      return { text: json({ inputSchema: schema, ...raw }), name: is, isGood: false };
    }),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('null', '7', '"tool"', '[]', '{}', '[null]')
      .map((text) => ({ text, name: undefined, isGood: false })),
  },
);

const GREETINGS = [
  '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"odd","version":"1"}}',
  '{"protocolVersion":"2024-11-05","capabilities":{"tools":null},"serverInfo":null}',
  '{"protocolVersion":"2024-10-07","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}',
  '{"protocolVersion":null,"capabilities":[],"serverInfo":{"name":7,"version":null},"instructions":[]}',
  '{"capabilities":{"tools":{"listChanged":"yes"},"experimental":null},"_meta":null}',
  '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"},"instructions":"$LONG"}',
];

const NOISE = [
  'server started',
  '{}',
  '[]',
  'null',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
  '{"jsonrpc":"2.0","method":"notifications/unknown","params":null}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}',
  '{"jsonrpc":"2.0","id":4711,"result":{}}',
  '{"jsonrpc":"2.0","id":null,"method":"ping"}',
  '{"level":"info","msg":"listening"}',
  '{"level":"error","error":"the disk is full"}',
];

const CURSORS = [
  '',
  '',
  '',
  ',"nextCursor":null',
  ',"nextCursor":""',
  ',"nextCursor":"0"',
  ',"nextCursor":{}',
  'endless',
];

/** An odd server. */
export const oddServer: fc.Arbitrary<OddServer> = fc
  .record({
    greeting: fc.constantFrom(...GREETINGS).map(answer),
    tools: fc.array(tool, { minLength: 1, maxLength: 12 }),
    doubled: fc.boolean(),
    perPage: fc.integer({ min: 1, max: 12 }),
    cursors: fc.constantFrom(...CURSORS),
    before: fc.array(fc.constantFrom(...NOISE), { maxLength: 2 }),
    after: fc.array(fc.constantFrom(...NOISE), { maxLength: 2 }),
    calls: fc.array(call, { minLength: 13, maxLength: 13 }),
  })
  .map(({ tools: own, doubled, perPage, calls, ...rest }) => {
    const [first] = own;
    const tools = doubled && first !== undefined ? [...own, first] : own;
    const pages = Array.from({ length: Math.ceil(tools.length / perPage) }, (_, at) =>
      tools.slice(at * perPage, (at + 1) * perPage).map(({ text }) => text),
    );
    const named = tools.flatMap(({ name: is }, at) => (is === undefined ? [] : [[is, calls[at]] as const]));
    return { ...rest, tools, pages, calls: Object.fromEntries(named) as OddServer['calls'] };
  });
