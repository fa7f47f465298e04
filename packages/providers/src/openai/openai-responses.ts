import type { Value } from '@reprise/contracts';
import { toJson } from '../model/json.js';
import type { ModelClient, ProviderProfile } from '../model/model.js';
import type { AnswerOptions, ProfileOptions } from '../model/profile-options.js';
import { IMAGES_AND_PDF, SENDABLE } from '../model/sendable.js';
import { COMMON_OPTIONS, clientOptions } from '../transport/client-options.js';
import { endpoint, type SecretText, type TransportOptions } from '../transport/transport.js';
import { profileOf, wireClient } from '../wire/wire-client.js';
import { bearer } from './bearer.js';
import { type ResponsesDialect, toResponsesRequest } from './responses-request.js';
import { readResponse, readResponsesUsage } from './responses-response.js';
import { checkResponsesRequest } from './responses-rules.js';
import { ResponsesStream } from './responses-stream.js';

/** The address and key of a server of the responses format. */
interface OpenAiResponsesOptions extends TransportOptions, ProfileOptions, AnswerOptions {
  /** The address before `/responses`. Default: OpenAI's own. */
  readonly baseUrl?: string;
  /** Sent as a bearer token. Prefer `{ secret: name }`. */
  readonly apiKey?: SecretText;
  /**
   * Tools that the provider runs itself, in its own form: `{ type: 'web_search' }`. The policies of the world do not
   * see these calls; the transcript stores what the tools did, and nothing is dispatched.
   */
  readonly providerTools?: readonly Value[];
}

const KNOWN = {
  ...COMMON_OPTIONS,
  baseUrl: true,
  providerTools: true,
} as const satisfies Record<keyof OpenAiResponsesOptions, true>;

const BASE_URL = 'https://api.openai.com/v1';

/** The default profile of OpenAI's models. */
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
 * Makes a client of a model that speaks OpenAI's responses protocol. The provider stores nothing: each request holds
 * the whole conversation, with reasoning in the encrypted form in which it came.
 *
 * @param model the model's name at the provider
 * @throws RepriseError `invalid_argument` when `baseUrl` is not a valid address, or another option is invalid
 * @example openAiResponses('gpt-…', { apiKey: { secret: 'OPENAI_API_KEY' } })
 */
export function openAiResponses(model: string, options: OpenAiResponsesOptions = {}): ModelClient {
  const transport = clientOptions(model, options, KNOWN, 'openAiResponses');
  const profile = profileOf(RESPONSES_PROFILE, options, model);
  const providerTools = (options.providerTools ?? []).map(toJson);
  const dialect: Omit<ResponsesDialect, 'profile'> = { model, providerTools };
  return wireClient({
    url: endpoint(options.baseUrl ?? BASE_URL, '/responses'),
    profile,
    sendable: SENDABLE['openai-responses'],
    options: transport,
    ...bearer(options.apiKey),
    format: {
      stream: (scrubber, tell) => new ResponsesStream(scrubber, tell),
      read: readResponse,
      usage: readResponsesUsage,
    },
    draft: (request, shown) => toResponsesRequest(request, { ...dialect, profile: shown }),
    check: checkResponsesRequest,
  });
}
