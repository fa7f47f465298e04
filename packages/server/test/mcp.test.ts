/** The message core of an MCP server: clients of each revision, odd and hostile lines, and the bounds. */
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import {
  type McpAnswer,
  McpFailure,
  type McpServerOptions,
  type McpTool,
  type McpToolCall,
  mcpServer,
} from '../src/index.js';
import {
  MCP_GARBAGE_MAX,
  MCP_LINE_BYTES_MAX,
  MCP_REQUESTS_MAX,
  MCP_SKIPPED_BYTES_MAX,
  MCP_UNREAD_BYTES_MAX,
} from '../src/protocol/limits.js';
import { callKey } from '../src/protocol/mcp-sessions.js';

const encode = (text: string) => new TextEncoder().encode(text);

const echo: McpTool = {
  name: 'echo',
  description: 'Repeats a text.',
  inputSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { text: { type: 'string', $comment: 'said again' } },
    required: ['text'],
    additionalProperties: false,
  },
};

const counted: McpTool = {
  ...echo,
  name: 'counted',
  outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
};

/** A server, and its client's end of the lines. */
function stage(options: Partial<McpServerOptions> = {}, more: { backlog?: () => number } = {}) {
  const lines: Record<string, never>[] = [];
  const errors: string[] = [];
  const calls: McpToolCall[] = [];
  let ended: { why: string | undefined } | undefined;
  let heard = (_line: string): void => undefined;
  const core = mcpServer({
    name: 'test',
    version: '1.2.3',
    tools: [echo, counted],
    call: async (call): Promise<McpAnswer> => {
      calls.push(call);
      return { texts: [`said ${call.args.text}`], structured: { count: calls.length }, isError: false };
    },
    onError: ({ message }) => errors.push(message),
    ...options,
  });
  const connection = core.open({
    write: (line) => {
      lines.push(JSON.parse(line));
      heard(line);
    },
    ended: (why) => {
      ended = { why };
    },
    ...more,
  });
  const send = (...messages: unknown[]) => {
    for (const one of messages) connection.take(encode(`${typeof one === 'string' ? one : JSON.stringify(one)}\n`));
  };
  const answers = async (count: number) => {
    await expect.poll(() => lines.length).toBeGreaterThanOrEqual(count);
    return lines as unknown as {
      id: unknown;
      result?: Record<string, unknown>;
      error?: { code: number; message: string };
    }[];
  };
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => connection.take(encode(`${JSON.stringify(message)}\n`)),
    close: async () => {
      await connection.close();
      transport.onclose?.();
    },
  };
  const joined = () => {
    heard = (line) => transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    return transport;
  };
  return { connection, lines, errors, calls, send, answers, joined, ended: () => ended };
}

const request = (id: unknown, method: string, params?: object) => ({ jsonrpc: '2.0', id, method, params });
const call = (id: unknown, text: unknown, more: object = {}) =>
  request(id, 'tools/call', { name: 'echo', arguments: { text }, ...more });
const begin = request('begin', 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'lines', version: '1' },
});

