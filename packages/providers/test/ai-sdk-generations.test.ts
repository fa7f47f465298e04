/** Models of the AI SDK 6 and 7 side by side, with the packages of both: files, answers, and what each refuses. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { getValue } from '@reprise/kernel';
import { simulateReadableStream } from 'ai/test';
import { MockLanguageModelV4 } from 'ai-7/test';
import { createAnthropic as createAnthropic7 } from 'ai-7-anthropic';
import { createOpenAI as createOpenAI7 } from 'ai-7-openai';
import type { LanguageModelV4FilePart, LanguageModelV4ToolResultOutput } from 'ai-7-provider';
import { describe, expect, it } from 'vitest';
import { mockProvider } from '../../../conformance/profiles/mock-provider.js';
import { toAiSdkCall } from '../src/ai-sdk/call-request.js';
import { saidFile, shownFile } from '../src/ai-sdk/file-forms.js';
import { SPECIFICATIONS } from '../src/ai-sdk/language-model.js';
import { type AiSdkModel, aiSdk, validateRequest } from '../src/index.js';
import type { UnifiedMessage, UnifiedRequest } from '../src/model/model.js';
import { add, outputOf, payloadOf } from './answers.js';
import { run } from './harness.js';
import { answered } from './support/answered.js';

/** A picture and a document: their first bytes are enough. */
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const PDF = new TextEncoder().encode('%PDF-1.4 one page');
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

const picture = { kind: 'media', mediaType: 'image/png', bytes: PNG, name: 'photo.png' } as const;
const paper = { kind: 'media', mediaType: 'application/pdf', bytes: PDF, name: 'paper.pdf' } as const;

/** A conversation whose user and whose tool show a picture and a document. */
const messages: readonly UnifiedMessage[] = [
  { role: 'user', parts: [{ kind: 'text', text: 'Look.' }, picture, paper] },
  { role: 'assistant', calls: [{ callId: 'c1', tool: 'add', args: { a: 1 } }] },
  { role: 'tool', callId: 'c1', text: 'Two files.', isError: false, media: [picture, paper] },
];
const request: UnifiedRequest = {
  system: '',
  tools: [{ name: 'add', description: '', schema: { type: 'object', properties: {} } }],
  messages,
};

/** The models of both generations that read files in messages and in results. */
const MODELS = {
  'openai responses of the AI SDK 6': (url: string) => createOpenAI({ baseURL: url, apiKey: 'k' }).responses('gpt-5'),
  'openai responses of the AI SDK 7': (url: string) => createOpenAI7({ baseURL: url, apiKey: 'k' }).responses('gpt-5'),
  'anthropic of the AI SDK 6': (url: string) => createAnthropic({ baseURL: url, apiKey: 'k' })('claude-sonnet-4-5'),
  'anthropic of the AI SDK 7': (url: string) => createAnthropic7({ baseURL: url, apiKey: 'k' })('claude-sonnet-4-5'),
} as const satisfies Readonly<Record<string, (url: string) => AiSdkModel>>;

const context = {
  signal: new AbortController().signal,
  idempotencyKey: 'e'.repeat(64),
  progress: () => undefined,
  secret: async () => '',
};

