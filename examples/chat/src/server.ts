/** The server behind the page: the page's files, and its requests, for this machine alone. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AgentWorld, AnyAgent } from 'reprise';
import {
  HttpRefusal,
  hostsOf,
  type PageFile,
  requireHost,
  requireJson,
  requireOwnPage,
  SECURITY_HEADERS,
  sentFile,
} from 'reprise/server';
import { readJson } from './body.js';
import { ChatRequests } from './chat-requests.js';
import { refusalOf } from './refusal.js';

/** The options of the server. */
export interface ChatServerOptions {
  readonly world: AgentWorld;
  readonly agent: AnyAgent;
  /** Files by path: the page, its script, its style. */
  readonly files: Readonly<Record<string, PageFile>>;
  /** The port; any free one when 0. */
  readonly port: number;
  /** Names under which the page is reached besides this machine's own, such as that of a proxy in front. */
  readonly hosts?: readonly string[];
}

/** A running server. */
export interface ChatServer {
  readonly url: string;
  /** Stops at once; open streams break, and their pages reconnect to the next server. */
  close(): Promise<void>;
}

/** Starts the server, reachable only from this machine. */
export async function startChatServer(options: ChatServerOptions): Promise<ChatServer> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const hosts = hostsOf(port, options.hosts);
  const requests = new ChatRequests(options.world, options.agent);
  server.on('request', (request, response) => {
    respond(request, hosts, options.files, requests)
      .catch((error: unknown) => refused(refusalOf(error)))
      .then((reply) => send(response, reply))
      .catch(() => response.destroy());
  });
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(
  request: IncomingMessage,
  hosts: ReadonlySet<string>,
  files: ChatServerOptions['files'],
  requests: ChatRequests,
): Promise<Response> {
  requireHost(request, hosts);
  const method = request.method ?? 'GET';
  const { pathname, searchParams } = urlOf(request);
  const file = Object.hasOwn(files, pathname) ? files[pathname] : undefined;
  if (file !== undefined && (method === 'GET' || method === 'HEAD')) return sentFile(file, request.headers);
  const place = pathname.match(/^\/api\/chat(?:\/([^/]+)(?:\/([^/]+))?)?$/);
  if (place === null) throw new HttpRefusal(404, `There is nothing at ${pathname}.`);
  const [, chat, what = ''] = place;
  requireOwnPage(request);
  if (method === 'POST') requireJson(request);
  const headers = new Headers();
  const after = request.headers['last-event-id'] ?? searchParams.get('after');
  if (typeof after === 'string') {
    // Only such a value can be a header, and only such a one was ever given out.
    if (!/^[ -~]*$/.test(after)) throw new HttpRefusal(400, 'Invalid id of a last event.');
    headers.set('last-event-id', after);
  }
  if (request.headers.accept !== undefined) headers.set('accept', request.headers.accept);
  return requests.answer({ method, chat, what, headers, body: () => readJson(request) });
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  // A path may begin with two slashes, which is no name of a server here.
  if (URL.canParse(`http://localhost${url}`)) return new URL(`http://localhost${url}`);
  throw new HttpRefusal(400, 'Invalid address.');
}

function refused({ status, message, headers }: HttpRefusal): Response {
  return new Response(message, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } });
}

async function send(response: ServerResponse, reply: Response): Promise<void> {
  response.writeHead(reply.status, { ...SECURITY_HEADERS, ...Object.fromEntries(reply.headers) });
  // A stream may have nothing to say for long: the page still learns that it is connected.
  response.flushHeaders();
  if (reply.body === null) response.end();
  // When a page disconnects, only watching ends; the run continues.
  else await pipeline(Readable.fromWeb(reply.body as never), response);
}
