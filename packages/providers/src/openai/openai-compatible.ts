import { fieldsOf } from '@reprise/contracts';
import type { ModelClient, ProviderProfile } from '../model/model.js';
import type { AnswerOptions, ProfileOptions } from '../model/profile-options.js';
import { SENDABLE } from '../model/sendable.js';
import { COMMON_OPTIONS, clientOptions } from '../transport/client-options.js';
import { endpoint, type SecretText, type TransportOptions } from '../transport/transport.js';
import { profileOf, wireClient } from '../wire/wire-client.js';
import { bearer } from './bearer.js';
import { type ChatDialect, toChatRequest } from './chat-request.js';
import { readChatUsage, readCompletion } from './chat-response.js';
import { checkChatRequest } from './chat-rules.js';
import { ChatStream } from './chat-stream.js';

/** The address, key and dialect of a server of the chat format. */
export interface OpenAiCompatibleOptions extends TransportOptions, ProfileOptions, AnswerOptions {
  /** The address before `/chat/completions`, for example `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** The model's name at that address. */
  readonly model: string;
  /** Sent as a bearer token. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /** The field of the bound on output tokens; `max_tokens` when absent. */
  readonly maxTokensField?: ChatDialect['maxTokensField'];
  /** Whether the model's reasoning is sent back to it; some servers require this, others refuse it. Default false. */
  readonly returnReasoning?: boolean;
}

const KNOWN = {
  ...COMMON_OPTIONS,
  baseUrl: true,
  model: true,
  maxTokensField: true,
  returnReasoning: true,
} as const satisfies Record<keyof OpenAiCompatibleOptions, true>;

/** The default profile of a server of this format. */
export const CHAT_PROFILE: Omit<ProviderProfile, 'model_default'> = Object.freeze({
  profile_id: 'openai-compatible',
  provider: 'openai-compatible',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: false,
  supports_streaming: true,
  supports_tool_choice_named: true,
});

/**
 * Makes a client of an HTTP endpoint that speaks chat-completions: OpenAI, and nearly every gateway and local server.
 *
 * @throws RepriseError `invalid_argument` when `baseUrl` is not a valid address, or another option is invalid
 * @example openAiCompatible({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-…', apiKey: { secret: 'OPENAI_API_KEY' } })
 */
export function openAiCompatible(options: OpenAiCompatibleOptions): ModelClient {
  const transport = clientOptions(fieldsOf(options).model, options, KNOWN, 'openAiCompatible');
  const profile = profileOf(CHAT_PROFILE, options, options.model);
  const dialect: Omit<ChatDialect, 'profile'> = {
    model: options.model,
    maxTokensField: options.maxTokensField ?? 'max_tokens',
    returnReasoning: options.returnReasoning ?? false,
  };
  return wireClient({
    url: endpoint(options.baseUrl, '/chat/completions'),
    profile,
    sendable: SENDABLE['openai-chat'],
    options: transport,
    ...bearer(options.apiKey),
    format: { stream: (scrubber, tell) => new ChatStream(scrubber, tell), read: readCompletion, usage: readChatUsage },
    draft: (request, shown) => toChatRequest(request, { ...dialect, profile: shown }),
    check: checkChatRequest,
  });
}
