import { readLlmOutput, readText } from '@reprise/agent';
import { llmGenerateReceipt } from '@reprise/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { Scrubber } from '../src/transport/scrub.js';
import { EventStream } from '../src/transport/sse.js';
import { impatient, type Ran, run } from './harness.js';
import { type Answer, chunk, completion, ending, events, eventsThen, json, providerServer } from './provider-server.js';

function payloadOf({ outcome }: Ran) {
  if (outcome.status !== 'ok') throw new Error(`the outcome is ${JSON.stringify(outcome)}`);
  return llmGenerateReceipt.parse(outcome.payload);
}

const outputOf = (ran: Ran) => readLlmOutput(ran.content, payloadOf(ran).output_ref);

const callPiece = (index: number, args: string, over: object = {}) =>
  chunk({ tool_calls: [{ index, function: { arguments: args }, ...over }] });
const callStart = (index: number, id: string) =>
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'add', arguments: '' } }] });

describe('a streamed answer', () => {
  it('a streamed answer is reported piece by piece, and stored as if it had come at once', async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 1 } };
    const { baseUrl, seen } = await providerServer(
      events(
        chunk({ role: 'assistant', content: '' }),
        chunk({ reasoning_content: 'Two ' }),
        chunk({ reasoning_content: 'sums.' }),
        chunk({ content: 'I ' }),
        chunk({ content: 'add.' }),
        callStart(0, 'c0'),
        callStart(1, 'c1'),
        callPiece(0, '{"a":'),
        callPiece(1, '{}'),
        callPiece(0, '1}'),
        ending('tool_calls'),
        { id: 'chatcmpl-1', choices: [], usage },
        '[DONE]',
      ),
    );
    const ran = await run(impatient({ baseUrl, model: 'm' }));
    expect(JSON.parse(seen[0]!.body)).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(ran.notes).toEqual([
      { type: 'delta', channel: 'reasoning', index: 0, text: 'Two ' },
      { type: 'delta', channel: 'reasoning', index: 0, text: 'sums.' },
      { type: 'delta', channel: 'text', index: 0, text: 'I ' },
      { type: 'delta', channel: 'text', index: 0, text: 'add.' },
      { type: 'delta', channel: 'tool_args', index: 0, text: '{"a":' },
      { type: 'delta', channel: 'tool_args', index: 1, text: '{}' },
      { type: 'delta', channel: 'tool_args', index: 0, text: '1}' },
    ]);
    expect(await outputOf(ran)).toEqual({
      text: 'I add.',
      opaque: [{ kind: 'reasoning', text: 'Two sums.', native: { reasoning_content: 'Two sums.' } }],
      tool_calls: [
        { call_id: 'c0', tool: 'add', args: { a: 1 } },
        { call_id: 'c1', tool: 'add', args: {} },
      ],
    });
    expect(payloadOf(ran)).toMatchObject({ finish_reason: 'tool_calls', usage_details: { tokens_reasoning: 1 } });
    expect(ran.outcome).toMatchObject({ usage: { tokens_in: 12, tokens_out: 3, calls: 1 } });
    expect(await readText(ran.content, payloadOf(ran).raw_output_ref)).toContain('data: [DONE]');
  });

  it('a whole answer from a server that does not stream is read', async () => {
    const { baseUrl } = await providerServer(json(200, completion({ content: 'Whole.' })));
    const ran = await run(impatient({ baseUrl, model: 'm' }));
    expect((await outputOf(ran)).text).toBe('Whole.');
    expect(ran.notes).toEqual([]);
  });

  it('a stream is not requested where the profile excludes it [MOD-1]', async () => {
    const { baseUrl, seen } = await providerServer(json(200, completion({ content: 'x' })));
    await run(impatient({ baseUrl, model: 'm', profile: { supports_streaming: false } }));
    const body = JSON.parse(seen[0]!.body) as object;
    expect(body).toMatchObject({ stream: false });
    expect(body).not.toHaveProperty('stream_options');
  });

  it('a stream may hold calls without numbers, and reasoning details', async () => {
    const details = (text: string) => chunk({ reasoning_details: [{ type: 'reasoning.text', index: 0, text }] });
    const call = (id: string, args: string) =>
      chunk({ tool_calls: [{ ...(id === '' ? {} : { id }), function: { name: id && 'add', arguments: args } }] });
    const { baseUrl } = await providerServer(
      events(details('a'), details('b'), call('c0', '{'), call('', '}'), call('c1', '{}'), ending('stop')),
    );
    const ran = await run(impatient({ baseUrl, model: 'm' }));
    expect(await outputOf(ran)).toEqual({
      opaque: [
        { kind: 'reasoning', native: { reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'ab' }] } },
      ],
      tool_calls: [
        { call_id: 'c0', tool: 'add', args: {} },
        { call_id: 'c1', tool: 'add', args: {} },
      ],
    });
  });
});

