/** Hostile servers over real HTTP. */
import { spawn } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createGzip } from 'node:zlib';
import { program } from '../../../scripts/lib/program.js';
import type { ByteFormat } from './pieces.js';

/** The heap of a reader in MiB: less than the size of many answers that it receives. */
export const HEAP_MIB = 256;

/** The most memory in MiB that a reader may use beyond its start: heap, and twice the bytes of an answer. */
export const MEMORY_MIB_MAX = 320;

/** The most CPU time of a reader in milliseconds; it does not depend on what else the machine does. */
export const CPU_MS_MAX = 15_000;

/** When a reader is ended, in milliseconds: it hangs, or the machine has no time for it. */
export const WALL_MS = 150_000;

/** The result of a reader. */
export interface Outcome {
  readonly code: string;
  readonly mib: number;
  /** CPU time. */
  readonly ms: number;
}

const MIB = 2 ** 20;

/** Writes until this many bytes are written or the reader has closed the connection. */
export async function flood(response: ServerResponse, bytes: number, piece: (i: number) => string): Promise<void> {
  let sent = 0;
  const gone = new Promise((resolve) => response.once('close', resolve));
  for (let i = 0; sent < bytes && !response.destroyed; i++) {
    const text = piece(i);
    sent += Buffer.byteLength(text);
    if (!response.write(text)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), gone]);
  }
  response.end();
}

/** The answer that a server sends. */
export interface Harm {
  readonly name: string;
  readonly format?: ByteFormat;
  readonly code: RegExp;
  readonly serve: (response: ServerResponse) => void;
}

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const asJson = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' });
const block = (text: string) => text.repeat(Math.ceil(65_536 / text.length));
const TOO_LARGE = /response_too_large/;
const data = (event: unknown) => `data: ${JSON.stringify(event)}\n\n`;

function streamed(name: string, code: RegExp, bytes: number, piece: (i: number) => string, format?: ByteFormat): Harm {
  const serve = (response: ServerResponse) => void flood(stream(response), bytes, piece);
  return { name, code, serve, ...(format === undefined ? {} : { format }) };
}

function whole(name: string, code: RegExp, first: string, repeated: string, bytes = 31 * MIB): Harm {
  const serve = (response: ServerResponse) =>
    void flood(asJson(response), bytes, (i) => (i === 0 ? first : block(repeated)));
  return { name, code, serve };
}

const delta = (index: number, more: object) => ({ type: 'content_block_delta', index, delta: more });

