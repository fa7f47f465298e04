/** Links to parrots, on standard input and over HTTP. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LiveToolset } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { type McpServer, mcp } from '../../../src/mcp/index.js';
import { OWN as own, pageOf as page, parrot } from './parrot.mjs';

/** The tools that a parrot always has. */
export const OWN = own as readonly string[];
/** A page of a list as a text. */
export const pageOf = page as (tools: readonly string[], more?: string) => string;

/** The first words of a parrot. */
interface Words {
  readonly greeting?: string;
  readonly pages?: readonly string[];
}

/** What a parrot is told to send. */
export interface Said {
  readonly texts: readonly string[];
  /** How it is sent over HTTP. */
  readonly how?: 'json' | 'events' | 'plain' | 'untyped';
  readonly status?: number;
  /** What ends each line on standard output. */
  readonly end?: string;
  readonly after?: 'exit' | 'close';
}

type Context = Parameters<LiveToolset['list']>[0];

/** A link to a server, and what it reported. */
export class Linked {
  readonly #closing = new AbortController();
  readonly #live: LiveToolset;
  readonly reports: string[] = [];
  /** The warnings of the calls. */
  readonly warnings: string[] = [];

  constructor(
    server: McpServer,
    private readonly content: Context['content'],
  ) {
    this.#live = mcp('p', server, { approval: 'never', connectTimeout: '20s' }).open({ closing: this.#closing.signal });
  }

  get leftOut(): readonly { readonly tool: string; readonly why: string }[] {
    return this.#live.leftOut?.() ?? [];
  }

  /** The names of the tools that are offered. */
  async tools(): Promise<readonly string[]> {
    return (await this.#live.list(this.#context())).map(({ origin }) => origin?.tool ?? '');
  }

  /** Makes a call; returns its answer as a text. */
  async call(name: string, args: object, signal?: AbortSignal): Promise<string> {
    const entries = await this.#live.list(this.#context());
    const entry = entries.find(({ origin }) => origin?.tool === name);
    const tool = entry === undefined ? undefined : this.#live.tool(entry);
    if (tool === undefined) return `no tool ${name}`;
    const answer = (await (tool.run as (args: object, ctx: object) => unknown)(args, this.#context(signal))) as object;
    if ('parts' in answer) return `answer ${JSON.stringify(answer.parts)}`;
    return `${answer.constructor.name} ${JSON.stringify(answer)} ${'error' in answer ? String(answer.error) : ''}`;
  }

  say(said: Said, signal?: AbortSignal): Promise<string> {
    return this.call('say', said, signal);
  }

  close(): void {
    this.#closing.abort();
  }

  #context(signal: AbortSignal = new AbortController().signal) {
    return {
      session: { key: 's', labels: {} },
      content: this.content,
      signal,
      secret: async () => '',
      report: (error: unknown) => void this.reports.push(String(error)),
      warn: (what: string) => void this.warnings.push(what),
      progress: () => undefined,
      put: async ({ path: name, bytes }: { path: string; bytes: Uint8Array }) => ({ name, size: bytes.length }),
    } as unknown as Context;
  }
}

const program = path.join(path.dirname(fileURLToPath(import.meta.url)), 'parrot.mjs');

/** A link to a server at an address of this machine; `close` ends the server, too. */
export async function linkedTo(server: Server): Promise<Linked> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const { content } = await memory().open();
  const linked = new Linked({ url: `http://127.0.0.1:${port}/mcp` }, content);
  const close = linked.close.bind(linked);
  return Object.assign(linked, {
    close: () => {
      close();
      server.closeAllConnections();
      server.close();
    },
  });
}

/** A parrot as a program. */
export async function onStdio(words: Words = {}): Promise<Linked> {
  const { content } = await memory().open();
  return new Linked({ command: [process.execPath, program], env: { PARROT: JSON.stringify(words) } }, content);
}

/** A parrot as a server over HTTP; `close` ends it, too. */
export async function overHttp(words: Words = {}): Promise<Linked> {
  const answer = (parrot as (words: Words) => (message: object) => Said)(words);
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece.toString('utf8');
    });
    request.on('end', () => {
      if (request.method !== 'POST') response.writeHead(405).end();
      else send(response, answer(JSON.parse(body) as object));
    });
  });
  return linkedTo(server);
}

const TYPES = { json: 'application/json', events: 'text/event-stream', plain: 'text/plain', untyped: '' } as const;

function send(response: ServerResponse, { texts, how = 'json', status, after }: Said): void {
  const type = TYPES[how];
  if (type !== '') response.setHeader('content-type', type);
  response.writeHead(status ?? (texts.length === 0 && after === undefined ? 202 : 200));
  const isEvents = how === 'events';
  for (const text of texts) response.write(isEvents ? `data: ${text.replaceAll('\n', '\ndata: ')}\n\n` : text);
  if (after === 'exit') setTimeout(() => response.destroy(), 20);
  else response.end();
}
