/*
 * An MCP server that sends what it is told, word for word: its greeting, its lists and its answers are texts, in which
 * $ID stands for the id of the request. `parrot.mjs` alone serves standard input; PARROT holds its first words.
 */
import { closeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const GREETING =
  '{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"parrot","version":"1"}}}';

/** The tools that a parrot always has; the texts of its pages begin with them. */
export const OWN = [
  '{"name":"say","inputSchema":{"type":"object"}}',
  '{"name":"offer","inputSchema":{"type":"object"}}',
  '{"name":"echo","inputSchema":{"type":"object"}}',
];

/** A page of a list as a text. */
export const pageOf = (tools, more = '') => `{"jsonrpc":"2.0","id":$ID,"result":{"tools":[${tools.join(',')}]${more}}}`;

/** A parrot: takes a message, returns the texts to send, and how. */
export function parrot({ greeting = GREETING, pages = [pageOf(OWN)] } = {}) {
  let offered = pages;
  return ({ id, method, params = {} }) => {
    const withId = (text) => text.replaceAll('$ID', JSON.stringify(id));
    const result = (value) => JSON.stringify({ jsonrpc: '2.0', id, result: value });
    const text = (words) => result({ content: [{ type: 'text', text: words }] });
    if (id === undefined) return { texts: [] };
    if (method === 'initialize') return { texts: [withId(greeting)] };
    if (method === 'ping') return { texts: [result({})] };
    if (method === 'tools/list') return { texts: [withId(offered[Number(params.cursor ?? 0)] ?? offered[0])] };
    if (method !== 'tools/call') {
      return { texts: [JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } })] };
    }
    const { name, arguments: args = {} } = params;
    if (name === 'say') return { ...args, texts: args.texts.map(withId) };
    if (name !== 'offer') return { texts: [text(args.words ?? `called ${name}`)] };
    offered = args.pages;
    return { texts: ['{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', text('offered')], how: 'events' };
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const answer = parrot(JSON.parse(process.env.PARROT ?? '{}'));
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { texts, after, end = '\n' } = answer(JSON.parse(line));
    process.stdout.write(texts.map((text) => text + end).join(''), () => {
      if (after === 'exit') process.exit(3);
      if (after === 'close') closeSync(1);
    });
    if (after === 'close') setInterval(() => undefined, 1_000);
  });
}
