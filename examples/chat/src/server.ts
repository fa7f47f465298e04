/** The server behind the page: turns its requests into commands of a session. It stores nothing; the world does. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type AgentWorld, type AnyAgent, isRepriseError, type Session } from 'reprise';
import { readChatInput, uiMessageResponse, uiMessages } from 'reprise/ui';
import * as z from 'zod';

/** The options of the server. */
export interface ChatServerOptions {
  readonly world: AgentWorld;
  readonly agent: AnyAgent;
  /** Files by path: the page, its script, its style. */
  readonly files: Readonly<Record<string, { readonly type: string; readonly body: string }>>;
  /** The port; any free one when 0. */
  readonly port: number;
}

/** A running server. */
export interface ChatServer {
  readonly url: string;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 1024 * 1024;

const chatId = z.string().regex(/^[\w.:-]{1,128}$/);
const decision = z.strictObject({ id: z.string(), approve: z.boolean(), reason: z.string().max(2_000).optional() });
const answer = z.strictObject({ id: z.string(), answer: z.unknown() });
const steer = z.strictObject({ id: chatId, text: z.string().min(1).max(100_000) });

/** Starts the server, reachable only from this machine. */
export async function startChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const server = createServer((request, response) => {
    respond(options, request)
      .catch((error: unknown) => refusal(error))
      .then((reply) => send(response, reply))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(options: ChatServerOptions, request: IncomingMessage): Promise<Response> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const file = request.method === 'GET' ? options.files[pathname] : undefined;
  if (file !== undefined) return new Response(file.body, { headers: { 'content-type': file.type } });
  const [, , name, what = ''] = pathname.match(/^\/(api)\/chat(?:\/([^/]+)(?:\/(\w+))?)?$/)
    ? pathname.split('/').slice(1)
    : [];
  if (!pathname.startsWith('/api/chat')) return new Response('There is nothing here.', { status: 404 });
  if (request.method === 'GET' && name !== undefined) return reading(options, chatId.parse(name), what);
  if (request.method !== 'POST') return new Response('Not like this.', { status: 405 });
  if (!isOwn(request)) return new Response('Only from its own page.', { status: 403 });
  const body = await bodyOf(request);
  return name === undefined ? said(options, body) : commanded(options, chatId.parse(name), what, body);
}

/** Rejects requests from other sites' pages, which could otherwise act in the user's name. */
function isOwn({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  return headers['content-type'] === 'application/json' && (origin === undefined || origin === `http://${host}`);
}

/** Handles a message: it starts a run, whose stream is the answer. A repeated message gets the same run. */
async function said({ world, agent }: ChatServerOptions, body: unknown): Promise<Response> {
  const { chat, id, input } = readChatInput(body);
  return uiMessageResponse(await world.session(chat, agent).send(input, { id }));
}

/** The messages so far, or the run in progress. */
async function reading({ world, agent }: ChatServerOptions, chat: string, what: string): Promise<Response> {
  const session = world.session(chat, agent);
  if (what === '') return Response.json(await uiMessages(session));
  const number = (await session.state())?.run?.number;
  const run = what === 'stream' && number !== undefined ? await session.run(number) : undefined;
  return run === undefined ? new Response(null, { status: 204 }) : uiMessageResponse(run);
}

async function commanded(
  { world, agent }: ChatServerOptions,
  chat: string,
  what: string,
  body: unknown,
): Promise<Response> {
  const session: Session = world.session(chat, agent);
  switch (what) {
    case 'steer': {
      const { id, text } = steer.parse(body);
      return Response.json(await session.steer(text, { id }));
    }
    case 'stop':
      return Response.json(await session.cancel({ reason: 'Stop was pressed.' }));
    case 'decide': {
      const { id, approve, reason = 'The guest said no.' } = decision.parse(body);
      return Response.json(await world.decide(id, approve ? { approve } : { deny: reason }, { as: 'human:guest' }));
    }
    case 'answer': {
      const given = answer.parse(body);
      return Response.json(await world.answer(given.id, given.answer, { as: 'human:guest' }));
    }
    default:
      return new Response('There is nothing here.', { status: 404 });
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new RangeError(`more than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** Reports to the page what was wrong with its request, but not what went wrong in the server. */
function refusal(error: unknown): Response {
  if (error instanceof RangeError) return new Response(error.message, { status: 413 });
  const isTheirs =
    error instanceof z.ZodError || error instanceof SyntaxError || isRepriseError(error, 'invalid_argument');
  if (isTheirs) return new Response('This is no request of the page.', { status: 400 });
  if (isRepriseError(error, 'request_conflict'))
    return new Response('This id is taken by another message.', { status: 409 });
  if (isRepriseError(error, 'request_rejected')) return new Response('Not now.', { status: 409 });
  console.error(error);
  return new Response('Something went wrong here.', { status: 500 });
}

async function send(response: ServerResponse, reply: Response): Promise<void> {
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  if (reply.body === null) response.end();
  // When a page disconnects, only watching ends; the run continues.
  else await pipeline(Readable.fromWeb(reply.body as never), response);
}
