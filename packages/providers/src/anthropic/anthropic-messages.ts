import type { Value } from '@reprise/contracts';
import { toJson } from '../model/json.js';
import type { ModelClient, ProviderProfile } from '../model/model.js';
import type { AnswerOptions, ProfileOptions } from '../model/profile-options.js';
import { IMAGES_AND_PDF, SENDABLE } from '../model/sendable.js';
import { COMMON_OPTIONS, clientOptions } from '../transport/client-options.js';
import { endpoint, type SecretText, type TransportOptions } from '../transport/transport.js';
import { profileOf, wireClient } from '../wire/wire-client.js';
import { MAX_TOKENS_DEFAULT, type MessagesDialect, toMessagesRequest } from './messages-request.js';
import { readMessage, readMessagesUsage } from './messages-response.js';
import { checkMessagesRequest } from './messages-rules.js';
import { MessagesStream } from './messages-stream.js';

/** The address, key and dialect of a server of the messages format. */
interface AnthropicMessagesOptions extends TransportOptions, ProfileOptions, AnswerOptions {
  /** The address before `/messages`. Default: Anthropic's own. */
  readonly baseUrl?: string;
  /** Sent as `x-api-key`. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /** Sent as `anthropic-version`. Default `2023-06-01`. */
  readonly version?: string;
  /** Names of beta features, sent as `anthropic-beta`. */
  readonly betas?: readonly string[];
  /** The token limit of an answer when a call has none: the format requires a number. Default 8,192. */
  readonly maxTokensDefault?: number;
  /** How the effort is sent: `adaptive` as a word, or `budget` as a number of tokens for older models. */
  readonly effort?: MessagesDialect['effort'];
  /** Asks the provider to cache the start of each request for this long; the next step then costs less. */
  readonly cache?: '5m' | '1h';
  /**
   * Tools that the provider runs itself, in its own form: `{ type: 'web_search_20250305', name: 'web_search' }`. The
   * policies of the world do not see these calls; the transcript stores what the tools did, and nothing is dispatched.
   */
  readonly providerTools?: readonly Value[];
}

const KNOWN = {
  ...COMMON_OPTIONS,
  baseUrl: true,
  version: true,
  betas: true,
  maxTokensDefault: true,
  effort: true,
  cache: true,
  providerTools: true,
} as const satisfies Record<keyof AnthropicMessagesOptions, true>;

const BASE_URL = 'https://api.anthropic.com/v1';
const VERSION = '2023-06-01';

/** The default profile of Anthropic's models. */
export const MESSAGES_PROFILE: Omit<ProviderProfile, 'model_default'> = Object.freeze({
  profile_id: 'anthropic-messages',
  provider: 'anthropic',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: true,
  supports_streaming: true,
  supports_tool_choice_named: true,
  media_types: IMAGES_AND_PDF,
});

/**
 * Makes a client of a model that speaks Anthropic's messages protocol.
 *
 * @param model the model's name at the provider
 * @throws RepriseError `invalid_argument` when `baseUrl` is not a valid address, or another option is invalid
 * @example anthropicMessages('claude-…', { apiKey: { secret: 'ANTHROPIC_API_KEY' } })
 */
export function anthropicMessages(model: string, options: AnthropicMessagesOptions = {}): ModelClient {
  const transport = clientOptions(model, options, KNOWN, 'anthropicMessages');
  const { apiKey, betas = [], cache } = options;
  const profile = profileOf(MESSAGES_PROFILE, options, model);
  const dialect: Omit<MessagesDialect, 'profile'> = {
    model,
    maxTokensDefault: options.maxTokensDefault ?? MAX_TOKENS_DEFAULT,
    effort: options.effort ?? 'adaptive',
    providerTools: (options.providerTools ?? []).map(toJson),
    ...(cache === undefined ? {} : { cache }),
  };
  return wireClient({
    url: endpoint(options.baseUrl ?? BASE_URL, '/messages'),
    profile,
    sendable: SENDABLE['anthropic-messages'],
    options: transport,
    ...(apiKey === undefined ? {} : { key: { header: 'x-api-key', prefix: '', text: apiKey } }),
    headers: {
      'anthropic-version': options.version ?? VERSION,
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
    },
    format: {
      stream: (scrubber, tell) => new MessagesStream(scrubber, tell),
      read: readMessage,
      usage: readMessagesUsage,
    },
    draft: (request, shown) => toMessagesRequest(request, { ...dialect, profile: shown }),
    check: checkMessagesRequest,
  });
}
