/** Content in spans: none by default, and on request without secrets. */
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory, type Store } from '@reprise/kernel';
import { Scrubber } from '@reprise/kernel/store';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { otlpTraces, type Span, traces } from '../src/index.js';
import { framesIn } from './support/journals.js';

const SECRET = 'secret-of-nobody-123';
const CANARIES = ['canary-system', 'canary-said', 'canary-args', 'canary-result', 'canary-answer', 'canary-error'];

const tell = defineTool({
  name: 'tell',
  description: 'Tells.',
  args: z.strictObject({ words: z.string() }),
  run: ({ words }) => {
    if (words.includes('error')) throw new Error('canary-error');
    return `canary-result ${SECRET}`;
  },
});
const agent = defineAgent({ name: 'teller', model: 'main', instructions: 'canary-system', tools: [tell] });

async function told(store: Store, words = 'canary-said'): Promise<AgentWorld> {
  const model = scriptBy(({ messages }) => {
    const step = messages.filter(({ role }) => role === 'assistant').length;
    if (step === 0) return { calls: [{ tool: 'tell', args: { words: 'canary-args' } }] };
    if (step === 1) return { calls: [{ tool: 'tell', args: { words: 'canary-args error' } }] };
    return { text: `canary-answer ${SECRET}` };
  });
  const world = await openAgentWorld({
    ...{ store, agents: [agent], models: { main: {} } },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  await (await world.session('s', agent).send(words)).text();
  return world;
}

async function exported(store: Store, scrubber?: Scrubber | 'none'): Promise<{ spans: Span[]; text: string }> {
  const reader = await store.openReadonly();
  const content =
    scrubber === undefined ? {} : { content: { reader: reader.content, ...(scrubber === 'none' ? {} : { scrubber }) } };
  const spans: Span[] = [];
  for await (const span of traces(await framesIn(reader), content)) spans.push(span);
  await reader.close();
  return { spans, text: otlpTraces(spans) };
}

describe('content in spans', () => {
  it('an export holds no word of the system, of people, of models, of tools or of errors by default [TRACE-11]', async () => {
    const store = memory();
    await (await told(store)).close();
    const { text, spans } = await exported(store);
    expect(spans.length).toBeGreaterThan(4);
    expect(CANARIES.filter((canary) => text.includes(canary))).toEqual([]);
    expect(text).not.toContain(SECRET);
  });

  it('content that is asked for stands in the opt-in attributes, and every text of it has passed the scrubber [TRACE-12]', async () => {
    const store = memory();
    await (await told(store)).close();
    const open = await exported(store, 'none');
    expect(open.text).toContain(SECRET); // otherwise the scrubber would have nothing to do
    const { spans, text } = await exported(store, new Scrubber([SECRET]));
    expect(text).not.toContain(SECRET);
    const chats = spans.filter(({ kind }) => kind === 'client');
    const [first] = chats;
    expect(JSON.parse(String(first?.attributes['gen_ai.system_instructions']))).toEqual([
      { type: 'text', content: 'canary-system' },
    ]);
    expect(JSON.parse(String(first?.attributes['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'canary-said' }] },
    ]);
    const last = JSON.parse(String(chats.at(-1)?.attributes['gen_ai.input.messages'])) as { role: string }[];
    expect(last.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
    expect(JSON.parse(String(chats.at(-1)?.attributes['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'canary-answer [secret]' }], finish_reason: 'stop' },
    ]);
    const [call] = spans.filter(({ name }) => name === 'execute_tool tell');
    expect(JSON.parse(String(call?.attributes['gen_ai.tool.call.arguments']))).toEqual({ words: 'canary-args' });
    expect(call?.attributes['gen_ai.tool.call.result']).toBe('canary-result [secret]');
  });

  it('an attribute with content has at most its bytes, and content that was erased is named as such', async () => {
    const store = memory();
    const world = await told(store, 'long '.repeat(40_000));
    const frames = await framesIn(await store.openReadonly());
    const said = frames.flatMap(({ records }) =>
      records.flatMap((record) =>
        record.kind === 'fact' && record.name === 'aos.agent/InputAccepted@1' ? [record.value] : [],
      ),
    ) as unknown as { first_ref: never }[];
    const before = (await exported(store, 'none')).spans.flatMap(({ attributes }) =>
      Object.values(attributes).map(String),
    );
    expect(Math.max(...before.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(64 * 1_024);
    await world.kernel.erase({ refs: [said[0]?.first_ref] } as never);
    await world.close();
    const after = await exported(store, 'none');
    expect(after.text).toContain('[blob_erased]');
  });
});