/** The hostile answers. */
export const HARMS: readonly Harm[] = [
  streamed('one line of 31 MiB', TOO_LARGE, 31 * MIB, (i) => (i === 0 ? 'data: ' : block('x'))),
  streamed('one line of small pieces', TOO_LARGE, 18 * MIB, () => 'x'.repeat(700)),
  streamed('one event of endless lines', TOO_LARGE, 31 * MIB, () => block('data: x\n')),
  streamed('lines of data without data', TOO_LARGE, 31 * MIB, () => block('data:\n')),
  streamed('endless comments', TOO_LARGE, 64 * MIB, () => block(': ping\n\n')),
  streamed('empty lines alone', TOO_LARGE, 64 * MIB, () => block('\n')),
  streamed('an event that is a list of empty maps', TOO_LARGE, 12 * MIB, (i) =>
    i === 0 ? 'data: [' : i < 180 ? block('{},') : '{}]\n\n',
  ),
  streamed('an event that nests', /malformed|network/, 12 * MIB, (i) => (i === 0 ? 'data: ' : block('['))),
  streamed('endless texts', TOO_LARGE, 64 * MIB, () => data({ choices: [{ delta: { content: 'x'.repeat(9_000) } }] })),
  streamed('a call for each piece', /malformed/, 31 * MIB, (i) =>
    data({ choices: [{ delta: { tool_calls: [{ index: i, id: `c${i}`, function: { name: 'f' } }] } }] }),
  ),
  streamed('a call whose arguments grow by one unit', TOO_LARGE, 40 * MIB, (i) =>
    data({
      choices: [
        {
          delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: i === 0 ? '{"a":"' : 'x' } }] },
        },
      ],
    }),
  ),
  streamed('a detail of its own in each piece', /too_large|malformed/, 40 * MIB, (i) =>
    data({ choices: [{ delta: { reasoning_details: [{ index: i, type: 't', text: 'x' }] } }] }),
  ),
  streamed('new marks with each thought', /too_large|malformed/, 40 * MIB, (i) =>
    data({ choices: [{ delta: { content: [{ type: 'thinking', thinking: 'x', [`k${i}`]: 1 }] } }] }),
  ),
  streamed(
    'an item for each event',
    /malformed|too_large/,
    40 * MIB,
    (i) => data({ type: 'response.output_item.added', output_index: i, item: { type: 'message' } }),
    'openai-responses',
  ),
  streamed(
    'items that are lists of empty maps',
    /too_large/,
    40 * MIB,
    (i) =>
      data({ type: 'response.output_item.done', output_index: i, item: { type: 'x', list: Array(5_000).fill({}) } }),
    'openai-responses',
  ),
  streamed(
    'thoughts of ten thousand numbers',
    /malformed/,
    40 * MIB,
    (i) => data({ type: 'response.reasoning_text.delta', output_index: i, delta: 'x' }),
    'openai-responses',
  ),
  streamed(
    'ten thousand blocks and their pieces',
    /too_large|malformed/,
    40 * MIB,
    (i) => {
      if (i === 0) return data({ type: 'message_start', message: {} });
      if (i < 9_000)
        return data({ type: 'content_block_start', index: i, content_block: { type: 'thinking', thinking: '' } });
      return data(delta(1 + (i % 8_000), { type: 'thinking_delta', thinking: 'x' }));
    },
    'anthropic-messages',
  ),
  streamed(
    'fields of its own in each end',
    /too_large|malformed/,
    40 * MIB,
    (i) =>
      data(
        i === 0
          ? { type: 'message_start', message: {} }
          : { type: 'message_delta', delta: { [`k${i}`]: 1 }, usage: { [`u${i}`]: 1 } },
      ),
    'anthropic-messages',
  ),
  whole('JSON that is a list of empty maps', TOO_LARGE, '{"choices":[', '{},'),
  whole('JSON that is a list of numbers', TOO_LARGE, '{"choices":[', '1,'),
  whole('JSON that nests', TOO_LARGE, '', '[', 30 * MIB),
  whole('JSON that nests half a million deep', /malformed/, '', '[', MIB / 2),
  whole('JSON that is a string', /malformed/, '{"choices":["', 'x'),
  whole('JSON that is a number', /malformed/, '', '9'),
  whole('JSON without an end', TOO_LARGE, '', ' ', 64 * MIB),
  {
    name: 'calls by the hundred thousand',
    code: /malformed|too_large/,
    serve: (response) =>
      void asJson(response).end(`{"choices":[{"message":{"tool_calls":[${'{},'.repeat(300_000)}{}]}}]}`),
  },
  {
    name: 'arguments that are a list of empty maps',
    code: /ok/,
    serve: (response) => {
      const args = JSON.stringify(`{"a":[${'{},'.repeat(3_000_000)}{}]}`);
      asJson(response).end(
        `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"f","arguments":${args}}}]}}]}`,
      );
    },
  },
  {
    name: 'an error without an end',
    code: /rate_limited/,
    serve: (response) =>
      void flood(response.writeHead(429, { 'content-type': 'application/json' }), 200 * MIB, () => block('x')),
  },
  {
    name: 'a megabyte of headers',
    code: /network/,
    serve: (response) =>
      void response.writeHead(200, { 'content-type': 'application/json', 'x-large': 'x'.repeat(MIB) }).end('{}'),
  },
  {
    name: 'little that unpacks to much',
    code: TOO_LARGE,
    serve: (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      const packed = createGzip();
      packed.pipe(response);
      const zeros = Buffer.alloc(MIB, ' ');
      for (let i = 0; i < 300; i++) packed.write(zeros);
      packed.end();
    },
  },
];

/** Serves one hostile answer to a reader in a separate process. */
export async function meet({ serve, format = 'openai-chat' }: Harm): Promise<Outcome> {
  const server = createServer((request, response) => {
    response.on('error', () => {});
    request
      .on('error', () => {})
      .resume()
      .on('end', () => serve(response));
  });
  return withServer(server, (baseUrl) => readIn(baseUrl, format));
}

async function withServer<T>(server: Server, use: (baseUrl: string) => Promise<T>): Promise<T> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  } finally {
    server.close();
    if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections();
  }
}

function readIn(baseUrl: string, format: ByteFormat): Promise<Outcome> {
  return inChild<Outcome>('hostile-child.ts', [baseUrl, format], WALL_MS);
}

/**
 * Runs a program of this folder in a separate process with bounded heap and time, and returns the JSON that it prints.
 */
export async function inChild<T>(name: string, given: readonly string[], wallMs: number): Promise<T> {
  const script = await program(new URL(name, import.meta.url));
  const args = [`--max-old-space-size=${HEAP_MIB}`, script, ...given];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: wallMs });
  const said: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => said.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => errors.push(bytes));
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      if (said.length > 0) resolve(JSON.parse(Buffer.concat(said).toString()) as T);
      else
        reject(new Error(`the reader ended with ${code ?? signal}: ${Buffer.concat(errors).toString().slice(0, 500)}`));
    });
  });
}
