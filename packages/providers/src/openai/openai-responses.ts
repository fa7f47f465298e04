import type { Value } from '@reprise/contracts';
import { toJson } from '../model/json.js';
import type { ModelClient, ProviderProfile } from '../model/model.js';
import { endpoint, type SecretText, type TransportOptions } from '../transport/transport.js';
import { IMAGES_AND_PDF } from '../wire/media-types.js';
import { type ProfileOptions, profileOf, wireClient } from '../wire/wire-client.js';
import { bearer } from './bearer.js';
import { type ResponsesDialect, toResponsesRequest } from './responses-request.js';
import { readResponse } from './responses-response.js';
import { checkResponsesRequest } from './responses-rules.js';
import { ResponsesStream } from './responses-stream.js';

/** What {@link openAiResponses} takes. */
export interface OpenAiResponsesOptions extends TransportOptions, ProfileOptions {
  /** The address before `/responses`. Default: OpenAI's own. */
  readonly baseUrl?: string;
  /** Sent as a bearer token. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /**
   * Tools that the provider runs itself, in its own form: `{ type: 'web_search' }`. No policy of the world sees what
   * they do; what they did is kept in the transcript and never dispatched.
   */
  readonly providerTools?: readonly Value[];
}

const BASE_URL = 'https://api.openai.com/v1';

/** What models of OpenAI can do. */
export const RESPONSES_PROFILE: Omit<ProviderProfile, 'model_default'> = Object.freeze({
  profile_id: 'openai-responses',
  provider: 'openai',
  supports_parallel_tool_calls: true,
  supports_reasoning_effort: true,
  supports_streaming: true,
  supports_tool_choice_named: true,
  media_types: IMAGES_AND_PDF,
});

/**
 * A model that speaks the responses protocol of OpenAI. Nothing is kept at the provider: each request says everything,
 * reasoning included, in the encrypted form that it came in.
 *
 * @param model its name at the provider
 * @throws RepriseError `invalid_argument` when the address is not one
 * @example openAiResponses('gpt-…', { apiKey: { secret: 'OPENAI_API_KEY' } })
 */
export function openAiResponses(model: string, options: OpenAiResponsesOptions = {}): ModelClient {
  const profile = profileOf(RESPONSES_PROFILE, options, model);
  const providerTools = (options.providerTools ?? []).map(toJson);
  const dialect: Omit<ResponsesDialect, 'profile'> = { model, providerTools };
  return wireClient({
    url: endpoint(options.baseUrl ?? BASE_URL, '/responses'),
    profile,
    options,
    ...bearer(options.apiKey),
    format: { stream: (scrubber, tell) => new ResponsesStream(scrubber, tell), read: readResponse },
    draft: (request, shown) => toResponsesRequest(request, { ...dialect, profile: shown }),
    check: checkResponsesRequest,
  });
}