describe('a streamed answer that breaks', () => {
  const half = [chunk({ content: 'Once ' }), chunk({ content: 'upon' })];
  const whole = events(chunk({ content: 'Done.' }), ending(), '[DONE]');
  const rest = [
    { type: 'delta.reset' },
    expect.objectContaining({ type: 'retry', retry: 1 }),
    { type: 'delta', channel: 'text', index: 0, text: 'Done.' },
  ];

  it.each<[string, Answer]>([
    ['cut in the middle', eventsThen('cut', ...half)],
    ['that ended early', events(...half)],
    ['without events', events()],
    ['with an event that is not JSON', events(...half, '{"id":')],
    ['with an error in it', events(...half, { error: { message: 'upstream', code: 502 } })],
  ])(
    'a stream %s is requested again by one owner, and leaves no trace in the answer [MOD-10, EVT-5]',
    async (_, broken) => {
      const { baseUrl, seen } = await providerServer(broken, whole);
      const ran = await run(impatient({ baseUrl, model: 'm' }));
      expect(seen).toHaveLength(2);
      expect(seen[1]!.body).toBe(seen[0]!.body);
      expect(ran.notes.slice(-3)).toEqual(rest);
      expect(await outputOf(ran)).toEqual({ text: 'Done.', tool_calls: [] });
      expect(await readText(ran.content, payloadOf(ran).raw_output_ref)).not.toContain('Once');
    },
  );

  it('a stream that breaks on every try ends in a retryable failure', async () => {
    const { baseUrl, seen } = await providerServer(eventsThen('cut', ...half));
    const { outcome } = await run(impatient({ baseUrl, model: 'm' }));
    expect(outcome).toEqual({ status: 'error', code: 'provider_error_retryable/network', retryable: true });
    expect(seen).toHaveLength(4);
  });

  it('a stream with an error inside is a refusal when the error says so', async () => {
    const error = { message: 'Your prompt is too long', code: 400 };
    const { baseUrl, seen } = await providerServer(events({ error }));
    const { outcome } = await run(impatient({ baseUrl, model: 'm' }));
    expect(outcome).toMatchObject({ code: 'provider_error_terminal/context_limit' });
    expect(seen).toHaveLength(1);
  });

  it.each(['hang', 'cut', 'talk on'] as const)(
    'a stream with its end mark is complete, even if its connection should %s [MOD-10]',
    async (what) => {
      const DONE = 'data: [DONE]\n\n';
      const said: Answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const piece of [chunk({ content: 'Done.' }), ending()])
          response.write(`data: ${JSON.stringify(piece)}\n\n`);
        response.write(DONE);
        if (what === 'cut') setTimeout(() => response.destroy(), 10);
        if (what !== 'talk on') return;
        const pings = setInterval(() => response.write(': ping\n\n'), 100);
        response.on('close', () => clearInterval(pings));
      };
      const { baseUrl, seen } = await providerServer(said);
      const ran = await run(impatient({ baseUrl, model: 'm', timeoutMs: 30_000 }));
      expect((await outputOf(ran)).text).toBe('Done.');
      expect(seen).toHaveLength(1);
    },
  );

  it('a silent stream is a timeout; a slow stream is not', async () => {
    const silent = await providerServer(eventsThen('hang', ...half));
    const { outcome } = await run(impatient({ ...silent, model: 'm', timeoutMs: 60 }));
    expect(outcome).toEqual({ status: 'timeout', code: 'adapter_timeout' });
    const drip: Answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pieces = [...'dripping'.repeat(4)].map((content) => chunk({ content }));
      const next = () => {
        const piece = pieces.shift() ?? ending();
        response.write(`data: ${JSON.stringify(piece)}\n\n`);
        if (pieces.length > 0 || 'content' in (piece as { choices: [{ delta: object }] }).choices[0].delta) {
          setTimeout(next, 90); // all of them take longer than the allowed silence, and each far less
        } else response.end();
      };
      next();
    };
    const dripping = await providerServer(drip);
    const ran = await run(impatient({ ...dripping, model: 'm', timeoutMs: 2_500 }));
    expect((await outputOf(ran)).text).toBe('dripping'.repeat(4));
  });
});

