/** Laws of the message core: random clients, whose bytes come in random pieces. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type McpServerOptions, type McpTool, type McpWire, mcpServer } from '../src/index.js';
import { MCP_GARBAGE_MAX } from '../src/protocol/limits.js';

const RUNS = 200;
const SEED = 20;

const tool: McpTool = {
  name: 'echo',
  description: 'Repeats.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
};

/** A line of a client, and what it must be answered with: undefined for nothing. */
type Sent = readonly [line: string, answer: 'result' | 'error' | undefined, id?: number];

const json = (value: unknown) => JSON.stringify(value);
const request = (id: number, method: string, params?: unknown) => json({ jsonrpc: '2.0', id, method, params });

const line: fc.Arbitrary<(id: number) => Sent> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => (id: number): Sent => {
    return [request(id, 'tools/call', { name: 'echo', arguments: { text } }), 'result', id];
  }),
  fc.constant((id: number): Sent => [request(id, 'ping'), 'result', id]),
  fc.constant((id: number): Sent => [request(id, 'tools/list', {}), 'result', id]),
  fc.jsonValue().map((args) => (id: number): Sent => {
    const fits = typeof args === 'object' && args !== null && typeof (args as { text?: unknown }).text === 'string';
    return [request(id, 'tools/call', { name: 'echo', arguments: args }), fits ? 'result' : 'error', id];
  }),
  fc.string({ maxLength: 12 }).map((name) => (id: number): Sent => {
    return [request(id, 'tools/call', { name: `no ${name}`, arguments: {} }), 'error', id];
  }),
  fc
    .constantFrom<Sent>(
      ['', undefined],
      [json({ jsonrpc: '2.0', method: 'notifications/initialized' }), undefined],
      [json({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'nothing' } }), undefined],
      [json({ jsonrpc: '2.0', id: 'ours', result: {} }), undefined],
    )
    .map((sent) => () => sent),
  fc.constantFrom('{', 'null', '[]', '7', '"x"', '{"jsonrpc":"2.0"}', 'GET / HTTP/1.1').map((text) => (): Sent => {
    return [text, 'error'];
  }),
);

interface Heard {
  readonly id: unknown;
  readonly result?: object;
  readonly error?: object;
}

/** What a client hears that sends these bytes in pieces, before and after the server has nothing left to do. */
async function heard(bytes: Uint8Array, cuts: readonly number[], more: Partial<McpServerOptions> = {}, lossy = false) {
  const lines: Heard[] = [];
  let ended = 0;
  const wire: McpWire = {
    write: (text) => void lines.push(JSON.parse(text)),
    ended: () => void ended++,
  };
  const core = mcpServer({
    name: 'law',
    version: '1',
    tools: [tool],
    call: async ({ args }) => ({ texts: [String(args.text)], isError: false }),
    ...more,
  });
  const connection = core.open(wire);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    const to = Math.min(bytes.length, Math.max(from, cut));
    if (!lossy || to === bytes.length) connection.take(bytes.slice(from, to));
    from = to;
  }
  for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setImmediate(resolve));
  await connection.close();
  return { lines, ended };
}

const begin = request(0, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'law', version: '1' },
});

/** Sends lines in pieces, and compares what is answered with what must be. */
async function holds(makers: readonly ((id: number) => Sent)[], cuts: readonly number[], lossy = false): Promise<void> {
  const sent = makers.slice(0, 40).map((make, i) => make(i + 1));
  const bytes = new TextEncoder().encode(`${[begin, ...sent.map(([text]) => text)].join('\n')}\n`);
  const places = cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b);
  const { lines, ended } = await heard(bytes, places, {}, lossy);
  let inRow = 0;
  let isOver = false;
  for (const [text, answer, id] of sent) {
    if (isOver) break;
    if (text !== '') inRow = answer === 'error' && id === undefined ? inRow + 1 : 0;
    isOver = inRow >= MCP_GARBAGE_MAX;
    if (id === undefined) continue;
    const answers = lines.filter((one) => one.id === id);
    expect(answers).toHaveLength(1);
    expect(answers[0]).toHaveProperty(answer ?? 'nothing');
  }
  const garbage = sent.filter(([, answer, id]) => answer === 'error' && id === undefined).length;
  if (!isOver) expect(lines.filter(({ id }) => id === null)).toHaveLength(garbage);
  expect(ended).toBe(1);
}

const bytesIn = fc.array(fc.nat(), { maxLength: 12 });

describe('the message core of an MCP server', () => {
  it(`every request is answered once, whatever stands between, and however its bytes are cut (${RUNS} runs, seed ${SEED})`, async () => {
    const law = fc.asyncProperty(fc.array(line, { maxLength: 40 }), bytesIn, (makers, cuts) => holds(makers, cuts));
    await fc.assert(law, { numRuns: RUNS, seed: SEED });
  });

  it('a connection that loses bytes is found', async () => {
    const law = fc.asyncProperty(fc.array(line, { maxLength: 40 }), bytesIn, (makers, cuts) =>
      holds(makers, cuts, true),
    );
    await expect(fc.assert(law, { numRuns: RUNS, seed: SEED })).rejects.toThrow(/Property failed/);
  });
});
