/**
 * A model for the sample world that needs no key and no download: rules instead of a neural network, behind a
 * real HTTP server that speaks chat completions. The client side is the same as with a real provider.
 *
 * It is stateless and deterministic: the same request body gets the same answer, byte for byte, from any process.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BadRequest, readConversation } from './surveyor/conversation.js';
import { type Decision, decide } from './surveyor/decide.js';

/** The name of the model; requests for any other name are answered, too. */
export const MODEL_NAME = 'surveyor-1';

/** The size of the largest request that is read. */
const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** A running model server. */
export interface ModelServer {
  /** Its address, including `/v1`. */
  readonly baseUrl: string;
  /** Stops the server and closes open connections. */
  close(): Promise<void>;
}

/** Starts the model on a free port of this machine. */
export async function startModelServer(): Promise<ModelServer> {
  const server = createServer((request, response) => {
    answer(request).then(
      (reply) => send(response, reply),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  /** The pieces of the answer, if the request asks for a stream. */
  readonly pieces?: readonly object[];
}

async function answer(request: IncomingMessage): Promise<Reply> {
  const route = `${request.method} ${request.url?.split('?')[0]}`;
  if (route === 'GET /v1/models')
    return { status: 200, body: { object: 'list', data: [{ id: MODEL_NAME, object: 'model' }] } };
  if (route !== 'POST /v1/chat/completions') return refuse(404, 'not_found', `there is no ${route}`);
  const bytes = await readBody(request);
  return bytes === undefined ? refuse(413, 'too_large', 'the request is too large') : complete(bytes);
}

/** Answers a request body. Pure: the answer depends on these bytes alone. */
export function complete(body: Uint8Array): Reply {
  try {
    const request: unknown = JSON.parse(new TextDecoder().decode(body));
    const whole = completion(body, decide(readConversation(request)));
    return { status: 200, body: whole, ...(wantsStream(request) ? { pieces: piecesOf(whole) } : {}) };
  } catch (error) {
    if (error instanceof BadRequest) return refuse(400, 'invalid_request_error', error.message);
    if (error instanceof SyntaxError) return refuse(400, 'invalid_request_error', 'the body is not JSON');
    throw error;
  }
}

function refuse(status: number, code: string, message: string): Reply {
  return { status, body: { error: { message, type: 'invalid_request_error', code } } };
}

function completion(body: Uint8Array, decision: Decision) {
  const id = createHash('sha256').update(body).digest('hex');
  const message = messageOf(decision, id);
  const usage = { prompt_tokens: tokens(body.length), completion_tokens: tokens(JSON.stringify(message).length) };
  return {
    id: `chatcmpl-${id.slice(0, 24)}`,
    object: 'chat.completion',
    created: 0, // a clock here would make the raw answer differ from run to run
    model: MODEL_NAME,
    choices: [{ index: 0, message, finish_reason: 'calls' in decision ? 'tool_calls' : 'stop' }],
    usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens },
  };
}

function wantsStream(request: unknown): boolean {
  return typeof request === 'object' && request !== null && 'stream' in request && request.stream === true;
}

/** An answer as stream chunks: the role, the text or the calls in pieces, the finish reason, the usage. */
function piecesOf({ choices, usage, ...head }: ReturnType<typeof completion>): object[] {
  const { message, finish_reason } = choices[0] as (typeof choices)[number];
  const calls = 'tool_calls' in message ? message.tool_calls : [];
  const deltas: object[] = [
    { role: 'assistant' },
    ...slices(message.content ?? '').map((content) => ({ content })),
    ...calls.flatMap(({ function: { name, arguments: args }, ...call }, index) => [
      { tool_calls: [{ index, ...call, function: { name, arguments: '' } }] },
      ...slices(args).map((slice) => ({ tool_calls: [{ index, function: { arguments: slice } }] })),
    ]),
  ];
  const piece = (delta: object, finish: string | null = null) => ({
    ...head,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [...deltas.map((delta) => piece(delta)), piece({}, finish_reason), { ...piece({}), choices: [], usage }];
}

/** Splits a text into pieces of one size. */
function slices(text: string): string[] {
  return text.match(/[\s\S]{1,512}/gu) ?? [];
}

function messageOf(decision: Decision, id: string) {
  if ('text' in decision) return { role: 'assistant', content: decision.text };
  const tool_calls = decision.calls.map(({ tool, args }, i) => ({
    id: `call_${id.slice(0, 16)}_${i}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify(args) },
  }));
  return { role: 'assistant', content: null, tool_calls };
}

/** About four bytes make a token. */
function tokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > BODY_BYTES_MAX) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function send(response: ServerResponse, { status, body, pieces }: Reply): void {
  if (pieces !== undefined) {
    response.writeHead(status, { 'content-type': 'text/event-stream' });
    for (const piece of pieces) response.write(`data: ${JSON.stringify(piece)}\n\n`);
    response.end('data: [DONE]\n\n');
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
