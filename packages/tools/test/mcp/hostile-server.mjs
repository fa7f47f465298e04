/*
 * An MCP server that sends too much, in a way that its argument names: `hostile-server.mjs HOW [http]`. It speaks over
 * pipes, or over HTTP on a port of 127.0.0.1 that it prints.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

const [how = '', way = 'pipe'] = process.argv.slice(2);
const MB = 1024 * 1024;
const HUGE = 700 * MB;
const plain = { name: 'talk', inputSchema: { type: 'object' } };
let pages = 0;

function* repeated(head, piece, tail, bytes) {
  const block = piece.repeat(Math.ceil((256 * 1024) / piece.length));
  yield head;
  for (let sent = 0; sent < bytes; sent += block.length) yield block;
  yield tail;
}

/** The answer: a value, or pieces of its JSON text. */
function resultOf(method) {
  if (method === 'initialize') {
    const serverInfo = { name: 'hostile', version: '1' };
    return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
  }
  if (method === 'tools/list') return listed();
  if (method === 'tools/call') return called();
  return {};
}

function listed() {
  const many = (count) => Array.from({ length: count }, (_, n) => ({ ...plain, name: `tool-${n}` }));
  if (how === 'many tools') return { tools: many(100_000) };
  if (how === 'some thousand tools') return { tools: many(6_000) };
  if (how === 'endless pages') return { tools: many(10), nextCursor: `page ${pages++}` };
  if (how === 'pages in a circle') return { tools: many(10), nextCursor: `page ${pages++ % 2}` };
  if (how === 'large pages') {
    return repeated(
      `{"nextCursor":"page ${pages++}","tools":[{"name":"`,
      'x',
      '","inputSchema":{"type":"object"}}]}',
      8 * MB,
    );
  }
  if (how === 'a huge list') return repeated('{"tools":[{"name":"', 'x', '","inputSchema":{"type":"object"}}]}', HUGE);
  if (how === 'a task') return { tools: [plain, { ...plain, name: 'task', execution: { taskSupport: 'required' } }] };
  return { tools: [plain] };
}

function called() {
  const said = (head, piece, tail, bytes = HUGE) =>
    repeated(`{"content":[],"structuredContent":${head}`, piece, `${tail}}`, bytes);
  if (how === 'a huge text') return said('{"a":"', 'x', '"}');
  if (how === 'endless') return said('{"a":"', 'x', '"}', Number.POSITIVE_INFINITY);
  if (how === 'a huge list of little things') return said('{"a":[', '{},', '{}]}');
  if (how === 'little things within the bytes') return said('{"a":[', '{},', '{}]}', 12 * MB);
  if (how === 'deep') return said('{"a":', '[', '1', 2 * MB);
  if (how === 'escapes') return said('{"a":"', '\\\\\\"', '"}');
  if (how === 'a large image') {
    return repeated('{"content":[{"type":"image","mimeType":"image/png","data":"', 'iVBORw0KGgo', '"}]}', 8 * MB);
  }
  return { content: [{ type: 'text', text: 'hello' }] };
}

/** The pieces of an answer. */
function* answerTo({ id, method }) {
  const known = method === 'initialize' || method.startsWith('tools/') || method === 'ping';
  if (!known) return yield JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
  const result = resultOf(method);
  if (!(Symbol.iterator in result)) return yield JSON.stringify({ jsonrpc: '2.0', id, result });
  yield `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  yield* result;
  yield '}';
}

async function overPipes() {
  let rest = '';
  for await (const bytes of process.stdin) {
    const lines = (rest + bytes).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.id === undefined) continue;
      for (const piece of answerTo(message)) if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
      process.stdout.write('\n');
    }
  }
}

function overHttp() {
  createServer(async (request, response) => {
    try {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let body = '';
      for await (const bytes of request) body += bytes;
      const message = JSON.parse(body);
      if (message.id === undefined) return void response.writeHead(202).end();
      const isEvents = way === 'events';
      const type = isEvents ? 'text/event-stream' : 'application/json';
      const isPacked = way === 'gzip';
      response.writeHead(200, { 'content-type': type, ...(isPacked ? { 'content-encoding': 'gzip' } : {}) });
      function* pieces() {
        if (isEvents) yield 'data: ';
        yield* answerTo(message);
        if (isEvents) yield '\n\n';
      }
      await pipeline(Readable.from(pieces()), ...(isPacked ? [createGzip({ level: 1 })] : []), response);
    } catch {
      response.destroy(); // the client has stopped reading
    }
  }).listen(0, '127.0.0.1', function listening() {
    process.stdout.write(`${this.address().port}\n`);
  });
}

if (way === 'pipe') await overPipes();
else overHttp();
