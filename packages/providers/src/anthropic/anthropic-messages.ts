import type { Value } from '@reprise/contracts';
import { toJson } from '../model/json.js';
import type { ModelClient, ProviderProfile } from '../model/model.js';
import { endpoint, type SecretText, type TransportOptions } from '../transport/transport.js';
import { IMAGES_AND_PDF } from '../wire/media-types.js';
import { type ProfileOptions, profileOf, wireClient } from '../wire/wire-client.js';
import { MAX_TOKENS_DEFAULT, type MessagesDialect, toMessagesRequest } from './messages-request.js';
import { readMessage } from './messages-response.js';
import { checkMessagesRequest } from './messages-rules.js';
import { MessagesStream } from './messages-stream.js';

/** What {@link anthropicMessages} takes. */
export interface AnthropicMessagesOptions extends TransportOptions, ProfileOptions {
  /** The address before `/messages`. Default: Anthropic's own. */
  readonly baseUrl?: string;
  /** Sent as `x-api-key`. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /** Sent as `anthropic-version`. Default `2023-06-01`. */
  readonly version?: string;
  /** Names of previews to take part in, sent as `anthropic-beta`. */
  readonly betas?: readonly string[];
  /** How many tokens an answer may have where a call says none: the format demands a number. Default 8,192. */
  readonly maxTokensDefault?: number;
  /** How a model is told its effort: `adaptive` by a word, `budget`, for older models, by a number of tokens. */
  readonly effort?: MessagesDialect['effort'];
  /** Asks the provider to keep what a request begins with, for so long; the next step is then charged for little. */
  readonly cache?: '5m' | '1h';
  /**
   * Tools that the provider runs itself, in its own form: `{ type: 'web_search_20250305', name: 'web_search' }`. No
   * policy of the world sees what they do; what they did is kept in the transcript and never dispatched.
   */
  readonly providerTools?: readonly Value[];
}

const BASE_URL = 'https://api.anthropic.com/v1';
const VERSION = '2023-06-01';

/** What models of Anthropic can do. */
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
 * A model that speaks the messages protocol of Anthropic.
 *
 * @param model its name at the provider
 * @throws RepriseError `invalid_argument` when the address is not one
 * @example anthropicMessages('claude-…', { apiKey: { secret: 'ANTHROPIC_API_KEY' } })
 */
export function anthropicMessages(model: string, options: AnthropicMessagesOptions = {}): ModelClient {
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
    options,
    ...(apiKey === undefined ? {} : { key: { header: 'x-api-key', prefix: '', text: apiKey } }),
    headers: {
      'anthropic-version': options.version ?? VERSION,
      ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
    },
    format: { stream: (scrubber, tell) => new MessagesStream(scrubber, tell), read: readMessage },
    draft: (request, shown) => toMessagesRequest(request, { ...dialect, profile: shown }),
    check: checkMessagesRequest,
  });
}
