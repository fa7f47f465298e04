/** The three protocols of which wire bytes are recorded: their clients, their rules, and how their requests are read. */
import {
  anthropicMessages,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  type TransportOptions,
  type WireFormat,
} from '@reprise/providers';

/** The content of a request, whatever its protocol: enough to find the answer of the scenario. */
export interface Asked {
  /** The instructions of the model. */
  readonly system: string;
  /** The number of texts and calls of the model so far. */
  readonly said: number;
}

/** A protocol. */
export interface WireProfile {
  readonly format: WireFormat;
  /** A client that waits for nothing between retries. */
  client(wire: { readonly baseUrl: string; readonly fetch: typeof globalThis.fetch }): ModelClient;
  read(body: RequestBody): Asked;
}

interface RequestItem {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
}

/** The part of a request's body that is read here. */
export interface RequestBody {
  readonly messages?: readonly RequestItem[];
  readonly input?: readonly RequestItem[];
  readonly instructions?: unknown;
  readonly system?: unknown;
}

const impatient: Pick<TransportOptions, 'sleep'> = { sleep: async () => undefined };
const isOfModel = ({ role, type }: RequestItem): boolean => role === 'assistant' || type === 'function_call';
const isSystem = ({ role }: RequestItem): boolean => role === 'system' || role === 'developer';

/** By name, as tables show them. */
export const WIRE_PROFILES = {
  'openai-responses': {
    format: 'openai-responses',
    client: (wire) => openAiResponses('gpt-5', { ...wire, ...impatient }),
    read: ({ instructions, input = [] }) => ({
      system: JSON.stringify([instructions, input.filter(isSystem)]),
      said: input.filter(isOfModel).length,
    }),
  },
  'anthropic-messages': {
    format: 'anthropic-messages',
    client: (wire) => anthropicMessages('claude-sonnet-4-5', { ...wire, ...impatient }),
    read: ({ system, messages = [] }) => ({
      system: JSON.stringify(system),
      said: messages.filter(isOfModel).length,
    }),
  },
  'openai-compatible': {
    format: 'openai-chat',
    client: (wire) => openAiCompatible({ model: 'gpt-5', ...wire, ...impatient }),
    read: ({ messages = [] }) => ({
      system: JSON.stringify(messages.filter(isSystem)),
      said: messages.filter(isOfModel).length,
    }),
  },
} as const satisfies Readonly<Record<string, WireProfile>>;

/** The name of a protocol. */
export type ProfileName = keyof typeof WIRE_PROFILES;

/** Their names. */
export const PROFILE_NAMES = Object.keys(WIRE_PROFILES) as readonly ProfileName[];
