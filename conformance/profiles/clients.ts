/** All clients that reach a model over HTTP, against one third-party mock provider. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LLMock } from '@copilotkit/aimock';
import { aiSdk, type ModelClient } from '@reprise/providers';
import { CLIENTS, watched } from './mock-provider.js';

/** A client, and the number of requests that it sent. */
export interface Profile {
  readonly client: ModelClient;
  readonly requests: () => number;
}

const noWait = { sleep: async () => undefined };
const stateless = { openai: { store: false, include: ['reasoning.encrypted_content'] } };

/** Factories of clients for a mock provider, by name. */
export const PROFILES: Readonly<Record<string, (mock: LLMock) => Profile>> = {
  ...Object.fromEntries(
    CLIENTS.map((name) => [
      name,
      (mock: LLMock): Profile => {
        const { client, sent } = watched(name, mock);
        return { client, requests: () => sent.length };
      },
    ]),
  ),
  'aiSdk over @ai-sdk/openai, chat': (mock) => ({
    client: aiSdk(createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'k' }).chat('gpt-4.1'), noWait),
    requests: () => mock.getRequests().length,
  }),
  'aiSdk over @ai-sdk/openai, responses': (mock) => ({
    client: aiSdk(createOpenAI({ baseURL: `${mock.url}/v1`, apiKey: 'k' }).responses('gpt-5'), {
      ...noWait,
      profile: { provider_options_default: stateless },
    }),
    requests: () => mock.getRequests().length,
  }),
  'aiSdk over @ai-sdk/anthropic': (mock) => ({
    client: aiSdk(createAnthropic({ baseURL: `${mock.url}/v1`, apiKey: 'k' })('claude-sonnet-4-5'), noWait),
    requests: () => mock.getRequests().length,
  }),
};
