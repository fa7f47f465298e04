/** The usage of model calls whose request was sent more than once, and of answers that fail. */
import { defineAgent } from '@reprise/agent';
import { testWorld } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { anthropicMessages, type ModelClient, openAiCompatible, openAiResponses } from '../src/index.js';

const EVENTS = { 'content-type': 'text/event-stream' };
const sse = (...events: readonly object[]) =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''), { headers: EVENTS });

const START = {
  type: 'message_start',
  message: { type: 'message', role: 'assistant', content: [], usage: { input_tokens: 1_000, output_tokens: 1 } },
};
const TEXT = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
];
const END = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20 } },
  { type: 'message_stop' },
];

/** A `fetch` that gives these answers in order, and the last one again. */
function answering(...answers: readonly (() => Response)[]) {
  const seen = { count: 0 };
  const fetch = async () => (answers[Math.min(seen.count++, answers.length - 1)] as () => Response)();
  return { fetch: fetch as unknown as typeof globalThis.fetch, seen };
}

const at = (fetch: typeof globalThis.fetch) => ({
  baseUrl: 'http://provider.test/v1',
  apiKey: 'k',
  fetch,
  sleep: async () => undefined,
});

async function runOf(model: ModelClient, limits: { readonly tokens?: number } = { tokens: 20_000 }) {
  const agent = defineAgent({ name: 'a', model: 'm', instructions: '', limits, options: { maxTokens: 100 } });
  const world = await testWorld({ models: { m: model }, agents: [agent] });
  const session = world.session('chat', agent);
  const result = await (await session.send('Hi')).result();
  const reading = (await session.state())?.window.reading;
  await world.close();
  return { ...result, reading };
}

describe('the usage of a model call', () => {
  it('adds what attempts reported before their streams were cut, and keeps the size of one prompt [LIM-12, MOD-8]', async () => {
    const { fetch, seen } = answering(
      () => sse(START, ...TEXT),
      () => sse(START, START),
      () => sse(START, ...TEXT, ...END),
    );
    const { stop, usage, text, reading } = await runOf(anthropicMessages('m', at(fetch)));
    expect([stop.kind, text, seen.count]).toEqual(['Completed', 'Hi', 3]);
    expect(usage).toMatchObject({ tokens_in: 3_000, tokens_out: 22 });
    expect(reading?.tokens).toBeLessThan(1_100); // the window is not fuller than one prompt
  });

  it('counts the attempts of a call that failed in the end [LIM-12]', async () => {
    const { fetch, seen } = answering(() => sse(START, ...TEXT));
    const { stop, usage } = await runOf(anthropicMessages('m', at(fetch)));
    expect(stop).toMatchObject({ kind: 'Failed', code: 'provider_error_retryable/network' });
    expect(usage).toMatchObject({ tokens_in: 1_000 * seen.count, tokens_out: seen.count });
  });

  it('counts an attempt whose connection broke, and one that ended with an error event [LIM-12]', async () => {
    const broken = () => {
      const bytes = new TextEncoder().encode(`data: ${JSON.stringify(START)}\n\n`);
      let sent = false;
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          if (sent) controller.error(new Error('reset'));
          else controller.enqueue(bytes);
          sent = true;
        },
      });
      return new Response(body, { headers: EVENTS });
    };
    const { fetch } = answering(
      broken,
      () => sse(START, { type: 'error', error: { type: 'overloaded_error', message: 'busy' } }),
      () => sse(START, ...TEXT, ...END),
    );
    const { stop, usage } = await runOf(anthropicMessages('m', at(fetch)));
    expect(stop.kind).toBe('Completed');
    expect(usage).toMatchObject({ tokens_in: 3_000, tokens_out: 22 });
  });

  it('counts a whole answer that fails because only the client can fulfil its request [LIM-12]', async () => {
    const answer = {
      status: 'completed',
      output: [{ type: 'custom_tool_call', call_id: 'c', name: 'n', input: 'x' }],
      usage: { input_tokens: 700, output_tokens: 30 },
    };
    const { fetch } = answering(() => Response.json(answer));
    const { stop, usage } = await runOf(openAiResponses('m', at(fetch)));
    expect(stop).toMatchObject({ kind: 'Failed', code: 'provider_error_terminal/custom_tool_call' });
    expect(usage).toMatchObject({ tokens_in: 700, tokens_out: 30 });
  });

  it('reserves the whole call when its last attempt reported nothing, whatever earlier ones reported [LIM-12]', async () => {
    const piece = (more: object) => ({ choices: [{ index: 0, delta: { content: 'Hi' }, ...more }] });
    const usage = { prompt_tokens: 5, completion_tokens: 1 };
    const { fetch } = answering(
      () => sse({ ...piece({}), usage }),
      () => sse(piece({ finish_reason: 'stop' })),
    );
    const result = await runOf(openAiCompatible({ model: 'm', ...at(fetch) }));
    expect(result).toMatchObject({ stop: { kind: 'Completed' }, usage: { tokens_in: 0, tokens_out: 0 } });
  });
});