describe('an MCP server for clients that we did not write', () => {
  it.each([
    ['2026-07-28', { mode: { pin: '2026-07-28' } }],
    ['2025-11-25', { mode: 'legacy' }],
    ['the best of both', { mode: 'auto' }],
  ] as const)(
    'a client of the revision %s lists the tools as they were given, and calls one',
    async (_, versionNegotiation) => {
      const { joined, calls, lines } = stage({ instructions: 'Use echo.' });
      const client = new Client({ name: 'c', version: '1' }, { versionNegotiation } as never);
      await client.connect(joined());
      expect(client.getServerVersion()).toMatchObject({ name: 'test', version: '1.2.3' });
      expect(client.getInstructions()).toBe('Use echo.');
      expect((await client.listTools()).tools).toEqual([echo, counted]);
      const said = lines.map(({ result }) => (result as { tools?: McpTool[] } | undefined)?.tools).find(Boolean) ?? [];
      expect(JSON.stringify(said.map(({ inputSchema }) => inputSchema))).toBe(
        JSON.stringify([echo, counted].map(({ inputSchema }) => inputSchema)),
      );
      const { content, structuredContent } = await client.callTool({ name: 'counted', arguments: { text: 'hello' } });
      expect(content).toEqual([{ type: 'text', text: 'said hello' }]);
      expect(structuredContent).toEqual({ count: 1 });
      expect(calls).toHaveLength(1);
      await client.close();
    },
  );

  it('a changed list of tools reaches the client', async () => {
    let tools = [echo];
    const { joined, connection } = stage({ tools: () => tools });
    const client = new Client({ name: 'c', version: '1' });
    let told = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void told++);
    await client.connect(joined());
    tools = [echo, counted];
    connection.toolsChanged();
    await expect.poll(() => told).toBe(1);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'counted']);
    await client.close();
  });

  it('progress is sent to a client that asked for it, and a cancelled call is told so', async () => {
    let aborted = false;
    const { joined } = stage({
      call: async ({ progress, signal, args }) => {
        progress?.(1, 'begun');
        if (args.text === 'wait') {
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          aborted = true;
        }
        return { texts: [progress === undefined ? 'silent' : 'told'], isError: false };
      },
    });
    const client = new Client({ name: 'c', version: '1' });
    await client.connect(joined());
    const heard: unknown[] = [];
    const params = { name: 'echo', arguments: { text: 'go' } };
    const told = await client.callTool(params, { onprogress: (note) => void heard.push(note) });
    expect(told.content).toEqual([{ type: 'text', text: 'told' }]);
    expect(heard).toEqual([{ progress: 1, message: 'begun' }]);
    expect((await client.callTool(params)).content).toEqual([{ type: 'text', text: 'silent' }]);
    const stop = new AbortController();
    const waiting = client.callTool({ ...params, arguments: { text: 'wait' } }, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await expect(waiting).rejects.toThrow();
    await expect.poll(() => aborted).toBe(true);
    await client.close();
  });

  it('calls that are under way are aborted when the connection closes', async () => {
    let aborted = false;
    const { send, connection, ended, calls } = stage({
      call: async (one) => {
        calls.push(one);
        await new Promise((resolve) => one.signal.addEventListener('abort', resolve, { once: true }));
        aborted = true;
        return { isError: false };
      },
    });
    send(begin, call(1, 'wait'));
    await expect.poll(() => calls.length).toBe(1);
    await connection.close();
    await expect.poll(() => aborted).toBe(true);
    expect(ended()).toEqual({ why: undefined });
  });
});

describe('calls of an MCP server', () => {
  it('arguments that do not fit the schema are an error of the protocol and reach no call', async () => {
    const { send, answers, calls } = stage();
    send(begin, call(1, 7), call(2, 'x', { name: 'nothing' }));
    const found = await answers(3);
    expect(found.slice(1).map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32_602],
      [2, -32_602],
    ]);
    expect(found[1]?.error?.message).toContain('text');
    expect(calls).toEqual([]);
  });

  it('arguments reach a call unchecked when the call checks them', async () => {
    const { send, answers } = stage({ checks: 'call' });
    send(begin, call(1, 7));
    expect((await answers(2))[1]?.result).toMatchObject({ content: [{ text: 'said 7' }] });
  });

  it('a failure inside the server is told to the app, and the client learns only that the call failed', async () => {
    const { send, answers, errors } = stage({
      call: async () => {
        throw new Error('/home/ann/secret');
      },
    });
    send(begin, call(1, 'x'));
    expect((await answers(2))[1]?.error).toEqual({ code: -32_603, message: 'The call failed in the server.' });
    expect(errors).toContain('/home/ann/secret');
  });

  it('an error that is meant for the client is told to it as it is', async () => {
    const fail = async (): Promise<never> => {
      throw new McpFailure(-32_001, 'forbidden');
    };
    const { send, answers, errors } = stage({ tools: fail });
    send(begin, request(1, 'tools/list'), call(2, 'x'));
    const all = await answers(3);
    expect([1, 2].map((wanted) => all.find(({ id }) => id === wanted)?.error)).toEqual(
      Array(2).fill({ code: -32_001, message: 'forbidden' }),
    );
    expect(errors).toEqual([]);
  });

  it('a request that is repeated while it is answered is answered once, and later it is the same call', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const keys: string[] = [];
    const { send, answers, lines } = stage({
      call: async ({ key }) => {
        keys.push(key);
        await gate;
        return { texts: ['done'], isError: false };
      },
    });
    send(begin);
    await answers(1);
    send(...Array.from({ length: 1_000 }, () => call(9, 'x')));
    release();
    await answers(2);
    send(call(9, 'x'), call('a b', 'x'));
    await answers(4);
    expect(lines).toHaveLength(4);
    expect(keys).toEqual([callKey(9), callKey(9), callKey('a b')]);
    expect(callKey('9')).not.toBe(callKey(9));
    for (const id of ['a', 'ü'.repeat(500), '', '9', 9, -1.5]) expect(callKey(id)).toMatch(/^[A-Za-z0-9._-]{1,70}$/);
  });

  it('a denial is a result, and the connection stays open', async () => {
    const { send, answers } = stage({ call: async () => ({ structured: { error: 'denied' }, isError: true }) });
    send(begin, call(1, 'x'), request(2, 'ping'));
    const all = await answers(3);
    const [denied, pong] = [1, 2].map((wanted) => all.find(({ id }) => id === wanted));
    expect(denied?.result).toEqual({
      content: [{ type: 'text', text: '{"error":"denied"}' }],
      structuredContent: { error: 'denied' },
      isError: true,
    });
    expect(pong?.result).toEqual({});
  });
});