describe('files for models of both generations of the AI SDK', () => {
  it.each(Object.keys(MODELS) as (keyof typeof MODELS)[])(
    'an image and a PDF arrive whole, in a message and in a tool result: %s [MOD-46]',
    async (name) => {
      const bodies: string[] = [];
      const model = MODELS[name]('http://127.0.0.1:9/v1');
      const config = (model as unknown as { config: { fetch?: typeof fetch } }).config;
      config.fetch = async (_, init) => {
        bodies.push(String(init?.body));
        return new Response('{"error":{"message":"seen","type":"invalid_request_error"}}', { status: 400 });
      };
      await aiSdk(model).generate(request, context);
      const [body = ''] = bodies;
      expect(body.split(base64(PNG))).toHaveLength(3);
      expect(body.split(base64(PDF))).toHaveLength(3);
      // As files, not as texts about files.
      expect(body).not.toContain('\\"data\\"');
    },
  );

  it.each(['chat of the AI SDK 6', 'chat of the AI SDK 7'])(
    'an image and a PDF in a message arrive whole: openai %s',
    async (name) => {
      const mock = await mockProvider();
      mock.on({}, { content: 'I see.' });
      const create = name.endsWith('7') ? createOpenAI7 : createOpenAI;
      const model = create({ baseURL: `${mock.url}/v1`, apiKey: 'k' }).chat('gpt-5');
      const [first] = messages;
      await aiSdk(model).generate({ ...request, messages: first === undefined ? [] : [first] }, context);
      const body = JSON.stringify(mock.getLastRequest()?.body);
      expect(body).toContain(`data:image/png;base64,${base64(PNG)}`);
      expect(body).toContain(`data:application/pdf;base64,${base64(PDF)}`);
    },
  );

  it.each(SPECIFICATIONS)('files stand in the form of the specification %s and of no other', (specification) => {
    const profile = aiSdk(new MockLanguageModelV4()).profile;
    const { body } = toAiSdkCall(request, { profile, specification });
    expect(validateRequest('ai-sdk', body)).toEqual([]);
    for (const other of SPECIFICATIONS.filter((one) => one !== specification)) {
      expect(validateRequest('ai-sdk', { ...body, specification: other })).not.toEqual([]);
    }
  });

  it('files have the types that the package of the AI SDK 7 declares', () => {
    const said = saidFile(picture, 'v4') satisfies { readonly type: string };
    const shown = shownFile(paper, 'v4');
    if (said.type !== 'file' || shown.type !== 'file' || typeof said.data === 'string') expect.unreachable();
    const part: LanguageModelV4FilePart = { ...said, data: said.data };
    const output: LanguageModelV4ToolResultOutput = { type: 'content', value: [shown] };
    expect(part).toEqual({
      type: 'file',
      mediaType: 'image/png',
      filename: 'photo.png',
      data: { type: 'data', data: base64(PNG) },
    });
    expect(output.value[0]).toMatchObject({ filename: 'paper.pdf', data: { type: 'data', data: base64(PDF) } });
  });

  it('the effort reaches a model of the AI SDK 7 whose profile supports it', async () => {
    const model = new MockLanguageModelV4({ doGenerate: async () => said('ok') });
    const client = aiSdk(model, { profile: { supports_streaming: false, supports_reasoning_effort: true } });
    const ran = await run(client, { params: { reasoning_effort: 'high' } });
    expect(model.doGenerateCalls[0]?.reasoning).toBe('high');
    expect(payloadOf(ran).warnings_ref).toBeUndefined();
  });
});

const usage = {
  inputTokens: { total: 9, noCache: 1, cacheRead: 8, cacheWrite: 0 },
  outputTokens: { total: 2, text: 1, reasoning: 1 },
};

function said(text: string) {
  const finishReason = { unified: 'stop' as const, raw: 'end' };
  return { content: [{ type: 'text' as const, text }], finishReason, usage, warnings: [] };
}

const finish = { type: 'finish', finishReason: { unified: 'stop', raw: 'end' }, usage } as const;
const text = [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta: 'Once' },
  { type: 'text-end', id: '0' },
] as const;

/** A model of the AI SDK 7 that streams these parts. */
function streaming(...chunks: readonly object[]) {
  return new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: [...chunks] as never[] }) }),
  });
}

