import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../src/transport/retry.js';
import { EventStream } from '../src/transport/sse.js';
import { payloadOf } from './answers.js';
import { impatient, run } from './harness.js';
import { cutAt, readPieces, sse, sumOf } from './pieces.js';
import { type Answer, chunk, completion, ending, json, providerServer } from './provider-server.js';

const utf8 = new TextEncoder();
const found = (reader: EventStream, ...pieces: readonly string[]) =>
  pieces.flatMap((piece) => reader.push(utf8.encode(piece)));

describe('a reader of server-sent events', () => {
  it('a CRLF split across two pieces is one line end [MOD-25]', () => {
    expect(found(new EventStream(), 'data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual(['a\nb']);
  });

  it('an empty piece between the halves of a CRLF is ignored', () => {
    expect(found(new EventStream(), 'data: a\r', '', '\ndata: b\n\n')).toEqual(['a\nb']);
  });

  it('a byte order mark is removed only at the start', () => {
    expect(found(new EventStream(), '\ufeffdata: a\n\n\ufeffdata: b\n\ndata: c\n\n')).toEqual(['a', 'c']);
  });

  it.each([
    ['a line', ['data: ', 'x'.repeat(200)]],
    ['the lines of one event', Array(20).fill('data: 0123456789\n')],
    ['a line without a field', ['y'.repeat(101)]],
  ])('the reader refuses %s beyond its bound, whatever follows', (_, pieces) => {
    const reader = new EventStream(100);
    expect(found(reader, 'data: before\n\n', ...pieces, '\n\ndata: behind\n\n')).toEqual(['before']);
    expect(reader.tooLarge).toBe(true);
  });

  it('many events that together exceed the bound of one are read', () => {
    const reader = new EventStream(100);
    expect(found(reader, 'data: 0123456789\n\n'.repeat(100))).toHaveLength(100);
    expect(reader.tooLarge).toBe(false);
  });
});

describe('a stream with data after its end', () => {
  const said = [chunk({ content: 'Done.' }), ending(), '[DONE]'];
  const behind = [
    chunk({ content: ' And more.' }),
    chunk({ tool_calls: [{ index: 0, id: 'x', function: { name: 'pay' } }] }),
  ];

  it.each([
    ['the same piece', []],
    ['another piece', [sse(...said).length]],
    ['a piece that is cut in the middle of it', [sse(...said).length + 9]],
  ])('an answer followed by more data is the same when it comes in %s [MOD-25]', async (_, places) => {
    const came = await readPieces('openai-chat', cutAt(sse(...said, ...behind), places));
    expect(came).toEqual(await readPieces('openai-chat', [sse(...said)]));
    expect(sumOf(came.result)).toMatchObject({ text: 'Done.', calls: [] });
  });

  it('an error before the end is the same failure, however the pieces are cut', async () => {
    const broken = [chunk({ content: 'a' }), { error: { message: 'busy', code: 429 } }];
    const bytes = sse(...broken, ...said);
    for (const places of [[], [sse(...broken).length]])
      expect(sumOf((await readPieces('openai-chat', cutAt(bytes, places))).result)).toBe(
        'provider_error_retryable/rate_limited',
      );
  });
});

describe('the wait that a provider requests', () => {
  const now = Date.UTC(2026, 10, 22, 12, 0, 0);
  it.each([
    [{ 'retry-after': 'Sun, 22 Nov 2026 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Sunday, 22-Nov-26 12:00:07 GMT' }, 7_000],
    [{ 'retry-after': 'Sun, 22 Nov 2026 11:59:00 GMT' }, 0],
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '12.5', 'retry-after': '9' }, 13],
    [{ 'retry-after': '99999999999' }, 99_999_999_999_000],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ] as const)('the requested wait is read from %j as %s ms [MOD-8]', (headers, expected) => {
    expect(retryAfterMs(new Headers(headers), now)).toBe(expected);
  });

  it('a wait given as a date is observed [MOD-8]', async () => {
    const waits: number[] = [];
    const at = new Date(Date.now() + 20_000).toUTCString();
    const server = await providerServer(json(429, {}, { 'retry-after': at }), json(200, completion({ content: 'ok' })));
    payloadOf(await run(impatient({ ...server, model: 'm', waits })));
    expect(waits[0]).toBeGreaterThan(15_000);
    expect(waits[0]).toBeLessThanOrEqual(20_000);
  });
});

describe('an answer that does not end', () => {
  const headers = { 'content-type': 'text/event-stream' };

  it('a slow answer is a timeout when it exceeds the bound on total time [MOD-26]', async () => {
    const drip: Answer = (response) => {
      response.writeHead(200, headers);
      const pings = setInterval(() => response.write(': ping\n\n'), 20);
      response.on('close', () => clearInterval(pings));
    };
    const server = await providerServer(drip);
    const ran = await run(impatient({ ...server, model: 'm', timeoutMs: 10_000, answerTimeoutMs: 300 }));
    expect(ran.outcome).toEqual({ status: 'timeout', code: 'adapter_timeout' });
    expect(server.seen).toHaveLength(1);
  });

  it('an error answer beyond the size bound is judged by its status [MOD-26]', async () => {
    const server = await providerServer(json(429, 'x'.repeat(2_000_000)), json(200, completion({ content: 'ok' })));
    payloadOf(await run(impatient({ ...server, model: 'm' })));
    expect(server.seen).toHaveLength(2);
  });
});
