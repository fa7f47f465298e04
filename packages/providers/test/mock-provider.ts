/** A provider that we did not write, on a free port of this machine, and our clients of it; each request is held to our rules. */
import { LLMock, type MockServerOptions } from '@copilotkit/aimock';
import { afterEach, expect } from 'vitest';
import {
  anthropicMessages,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  type ProviderProfile,
  type TransportOptions,
  validateRequest,
  type WireFormat,
} from '../src/index.js';

/** The clients that speak to it. */
export const CLIENTS = ['openai-compatible', 'openai-responses', 'anthropic-messages'] as const;

/** A client that speaks to it. */
export type ClientName = (typeof CLIENTS)[number];

/** What a test may say about a client. */
export interface ClientOptions extends TransportOptions {
  readonly profile?: Partial<Omit<ProviderProfile, 'model_default'>>;
  readonly apiKey?: string;
}

const FORMATS: Readonly<Record<ClientName, WireFormat>> = {
  'openai-compatible': 'openai-chat',
  'openai-responses': 'openai-responses',
  'anthropic-messages': 'anthropic-messages',
};

const MAKE: Readonly<Record<ClientName, (baseUrl: string, options: ClientOptions) => ModelClient>> = {
  'openai-compatible': (baseUrl, options) => openAiCompatible({ baseUrl, model: 'gpt-5', ...options }),
  'openai-responses': (baseUrl, options) => openAiResponses('gpt-5', { baseUrl, ...options }),
  'anthropic-messages': (baseUrl, options) => anthropicMessages('claude-sonnet-4-5', { baseUrl, ...options }),
};

const open: LLMock[] = [];

afterEach(() => {
  // It ends when the last idle connection does, seconds later: nobody needs to wait for that.
  for (const mock of open.splice(0)) void mock.stop();
});

/** Starts it. */
export async function mockProvider(options: MockServerOptions = {}): Promise<LLMock> {
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 4, ...options });
  await mock.start();
  open.push(mock);
  return mock;
}

/** A client of it that waits for nothing between retries. */
export interface Watched {
  readonly client: ModelClient;
  /** The bodies that it sent, each of them in order by our rules. */
  readonly sent: string[];
  /** How long it would have waited between retries. */
  readonly waits: number[];
}

/** Makes a client whose requests are checked as they leave. */
export function watched(name: ClientName, mock: LLMock, options: ClientOptions = {}): Watched {
  const sent: string[] = [];
  const waits: number[] = [];
  const client = MAKE[name](`${mock.url}/v1`, {
    sleep: async (ms) => void waits.push(ms),
    ...options,
    fetch: (url, init) => {
      const body = new TextDecoder().decode(init?.body as Uint8Array);
      sent.push(body);
      expect(validateRequest(FORMATS[name], JSON.parse(body)), body).toEqual([]);
      return globalThis.fetch(url, init);
    },
  });
  return { client, sent, waits };
}
