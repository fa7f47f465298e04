/** What a server may answer to break its reader: every answer ends within its bounds, and the model reads why. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { http } from '../src/index.js';
import { callerOf } from './sandbox.js';

const MIB = 2 ** 20;
const BYTES_MAX = MIB;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

/** A server that answers each connection by itself, in bytes. */
async function answering(answer: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/**
 * Zeros of 256 MiB as gzip, made piece by piece: the server is in the process whose memory the test measures.
 */
async function bomb(): Promise<Buffer> {
  const zeros = Buffer.alloc(MIB);
  const pieces = Readable.from(Array.from({ length: 256 }, () => zeros));
  return Buffer.concat(await pieces.pipe(createGzip()).toArray());
}

const BOMB = await bomb();

/** Writes the same piece until the connection ends. */
function withoutEnd(socket: Socket, piece: string | Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
}

const head = (...lines: readonly string[]): string => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n');

const TEXT = 'content-type: text/plain';

/** The answer that stops nowhere: the caller stops it, after what came is read. */
const WAITS = /HTTP 200/;

const ANSWERS: readonly (readonly [what: string, text: RegExp, answer: (socket: Socket) => void])[] = [
  [
    'a body without end',
    /more than 1048576 bytes/,
    (socket) => withoutEnd(socket, `${head(TEXT)}${'x'.repeat(65_536)}`),
  ],
  [
    'chunks without end',
    /more than 1048576 bytes/,
    (socket) => {
      socket.write(head(TEXT, 'transfer-encoding: chunked'));
      withoutEnd(socket, `10000\r\n${'x'.repeat(65_536)}\r\n`);
    },
  ],
  [
    'headers without end',
    /failed: /,
    (socket) => withoutEnd(socket, `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(4_096)}\r\n`),
  ],
  ['one header line without end', /failed: /, (socket) => withoutEnd(socket, 'HTTP/1.1 200 OK')],
  ['a length that is too long', /failed: /, (socket) => socket.end(`${head(TEXT, 'content-length: 1000')}short`)],
  ['a length that is not a number', /failed: /, (socket) => socket.end(`${head(TEXT, 'content-length: ten')}short`)],
  ['no HTTP at all', /failed: /, (socket) => socket.end('\0\0\0 not HTTP \xff')],
  [
    'a body of 256 MiB in a quarter of a megabyte of gzip',
    /HTTP 200|more than 1048576 bytes/,
    (socket) => {
      socket.write(head(TEXT, 'content-encoding: gzip', `content-length: ${BOMB.length}`));
      socket.end(BOMB);
    },
  ],
  [
    'text that is not UTF-8',
    /HTTP 200/,
    (socket) => socket.end(Buffer.concat([Buffer.from(head(TEXT)), Buffer.alloc(999, 0xff)])),
  ],
  [
    'a redirect to itself',
    /redirects more than 5 times/,
    (socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
  ],
  ['one byte, and then nothing', WAITS, (socket) => void socket.write(`${head(TEXT)}x`)],
];

describe('a hostile server', () => {
  it.each(ANSWERS)('a server that answers with %s is read within its bounds', async (_, text, answer) => {
    const port = await answering(answer);
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const tools = http({ allow: [], allowPrivate: [`127.0.0.1:${port}`], resolve, bytesMax: BYTES_MAX });
    const before = process.memoryUsage().rss;
    const stop = new AbortController();
    const clock = setTimeout(() => stop.abort(), text === WAITS ? 2_000 : 120_000);
    const answered = await callerOf(tools)('http_get', { url: `http://127.0.0.1:${port}/` }, { signal: stop.signal });
    clearTimeout(clock);
    expect(answered.text).toMatch(text);
    expect(answered.text.length).toBeLessThan(2 * MIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(192 * MIB);
  });
});
