/** Answers with more calls than one answer may make: which calls are made, and how the model learns about the rest. */
import { type AgentEvent, agentApp, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory, verifyStore } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CLIENTS, mockProvider, watched } from '../../../conformance/profiles/mock-provider.js';
import { readGenerated } from '../src/ai-sdk/call-answer.js';
import { llmGenerateAdapter, type ModelClient, script } from '../src/index.js';
import { outputOf, payloadOf } from './answers.js';
import { run } from './harness.js';

const done: number[] = [];

const mark = defineTool({
  name: 'mark',
  description: 'Marks a place.',
  args: z.strictObject({ n: z.int() }),
  run: ({ n }) => {
    done.push(n);
    return `marked ${n}`;
  },
});

const marker = defineAgent({
  name: 'marker',
  model: 'main',
  instructions: 'Mark.',
  tools: [mark],
  limits: { callsPerStep: 64 },
});

const numbers = (to: number) => Array.from({ length: to }, (_, n) => n);

/** The result of one run: its events, and how many times each call was made. The journal is replayed, too. */
async function played(client: ModelClient) {
  done.splice(0);
  const store = memory();
  const world = await openAgentWorld({
    store,
    agents: [marker],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: client }, { judge }),
  });
  const events: AgentEvent[] = [];
  const started = await world.session('me', marker).send('Mark them all.');
  for await (const event of started.events()) events.push(event);
  await world.close();
  const reader = await store.openReadonly();
  expect((await verifyStore(reader, { app: agentApp })).unverified).toBe(0);
  await reader.close();
  return { events, stop: events.findLast((event) => event.type === 'lifecycle')?.stop };
}

const NOTICE =
  '<said by="runtime">\nAutomatic notice, not written by the user: the answer above asked for more calls than one answer may make. Only its first 64 count; 36 calls behind them (of mark) did not happen. Ask again for what you still need.\n</said>';

describe('a model that asks for a hundred calls in one answer', () => {
  it.each(CLIENTS.flatMap((name) => [true, false].map((streams) => [name, streams] as const)))(
    'the first 64 of 100 calls are made and the model reads that 36 did not happen, over %s (streamed: %s) [MOD-29]',
    async (name, supports_streaming) => {
      const mock = await mockProvider();
      const toolCalls = numbers(100).map((n) => ({ id: `call_${n}`, name: 'mark', arguments: `{"n":${n}}` }));
      mock.on({ sequenceIndex: 0 }, { content: 'I mark.', toolCalls });
      mock.on({}, { content: 'The rest later.' });
      // Each request is checked against the rules of its format when it is sent.
      const { client, sent } = watched(name, mock, { profile: { supports_streaming } });
      const { events, stop } = await played(client);
      expect(stop).toEqual({ kind: 'Completed' });
      expect(done.toSorted((a, b) => a - b)).toEqual(numbers(64));
      expect(sent).toHaveLength(2);
      expect(sent[1]!.split(JSON.stringify(NOTICE).slice(1, -1))).toHaveLength(2);
      expect(sent[1]).toContain('call_63');
      expect(sent[1]).not.toContain('call_64');
      const answered = events.flatMap((event) => (event.type === 'llm_step.completed' ? [event] : []));
      expect(answered.map(({ calls, dropped_calls }) => [calls.length, dropped_calls])).toEqual([
        [64, { count: 36, tools: ['mark'] }],
        [0, undefined],
      ]);
    },
  );

  it('the model reads about dropped calls after the results, even if the client itself dropped none [MOD-29]', async () => {
    const model = script(
      { calls: numbers(100).map((n) => ({ tool: 'mark', args: { n } })) },
      { calls: numbers(36).map((n) => ({ tool: 'mark', args: { n: n + 64 } })) },
      { text: 'All.' },
    );
    const { stop } = await played(model);
    expect(stop).toEqual({ kind: 'Completed' });
    expect(done.toSorted((a, b) => a - b)).toEqual(numbers(100));
    const [, second, third] = model.requests.map(({ messages }) => messages);
    expect(second!.filter(({ role }) => role === 'tool')).toHaveLength(64);
    expect(second!.at(-1)).toEqual({ role: 'user', text: NOTICE });
    // The notice stays at its position and is not repeated.
    expect(third!.slice(0, second!.length)).toEqual(second);
    expect(third!.filter(({ text }) => text === NOTICE)).toHaveLength(1);
  });

  it('the notice about dropped calls is bounded, and the receipt fits its schema [MOD-29, MOD-7]', async () => {
    const calls = numbers(100).map((n) => ({ tool: `${n}-${'x'.repeat(n < 64 ? 8 : 200)}`, args: {} }));
    const ran = await run(script({ calls }));
    const { tool_calls, dropped_calls } = payloadOf(ran);
    expect([tool_calls.length, dropped_calls?.count, dropped_calls?.tools.length]).toEqual([64, 36, 16]);
    expect(dropped_calls?.tools.every((tool) => tool.length === 128)).toBe(true);
    expect((await outputOf(ran)).tool_calls).toHaveLength(64);
    const exact = payloadOf(await run(script({ calls: calls.slice(0, 64) })));
    expect([exact.tool_calls.length, exact.dropped_calls]).toEqual([64, undefined]);
  });

  it('a stopped answer or a summary makes no calls and gives no notice about them', async () => {
    const calls = numbers(100).map((n) => ({ tool: 'mark', args: { n } }));
    const summarise = { to: 1, ask_ref: payloadOf(await run(script({ text: '?' }))).output_ref };
    const ran = await run(script({ text: 'So far.', calls }), { params: { summarise } });
    expect(payloadOf(ran)).toMatchObject({ tool_calls: [] });
    expect(payloadOf(ran).dropped_calls).toBeUndefined();
  });

  it('metadata of the last stored call is kept, and metadata of dropped calls is not', () => {
    const providerMetadata = (n: number) => ({ google: { thoughtSignature: `s${n}` } });
    const content = numbers(66).map((n) => ({
      type: 'tool-call',
      toolCallId: `c${n}`,
      toolName: 'mark',
      input: '{}',
      providerMetadata: providerMetadata(n),
    }));
    const generated = { content, finishReason: 'tool-calls', usage: {}, warnings: [], response: {} };
    const { opaque = [], dropped } = readGenerated(generated as never, { idsInUse: [], scrub: (text) => text });
    expect(dropped).toEqual({ count: 2, tools: ['mark'] });
    expect(JSON.stringify(opaque.at(-1))).toContain('"s63"');
  });
});
