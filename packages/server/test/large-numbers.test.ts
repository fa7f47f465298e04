/** Numbers in the arguments of clients that no JavaScript number holds. */
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { type McpServerOptions, type McpToolCall, mcpServer } from '../src/index.js';
import { parseMessages } from '../src/protocol/large-arguments.js';
import { begin, callOf, overHttp, post, REVISIONS } from './support/stage.js';

const ID = '2512292042121000001';
const SEED = 38_671;

const tool = (name: string, id: object) => ({
  name,
  description: '',
  inputSchema: { type: 'object', properties: { id }, required: ['id'] } as never,
});
const tools = [
  tool('text', { type: 'string' }),
  tool('number', { type: 'integer' }),
  tool('both', { type: ['string', 'integer'] }),
  tool('anything', {}),
];

/** A client whose text `#digits` goes out as the number with these digits. */
async function client(versionNegotiation: unknown, options: Partial<McpServerOptions> = {}) {
  const calls: McpToolCall[] = [];
  const core = mcpServer({
    name: 'test',
    version: '1',
    tools,
    call: async (call) => {
      calls.push(call);
      return { texts: ['done'], isError: false };
    },
    ...options,
  });
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => {
      const text = JSON.stringify(message).replace(/"#([^"]*)"/g, '$1');
      connection.take(new TextEncoder().encode(`${text}\n`));
    },
    close: async () => connection.close(),
  };
  const connection = core.open({
    write: (line) => transport.onmessage?.(JSON.parse(line) as JSONRPCMessage),
    ended: () => undefined,
  });
  const made = new Client({ name: 'c', version: '1' }, { versionNegotiation } as never);
  await made.connect(transport);
  const call = async (name: string, id: unknown, more: object = {}) =>
    made.callTool({ name, arguments: { id }, ...more }).then(
      () => 'done',
      (error: Error) => error.message,
    );
  return { call, calls };
}

describe.each(REVISIONS)('a client of the revision %s', (_, negotiation) => {
  it.each(['schema', 'call'] as const)(
    'a large number reaches a call as its digits where the schema takes only text, and is refused elsewhere, where arguments are checked by the %s [SRV-23]',
    async (checks) => {
      const { call, calls } = await client(negotiation, { checks });
      for (const digits of [ID, `-${ID}`, '1e400', '9007199254740992']) {
        expect(await call('text', `#${digits}`)).toBe('done');
        for (const name of ['number', 'both', 'anything']) {
          expect(await call(name, `#${digits}`)).toContain(`the number ${digits} is beyond`);
        }
      }
      expect(calls.map(({ name, args }) => [name, args.id])).toEqual(
        [ID, `-${ID}`, '1e400', '9007199254740992'].map((digits) => ['text', digits]),
      );
    },
  );

  it('numbers that are exact, and texts of digits, are passed on as they are [SRV-23]', async () => {
    const { call, calls } = await client(negotiation);
    const numbers = ['9007199254740991', '1E+2', '0.1', '-9007199254740991'];
    for (const digits of numbers) expect(await call('anything', `#${digits}`)).toBe('done');
    expect(await call('both', ID)).toBe('done');
    expect(calls.map(({ args }) => args.id)).toEqual([...numbers.map(Number), ID]);
  });

  it('a client cannot say itself which of its texts were numbers [SRV-23]', async () => {
    const { call } = await client(negotiation);
    const large = { count: 1, large: [{ path: ['id', 'x', 0], digits: '7' }] };
    expect(await call('anything', 'x', { _meta: { 'reprise/largeNumbers': large } })).toBe('done');
  });
});

it('a large number in a batch over HTTP is judged in its own message [SRV-23]', async () => {
  await using stage = await overHttp();
  const token = await stage.tokenOf('human:ann');
  const opened = await post(stage.url, token, begin);
  await opened.text();
  const session = opened.headers.get('mcp-session-id') ?? '';
  const odd = callOf(2, { notebook: 'ann', text: 'x', more: '#' });
  const text = JSON.stringify([callOf(1, { notebook: 'ann', text: 'x' }), odd]).replace('"#"', ID);
  const response = await post(stage.url, token, text, {
    'mcp-session-id': session,
    'mcp-protocol-version': '2025-03-26',
  });
  const said = await response.text();
  expect(said).toMatch(/"result":.*"id":1\}/);
  expect(said).toContain(`more: the number ${ID} is beyond`);
});

it(`marks of a client never stay in a message, and those of the parser name digits that stood there (seed ${SEED}) [SRV-23]`, () => {
  const number = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }).map(String);
  const args = fc.dictionary(fc.string({ maxLength: 3 }), fc.oneof(number, fc.constant('"x"'), fc.constant('[1e999]')));
  fc.assert(
    fc.property(args, fc.boolean(), fc.boolean(), (given, isForged, isBatch) => {
      const body = Object.entries(given).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
      const meta = isForged ? ',"_meta":{"reprise\\u002flargeNumbers":{"count":9,"large":[]}}' : '';
      const message = `{"id":1,"method":"tools/call","params":{"name":"x","arguments":{${body.join(',')}}${meta}}}`;
      const read = parseMessages(isBatch ? `[0,${message}]` : message) as never;
      const { params } = (isBatch ? read[1] : read) as { params: { _meta?: Record<string, never> } };
      const mark = params._meta?.['reprise/largeNumbers'] as { count: number; large: { digits: string }[] } | undefined;
      const large = body.filter((one) => /1e999/.test(one) || /:-?\d{17,}$/.test(one) || isBeyond(one));
      expect(mark?.count ?? 0).toBe(large.length);
      for (const { digits } of mark?.large ?? []) expect(message).toContain(digits);
    }),
    { seed: SEED, numRuns: 200 / stepOf(4) },
  );
});

function isBeyond(member: string): boolean {
  const digits = /:(-?\d+)$/.exec(member)?.[1];
  return digits !== undefined && !Number.isSafeInteger(Number(digits));
}
