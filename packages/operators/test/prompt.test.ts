/** One request to a model: whom it asked, which writer makes its bytes, and what is said when none does. */
import { createHash } from 'node:crypto';
import { defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory, type Store } from '@reprise/kernel';
import {
  anthropicMessages,
  llmGenerateAdapter,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  script,
} from '@reprise/providers';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { requestOf } from '../src/prompt/index.js';

const add = defineTool({
  name: 'add',
  description: 'Adds two integers.',
  args: z.strictObject({ a: z.int(), b: z.int() }),
  run: ({ a, b }) => a + b,
});
const sums = defineAgent({
  name: 'sums',
  model: 'main',
  instructions: 'Add.',
  tools: [add],
  options: { maxTokens: 99 },
});

/** A world with one message for each text, answered by a client. */
async function worldOf(client: ModelClient, ...texts: readonly string[]): Promise<Store> {
  const store = memory();
  await using world = await openAgentWorld({
    ...{ store, agents: [sums], models: { main: {} } },
    llm: (judge) => llmGenerateAdapter({ main: client }, { judge }),
  });
  for (const text of texts) await (await world.session('me', sums).send(text)).result().catch(() => undefined);
  return store;
}

const usage = { prompt_tokens: 12, completion_tokens: 3, input_tokens: 12, output_tokens: 3 };
const answers = {
  'openai-compatible': {
    ...{ id: 'c-1', model: 'm-2026' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Five.' }, finish_reason: 'stop' }],
  },
  'openai-responses': {
    ...{ id: 'r-1', model: 'm-2026', status: 'completed' },
    output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Five.' }] }],
  },
  'anthropic-messages': {
    ...{ id: 'm-1', type: 'message', role: 'assistant', model: 'm-2026', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'Five.' }],
  },
};

const server = (format: keyof typeof answers) => ({
  baseUrl: 'https://models.example/v1',
  fetch: async () => Response.json({ ...answers[format], usage }),
});

const [chat, responses, messages] = (['openai-compatible', 'openai-responses', 'anthropic-messages'] as const).map(
  server,
);
const key = { apiKey: 'key-0123456789' };
const options = { ...chat, model: 'm' } as const;

const CLIENTS: readonly (readonly [string, ModelClient, string])[] = [
  ['a chat server', openAiCompatible({ ...chat!, model: 'm' }), 'openai-compatible'],
  [
    'a chat server with another field',
    openAiCompatible({ ...chat!, model: 'm', maxTokensField: 'max_completion_tokens' }),
    'openai-compatible',
  ],
  [
    'a chat server without streams',
    openAiCompatible({ ...chat!, model: 'm', profile: { supports_streaming: false } }),
    'openai-compatible',
  ],
  [
    'a client with another name',
    openAiCompatible({ ...chat!, model: 'm', profile: { profile_id: 'house' } }),
    'openai-compatible',
  ],
  ['OpenAI responses', openAiResponses('m', { ...responses, ...key }), 'openai-responses'],
  ['Anthropic messages', anthropicMessages('m', { ...messages, ...key }), 'anthropic-messages'],
  ['a script', script({ text: 'Five.' }, { text: 'Six.' }), 'script'],
];

describe('the request of a recorded call', () => {
  it.each(CLIENTS)(
    'given a call of %s, the built-in writers find the bytes that were sent, without the client',
    async (_name, client, writer) => {
      const store = await worldOf(client, '2 + 3?', 'And 3 + 3?');
      const { asked, sent, bytes, step } = await requestOf(await store.openReadonly(), 'last', { sent: true });
      expect([sent.writer, sent.isSame]).toEqual([writer, true]);
      expect(
        createHash('sha256')
          .update(sent.body ?? '')
          .digest('hex'),
      ).toBe(sent.recorded);
      expect([bytes.sent, step]).toEqual([Buffer.byteLength(sent.body ?? ''), { run: 1, turn: 1, step: 1 }]);
      expect(asked).toMatchObject({ profile: client.profile.profile_id, model: client.profile.model_default });
    },
  );

  it('given a client with options that are not recorded, no body is given and the reason is said; its own client finds the bytes', async () => {
    const client = openAiCompatible({ ...chat!, model: 'm', profile: { provider_options_default: { seed: 7 } } });
    const store = await (await worldOf(client, '2 + 3?')).openReadonly();
    const { sent, parts } = await requestOf(store, 'last', { sent: true });
    expect(sent).toMatchObject({ writer: null, isSame: false, why: 'no_writer' });
    expect(sent.body).toBeUndefined();
    expect(parts.map(({ part }) => part)).toEqual(['system', 'tools', 'message']);
    expect((await requestOf(store, 'last', { sent: true, client })).sent).toMatchObject({
      isSame: true,
      writer: 'openai-compatible',
    });
  });

  it('given a call that failed, its request is shown as it would be sent, and whom it asked is said', async () => {
    const failing = openAiCompatible({
      ...options,
      baseUrl: 'https://models.example/v1',
      retry: { retriesMax: 0 },
      fetch: async () => Response.json({ error: { message: 'No.' } }, { status: 401 }),
    });
    const store = await worldOf(failing, '2 + 3?');
    const report = await requestOf(await store.openReadonly(), 'last', { sent: true });
    expect(report).toMatchObject({
      status: 'error',
      asked: { profile: 'openai-compatible', model: 'm', server: 'models.example' },
    });
    expect(report.sent).toMatchObject({ writer: 'openai-compatible', recorded: null, isSame: null, why: 'no_answer' });
    expect(JSON.parse(report.sent.body ?? '{}')).toMatchObject({ model: 'm' });
  });

  it('a call is found by the place of its effect, by its answer, and by 8 digits of its effect', async () => {
    const store = await (await worldOf(script({ text: 'Five.' }, { text: 'Six.' }), '2 + 3?', 'And?')).openReadonly();
    const last = await requestOf(store, 'last');
    const { before, frame, place, effect, receipt_frame: answered } = last;
    for (const name of [place, `${frame}`, `${answered}`, `${answered}.2`, effect.slice(0, 8), effect])
      expect([name, (await requestOf(store, name)).effect]).toEqual([name, effect]);
    expect((await requestOf(store, `${before?.frame}`)).effect).toBe(before?.effect);
  });

  it.each(['0', '999', 'first', 'abc', 'f'.repeat(64)])(
    'a name that means no call (%s) is refused with what names one',
    async (name) => {
      const store = await (await worldOf(script({ text: 'Five.' }), '2 + 3?')).openReadonly();
      await expect(requestOf(store, name)).rejects.toMatchObject({ code: 'invalid_argument' });
    },
  );

  it('given a signal that is aborted, reading stops', async () => {
    const store = await (await worldOf(script({ text: 'Five.' }), '2 + 3?')).openReadonly();
    await expect(requestOf(store, 'last', { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});
