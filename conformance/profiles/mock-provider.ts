/**
 * A third-party mock provider on a free local port, and our clients for it; every request is checked against our rules.
 */
import { LLMock, type MockServerOptions } from '@copilotkit/aimock';
import {
  anthropicMessages,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  type ProviderProfile,
  type TransportOptions,
  validateRequest,
  type WireFormat,
} from '@reprise/providers';
import { afterEach, expect } from 'vitest';

/** The clients of the mock provider. */
export const CLIENTS = ['openai-compatible', 'openai-responses', 'anthropic-messages'] as const;

/** A client of the mock provider. */
export type ClientName = (typeof CLIENTS)[number];

/** The options that a test may set on a client. */
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
  // The server ends with its last idle connection, seconds later; the test does not wait for it.
  for (const mock of open.splice(0)) void mock.stop();
});

/** Starts the mock provider. */
export async function mockProvider(options: MockServerOptions = {}): Promise<LLMock> {
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 4, ...options });
  await mock.start();
  open.push(mock);
  return mock;
}

/** A client of the mock provider that does not wait between retries. */
export interface Watched {
  readonly client: ModelClient;
  /** The bodies that were sent, each valid under our rules. */
  readonly sent: string[];
  /** The waits between retries that the client would have made. */
  readonly waits: number[];
}

/** Makes a client whose requests are checked when they are sent. */
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
