/** Whom a call asks and which model answered, as receipts hold it. */
import { describe, expect, it } from 'vitest';
import { askedOf, FirstChunk } from '../src/generate/asked.js';
import { answerIn, askedIn } from '../src/generate/recorded-call.js';
import { aiSdk, anthropicMessages, openAiCompatible, openAiResponses, relay, script, withPrice } from '../src/index.js';
import { payloadOf } from './answers.js';
import { run } from './harness.js';
import { completion, json, providerServer } from './provider-server.js';

const baseUrl = 'https://models.example:8443/v1';
const sdkModel = {
  specificationVersion: 'v3',
  provider: 'house.chat',
  modelId: 'large',
  doGenerate: async () => ({
    content: [{ type: 'text', text: 'Hi.' }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {},
    warnings: [],
    response: { id: 'r-1', modelId: 'large-2026-11' },
  }),
  doStream: async () => ({}),
} as const;

const CLIENTS = [
  ['openAiCompatible', openAiCompatible({ baseUrl, model: 'm' }), 'openai-compatible', 'models.example'],
  ['openAiResponses', openAiResponses('m', { baseUrl, apiKey: 'k-12345678' }), 'openai-responses', 'models.example'],
  [
    'anthropicMessages',
    anthropicMessages('m', { baseUrl, apiKey: 'k-12345678' }),
    'anthropic-messages',
    'models.example',
  ],
  ['aiSdk', aiSdk(sdkModel), 'ai-sdk/house.chat', undefined],
  ['script', script(), 'script', undefined],
  ['relay', relay(), 'relay', undefined],
] as const;

describe('whom a client asks', () => {
  it.each(CLIENTS)(
    '%s names its profile, model and provider, and a server only where it knows it [MOD-60]',
    (_name, client, profile, server) => {
      const { provider, model_default: model } = client.profile;
      expect(askedOf(client)).toEqual({ profile, model, provider, ...(server === undefined ? {} : { server }) });
    },
  );

  it('a client that was given a price or other options asks the same one [MOD-60]', () => {
    const [, client] = CLIENTS[0];
    expect(askedOf(withPrice(client, { in: 1, out: 1 }))).toEqual(askedOf(client));
  });

  it('names that are too long for a receipt are cut, and an empty provider is absent [MOD-60]', () => {
    const { profile } = script();
    const long = { profile: { ...profile, model_default: 'm'.repeat(300), provider: '' }, server: 's'.repeat(300) };
    expect(askedOf(long)).toEqual({ profile: 'script', model: 'm'.repeat(128), server: 's'.repeat(256) });
  });
});

describe('which model answered', () => {
  it('given a provider that names a more precise model, the outcome says so beside the one that was asked [MOD-61]', async () => {
    const ran = await run(aiSdk(sdkModel, { profile: { supports_streaming: false } }));
    expect(ran.observed.asked?.model).toBe('large');
    expect(ran.outcome).toMatchObject({ response_model: 'large-2026-11' });
  });

  it.each([
    ['no model', {}],
    ['an empty name', { model: '' }],
    ['a model that is not a text', { model: 7 }],
    ['a name of 300 characters', { model: 'm'.repeat(300) }],
  ])('given an answer with %s, the outcome has no such field [MOD-61]', async (_what, over) => {
    const server = await providerServer(json(200, completion({ role: 'assistant', content: 'Hi.' }, over)));
    const ran = await run(openAiCompatible({ baseUrl: server.baseUrl, model: 'm' }));
    expect(payloadOf(ran).finish_reason).toBe('stop');
    expect(Object.keys(ran.outcome)).not.toContain('response_model');
  });
});

describe('when an answer begins', () => {
  const piece = { type: 'delta', channel: 'text', index: 0, text: 'x' } as const;
  const watching = () => {
    const [seen, clock] = [[] as unknown[], { at: 100 }];
    return { seen, clock, first: new FirstChunk({ now: () => clock.at, observe: (said) => seen.push(said) }) };
  };

  it('given a call that is sent again, the time is that of the last answer that began [MOD-61]', () => {
    const { seen, clock, first } = watching();
    clock.at = 130;
    for (const note of [piece, piece, { type: 'delta.reset' } as const]) first.take(note);
    clock.at = 190;
    first.take(piece);
    expect(seen).toEqual([{ first_chunk_ms: 30 }, { first_chunk_ms: 90 }]);
  });

  it('a clock that goes back gives no negative time [MOD-61]', () => {
    const { seen, clock, first } = watching();
    clock.at = 40;
    first.take(piece);
    expect(seen).toEqual([{ first_chunk_ms: 0 }]);
  });
});

describe('a receipt of an earlier build', () => {
  it('given an answer whose payload says by whom it is, both are still read', async () => {
    const payload = payloadOf(await run(script({ text: 'Hi.' })));
    const earlier = { payload: { ...payload, by: { profile: 'script', model: 'script' } } };
    expect(askedIn(earlier)).toEqual({ profile: 'script', model: 'script' });
    expect(answerIn(earlier)).toEqual(payload);
    expect(askedIn({ payload })).toBeUndefined();
  });
});