describe('odd and hostile lines', () => {
  it.each<[string, unknown, unknown, number]>([
    ['no JSON', '{"jsonrpc"', null, -32_700],
    ['a list', [call(1, 'x')], null, -32_600],
    ['a number', 7, null, -32_600],
    ['null', 'null', null, -32_600],
    ['another version', { jsonrpc: '1.0', id: 4, method: 'ping' }, 4, -32_600],
    ['a method that is no text', { jsonrpc: '2.0', id: 5, method: 7 }, 5, -32_600],
    ['an unknown method', request(6, 'no/such'), 6, -32_601],
    ['a call without a name', request(7, 'tools/call', {}), 7, -32_602],
    ['a call whose arguments are a list', request(8, 'tools/call', { name: 'echo', arguments: [] }), 8, -32_602],
  ])('a line with %s is answered with its error, and the next call is answered', async (_, line, id, code) => {
    const { send, answers, ended } = stage();
    send(begin, line, '', call(9, 'x'));
    const all = await answers(3);
    expect(all.find((one) => one.id === id)?.error?.code).toBe(code);
    expect(all.find((one) => one.id === 9)?.result).toMatchObject({ content: [{ text: 'said x' }] });
    expect(ended()).toBeUndefined();
  });

  it('a line that comes in pieces of one byte is one message', async () => {
    const { connection, answers } = stage();
    for (const byte of encode(`${JSON.stringify(begin)}\r\n${JSON.stringify(call(1, 'ü€😀'))}\n`)) {
      connection.take(Uint8Array.of(byte));
    }
    expect((await answers(2))[1]?.result).toMatchObject({ content: [{ text: 'said ü€😀' }] });
  });

  it.each([
    ['first', (text: string) => `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"x":"${text}"}}`],
    ['last', (text: string) => `{"method":"tools/call","params":{"x":"${text}"},"jsonrpc":"2.0","id":3}`],
  ])('a message beyond its bound is skipped and answered under its id, which stands %s', async (_, line) => {
    const { send, answers, calls } = stage();
    const rest = line('').length;
    send(begin, line('x'.repeat(MCP_LINE_BYTES_MAX - rest + 1)), call(4, 'next'));
    const all = await answers(3);
    expect(all.find(({ id }) => id === 3)?.error?.code).toBe(-32_600);
    expect(all.map(({ id }) => id)).toContain(4);
    expect(calls).toHaveLength(1);
  });

  it('a message at its bound is read', async () => {
    const { send, answers } = stage({ checks: 'call' });
    const rest = JSON.stringify(call(1, '')).length;
    send(begin, call(1, 'x'.repeat(MCP_LINE_BYTES_MAX - rest)));
    expect((await answers(2))[1]).toMatchObject({ id: 1, result: {} });
  });

  it('a client that sends without a line break is disconnected, and costs no memory before', () => {
    const { connection, ended } = stage();
    const piece = encode('x'.repeat(65_536));
    const before = process.memoryUsage().rss;
    let sent = 0;
    while (ended() === undefined && sent < 1_000_000_000) {
      connection.take(piece);
      sent += piece.length;
    }
    expect(sent).toBeLessThan(MCP_SKIPPED_BYTES_MAX + MCP_LINE_BYTES_MAX);
    expect(ended()).toEqual({ why: 'a message without an end' });
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('a client that sends garbage is disconnected once, after the bound', () => {
    const { send, lines, ended } = stage();
    send(...Array.from({ length: 1_000 }, () => 'GET / HTTP/1.1'));
    expect(lines).toHaveLength(MCP_GARBAGE_MAX);
    expect(ended()?.why).toContain('no messages');
  });

  it('requests beyond the bound are refused, and the others are answered', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { send, answers } = stage({
      call: async () => {
        await gate;
        return { texts: ['done'], isError: false };
      },
    });
    send(begin);
    await answers(1);
    send(...Array.from({ length: MCP_REQUESTS_MAX + 5 }, (_, i) => call(i, 'x')));
    expect((await answers(6)).slice(1).map(({ error }) => error?.code)).toEqual(Array(5).fill(-32_000));
    release();
    expect((await answers(6 + MCP_REQUESTS_MAX)).filter(({ result }) => result !== undefined)).toHaveLength(
      MCP_REQUESTS_MAX + 1,
    );
  });

  it('a client that does not read its answers is disconnected', () => {
    const { send, ended } = stage({}, { backlog: () => MCP_UNREAD_BYTES_MAX + 1 });
    send('garbage');
    expect(ended()?.why).toContain('does not read');
  });
});