describe('a streamed answer that is stopped', () => {
  it('a stopped stream keeps its text, and no call that may be incomplete [MOD-11]', async () => {
    const { baseUrl } = await providerServer(
      eventsThen('hang', chunk({ reasoning_content: 'hm' }), chunk({ content: 'Once upon' }), callStart(0, 'c')),
    );
    const controller = new AbortController();
    const ran = await run(impatient({ baseUrl, model: 'm' }), {
      context: {
        signal: controller.signal,
        progress: (note) => {
          if ((note as { channel?: string }).channel === 'text') setTimeout(() => controller.abort(), 20);
        },
      },
    });
    expect(payloadOf(ran)).toMatchObject({ finish_reason: 'interrupted', tool_calls: [] });
    expect(await outputOf(ran)).toEqual({ text: 'Once upon', tool_calls: [] });
  });
});

describe('a secret in a stream', () => {
  const KEY = 'sk-test-0123456789abcdef';

  it('a secret in a stream is never reported to watchers, however the stream is cut [CON-16]', async () => {
    const pieces = [...`my key is ${KEY}, yours?`].map((content) => chunk({ content }));
    const { baseUrl } = await providerServer(events(...pieces, ending()));
    const ran = await run(impatient({ baseUrl, model: 'm', apiKey: KEY }));
    const told = (ran.notes as { text: string }[]).map(({ text }) => text).join('');
    expect(told).toBe('my key is [secret], yours?');
    expect((await outputOf(ran)).text).toBe(told);
  });

  it('a secret is found in a streamed text exactly where it is found in the whole text (seed 7) [CON-16]', () => {
    const scrubber = new Scrubber([KEY, 'abababababababababab']);
    const word = fc.constantFrom(KEY, KEY.slice(0, 9), KEY.slice(9), 'ab'.repeat(10), 'ab', 's', ' ');
    fc.assert(
      fc.property(fc.array(word), fc.array(fc.nat({ max: 30 })), (words, cuts) => {
        const text = words.join('');
        const piecewise = scrubber.piecewise();
        let told = '';
        let at = 0;
        for (const size of cuts) {
          told += piecewise.push(text.slice(at, at + size));
          at += size;
        }
        told += piecewise.push(text.slice(at)) + piecewise.end();
        expect(told).not.toContain(KEY);
        expect(told.replaceAll('[secret]', '').length).toBeLessThanOrEqual(text.length);
        if (!text.includes('abab')) expect(told).toBe(scrubber.scrub(text));
      }),
      { seed: 7, numRuns: 1_000 / stepOf(4) },
    );
  });
});

describe('server-sent events', () => {
  it('server-sent events are the same wherever the bytes are cut (seed 3)', () => {
    const stream =
      'data: {"a":"é☃"}\r\n\r\n: comment\nevent: x\ndata:two\ndata: lines\n\ndata: [DONE]\r\rdata: unfinished';
    const bytes = new TextEncoder().encode(stream);
    const expected = ['{"a":"é☃"}', 'two\nlines', '[DONE]'];
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 20 })), (sizes) => {
        const reader = new EventStream();
        const found: string[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          found.push(...reader.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(found).toEqual(expected);
      }),
      { seed: 3 },
    );
  });
});
