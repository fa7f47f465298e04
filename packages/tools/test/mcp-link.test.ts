/** All calls of a world to a server share one link: a failure of one call does not affect another. */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import type { LiveToolset } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { mcp } from '../src/mcp/index.js';

type Fetch = typeof fetch;
type Context = Parameters<LiveToolset['list']>[0];

/** A server that greets, and the requests that it received. */
function greeter() {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'web', version: '1' });
    const described = { description: 'Greets.', inputSchema: z.object({ name: z.string() }) };
    server.registerTool('greet', described, ({ name }) => ({ content: [{ type: 'text', text: `Hello, ${name}.` }] }));
    return server;
  });
  return (...[url, init]: Parameters<Fetch>) => handler.fetch(new Request(url, init));
}

it('a call that fails with its connection does not close the newer connection of another call', async () => {
  const ask = greeter();
  const gone = new Set(['Ann', 'Bob']);
  // Both sessions are over. Ann's call learns it and ends the connection; Bob's call, which waits for its answer, sees
  // that.
  const fetch: Fetch = async (url, init) => {
    const name = /"arguments":\{"name":"(\w+)/.exec(String(init?.body))?.[1] ?? '';
    if (!gone.delete(name)) return ask(url, init);
    await new Promise((resolve) => setTimeout(resolve, name === 'Ann' ? 5 : 100));
    return new Response('gone', { status: 404 });
  };
  const closing = new AbortController();
  const live = await mcp('web', { url: 'http://web.example/mcp', fetch }).open({ closing: closing.signal });
  const { content } = await memory().open();
  const { signal } = new AbortController();
  const context: Context = { session: { key: 's', labels: {} }, content, signal, secret: async () => '' };
  const [entry] = await live.list(context);
  const tool = entry === undefined ? undefined : live.tool(entry);
  const call = (name: string): unknown => tool?.run({ name } as never, context as never);
  const [first] = await Promise.all([call('Ann'), call('Bob')]);
  expect(first).toMatchObject({ parts: ['Hello, Ann.'] });
  closing.abort();
});

/** A program that answers its calls, 12 MiB each, only while a list is requested that it has announced. */
const TALKER = `
const calls = [];
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tools = [{ name: 'talk', inputSchema: { type: 'object' } }];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    say({ id, result: { protocolVersion: '2025-06-18', capabilities, serverInfo: { name: 't', version: '1' } } });
  } else if (method === 'tools/call') {
    if (calls.push(id) === 3) say({ method: 'notifications/tools/list_changed' });
  } else if (method === 'tools/list') {
    const text = 'x'.repeat(12 * 1024 * 1024);
    for (const call of calls) say({ id: call, result: { content: [{ type: 'text', text }] } });
    say({ id, result: { tools } });
  } else if (id !== undefined) {
    if (method === 'ping') say({ id, result: {} });
    else say({ id, error: { code: -32601, message: 'unknown' } });
  }
});
`;

it('the answers of calls that arrive beside a list of tools do not count toward the bound of the list', async () => {
  const closing = new AbortController();
  const live = await mcp('web', { command: [process.execPath, '-e', TALKER] }).open({ closing: closing.signal });
  const { content } = await memory().open();
  const { signal } = new AbortController();
  const context: Context = { session: { key: 's', labels: {} }, content, signal, secret: async () => '' };
  const [entry] = await live.list(context);
  const tool = entry === undefined ? undefined : live.tool(entry);
  const calls = ['a', 'b', 'c'].map((name): unknown => tool?.run({ name } as never, context as never));
  let [listed] = await live.list(context);
  while (listed === entry) [listed] = await live.list(context); // until the change has been announced
  for (const answer of await Promise.all(calls)) expect(answer).not.toHaveProperty('error');
  for (const answer of await Promise.all(calls)) expect(answer).toHaveProperty('parts');
  closing.abort();
});
