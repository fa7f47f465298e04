/** A world with a part that serves notes, and a session; clients of each revision on it. */
import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { AgentWorld } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import {
  bearerTokens,
  revocations,
  type ServeHttpOptions,
  type Serving,
  serveHttp,
  serveStdio,
} from '../../src/index.js';
import { type NotesOptions, notes } from './notes.js';
import { memory, type OpenedWith, openWorld } from './world.js';

/** The revisions that the server speaks, and how a client is held to each. */
export const REVISIONS = [
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2025-11-25', { mode: 'legacy' }],
] as const;

export const SECRET = randomBytes(24).toString('hex');

/** Opens a world with notes. */
export async function openNotes(options: NotesOptions & OpenedWith = {}): Promise<AgentWorld> {
  return openWorld({ parts: [notes(options), revocations], secrets: async () => SECRET, store: memory(), ...options });
}

/** A world over HTTP, with tokens. */
export async function overHttp(
  options: NotesOptions & { readonly http?: Partial<ServeHttpOptions>; readonly world?: AgentWorld } = {},
) {
  const world = options.world ?? (await openNotes(options));
  const tokens = bearerTokens(world, { secret: 'mcp_tokens' });
  const errors: string[] = [];
  const serving = await serveHttp(world, {
    auth: tokens.auth,
    onError: ({ message }) => errors.push(message),
    ...options.http,
  });
  const url = serving.url ?? '';
  const tokenOf = (principal: Principal) => tokens.issue(principal, { for: '1h' });
  return {
    world,
    tokens,
    errors,
    serving,
    url,
    tokenOf,
    /** A client of a revision, as a principal. */
    async client(principal: Principal, negotiation: unknown): Promise<Client> {
      const token = await tokenOf(principal);
      return connected(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
        negotiation,
      );
    },
    async [Symbol.asyncDispose]() {
      await serving.close();
      await world.close();
    },
  };
}

/** A world on pipes, and a client at their other ends. */
export async function overPipes(world: AgentWorld, as: Principal, negotiation: unknown) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const errors: string[] = [];
  const serving: Serving = await serveStdio(world, {
    as,
    input,
    output,
    onError: ({ message }) => errors.push(message),
  });
  const client = await connected(pipes(input, output), negotiation);
  return { serving, client, errors, input };
}

/** A client's end of two pipes. */
export function pipes(input: PassThrough, output: PassThrough): Transport {
  let rest = '';
  const transport: Transport = {
    start: async () => {
      output.on('data', (bytes: Buffer) => {
        const lines = (rest + bytes.toString('utf8')).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
    },
    send: async (message) => void input.write(`${JSON.stringify(message)}\n`),
    close: async () => {
      input.end();
      transport.onclose?.();
    },
  };
  return transport;
}

async function connected(transport: Transport, versionNegotiation: unknown): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation } as never);
  await client.connect(transport);
  return client;
}

/** Sends a message as it is. */
export function post(
  url: string,
  token: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The message in an answer, whichever form it has. */
export async function messageOf(answer: Response): Promise<{
  readonly id?: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}> {
  const text = await answer.text();
  const [, data] = /^data: (\{.*)$/m.exec(text) ?? [];
  return JSON.parse(data ?? text);
}

export const begin = {
  jsonrpc: '2.0',
  id: 'begin',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

/** A call of the revision with sessions. */
export const callOf = (id: unknown, args: object, name = 'note_add') => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** A request of the revision without sessions, and the headers that it needs. */
export function bareRequest(id: unknown, method: string, params: object = {}): [object, Record<string, string>] {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return [
    { jsonrpc: '2.0', id, method, params: { ...params, _meta } },
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
  ];
}

/** A call of the revision without sessions, and the headers that it needs. */
export function bareCall(id: unknown, args: object, name = 'note_add'): [object, Record<string, string>] {
  const [body, headers] = bareRequest(id, 'tools/call', { name, arguments: args });
  return [body, { ...headers, 'mcp-name': name }];
}

/** The bytes of an answer, as they stand on the wire. */
export async function raw(
  { url, tokenOf }: { readonly url: string; tokenOf(principal: Principal): Promise<string> },
  revision: string,
  method: string,
): Promise<string> {
  const token = await tokenOf('human:ann');
  if (revision === '2026-07-28') return (await post(url, token, ...bareRequest(1, method))).text();
  const opened = await post(url, token, begin);
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  return (await post(url, token, { jsonrpc: '2.0', id: 1, method }, session)).text();
}