describe('answers of models of the AI SDK 7', () => {
  it('every part of a streamed answer is read, kept, and given back in its form [MOD-47]', async () => {
    const url = new URL('https://files.example/a.png');
    const thought = { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: PNG } };
    const model = streaming(
      { type: 'stream-start', warnings: [] },
      { type: 'ping' },
      { type: 'custom', kind: 'p.mark', providerMetadata: { p: { n: 1 } } },
      thought,
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
      ...text.slice(0, 2),
      { ...text[2], citations: [{ source: { type: 'source', sourceType: 'url', id: 's', url: 'https://x.example' } }] },
      { type: 'tool-input-start', id: 'c1', toolName: 'add' },
      { type: 'tool-input-delta', id: 'c1', delta: '{"a":1,"b":2}' },
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1,"b":2}' },
      { type: 'raw', rawValue: {} },
      { ...finish, finishReason: { unified: 'tool-calls', raw: 'tool_use' } },
    );
    const first = await run(aiSdk(model), { tools: [add] });
    expect(await outputOf(first)).toMatchObject({
      text: 'Once',
      tool_calls: [{ call_id: 'c1', args: { a: 1, b: 2 } }],
    });
    expect(payloadOf(first)).toMatchObject({
      finish_reason: 'tool_calls',
      usage_details: { tokens_reasoning: 1, tokens_cache_read: 8 },
    });
    expect(payloadOf(first).warnings_ref).toBeUndefined();
    const second = await run(aiSdk(model), { tools: [add], items: (store) => answered(first, store) });
    const { warnings_ref } = payloadOf(second);
    // The model uses the id of its call again; nothing was lost.
    expect(warnings_ref && (await getValue(second.content, warnings_ref))).toEqual(['call_id_changed']);
    const back = model.doStreamCalls[1]?.prompt.find(({ role }) => role === 'assistant');
    expect(back?.content).toEqual([
      { type: 'custom', kind: 'p.mark', providerOptions: { p: { n: 1 } } },
      { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: base64(PNG) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url } },
      { type: 'text', text: 'Once' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: { a: 1, b: 2 } },
    ]);
  });

  it('an input that streams as plain text is the text that the call holds as JSON', async () => {
    const model = streaming(
      { type: 'tool-input-start', id: 'c1', toolName: 'patch', inputEncoding: 'text' },
      { type: 'tool-input-delta', id: 'c1', delta: '*** Begin\n"x"' },
      { type: 'tool-input-end', id: 'c1' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'patch', input: JSON.stringify('*** Begin\n"x"') },
      finish,
    );
    const { outcome } = await run(aiSdk(model, { sleep: async () => {} }));
    expect(outcome).toMatchObject({ status: 'ok', payload: { tool_calls: [{ tool: 'patch' }] } });
  });

  it('an answer that the package calls interrupted was cut off, and is requested again [MOD-47]', async () => {
    let asked = 0;
    const cut = { ...finish, finishReason: { unified: 'interrupted', raw: undefined } };
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: simulateReadableStream({ chunks: [...text, asked++ === 0 ? cut : finish] as never[] }),
      }),
    });
    const ran = await run(aiSdk(model, { sleep: async () => {} }));
    expect(asked).toBe(2);
    expect(payloadOf(ran).finish_reason).toBe('stop');
  });

  it('a file of an answer goes back after the package was exchanged for one of the other generation', async () => {
    const old = {
      specificationVersion: 'v3',
      provider: 'p',
      modelId: 'm',
      doGenerate: async () => ({
        ...said('Here.'),
        content: [
          { type: 'text', text: 'Here.' },
          { type: 'file', mediaType: 'image/png', data: PNG },
        ],
      }),
      doStream: async () => ({}),
    } as const;
    const profile = { supports_streaming: false };
    const first = await run(aiSdk(old, { profile }));
    const model = new MockLanguageModelV4({ provider: 'p', modelId: 'm', doGenerate: async () => said('ok') });
    const second = await run(aiSdk(model, { profile }), { items: (store) => answered(first, store) });
    const back = model.doGenerateCalls[0]?.prompt.find(({ role }) => role === 'assistant');
    expect(back?.content).toContainEqual({
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: base64(PNG) },
    });
    expect(payloadOf(second).warnings_ref).toBeUndefined();
  });
});
