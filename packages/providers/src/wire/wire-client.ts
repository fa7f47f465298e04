/** A model behind HTTP, in any format: writes a request, checks it, sends it, reads the answer. */

import { requirePrice } from '@reprise/agent/model';
import { present } from '@reprise/contracts';
import type { ModelClient, ModelContext, ModelResult, ProviderProfile, UnifiedRequest } from '../model/model.js';
import type { AnswerOptions, ProfileOptions } from '../model/profile-options.js';
import type { Sendable } from '../model/sendable.js';
import type { Verdict } from '../model/verdict.js';
import { type Asking, ask, failed, type TransportOptions } from '../transport/transport.js';
import { type AnswerFormat, FormatReader } from './answer-reader.js';
import { type Draft, writtenOf } from './request-fields.js';
import type { RequestIssue } from './request-rules.js';

/** The parts of a client of a format. */
interface WireClient extends Pick<Asking, 'url' | 'key' | 'headers'> {
  readonly profile: ProviderProfile;
  /** Which kinds of content a request of this format carries. */
  readonly sendable: Sendable;
  readonly options: TransportOptions & AnswerOptions;
  readonly format: AnswerFormat;
  /** Writes a request for a profile. */
  draft(request: UnifiedRequest, profile: ProviderProfile): Draft;
  /** The rules of the format. */
  check(body: unknown): RequestIssue[];
}

/** Makes a client of a format. */
export function wireClient(client: WireClient): ModelClient {
  const { profile, sendable, url } = client;
  return {
    profile,
    sendable,
    server: new URL(url).hostname,
    write: (request) => writtenOf(client.draft(request, profile)),
    generate: (request, context) => generate(client, request, context),
  };
}

/**
 * Builds a profile: a format's defaults, this model's abilities, its price, and its name.
 *
 * @throws RepriseError `invalid_argument` when the price is invalid
 */
export function profileOf(
  defaults: Omit<ProviderProfile, 'model_default'>,
  given: ProfileOptions,
  model: string,
): ProviderProfile {
  const price = given.price ?? given.profile?.price;
  if (price !== undefined) requirePrice(price, `model ${model}`);
  return Object.freeze({
    ...defaults,
    ...given.profile,
    ...(price === undefined ? {} : { price: Object.freeze({ ...price }) }),
    model_default: model,
  });
}

async function generate(client: WireClient, request: UnifiedRequest, context: ModelContext): Promise<ModelResult> {
  const { url, key, headers, options, format, profile } = client;
  const draft = client.draft(request, profile);
  const refused = invalidRequest(client, request, draft, context);
  if (refused !== undefined) return refused;
  const written = writtenOf(draft);
  return ask({
    url,
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers }),
    options,
    written,
    context,
    reader: (scrubber) =>
      new FormatReader({
        ...{ format, written, context, idsInUse: callIdsOf(request), scrubber },
        ...present({ repeatedCalls: options.repeatedCalls }),
      }),
  });
}

/** The call ids in a request's history. */
export function callIdsOf({ messages }: UnifiedRequest): string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? message.calls.map(({ callId }) => callId) : []));
}

const INVALID_REQUEST: Verdict = {
  failure: { status: 'error', code: 'internal_invariant_violation/request' },
  again: false,
};

/** The failure of a request that breaks our rules; the request is not sent. */
export function invalidRequest(
  client: Pick<WireClient, 'profile' | 'draft' | 'check'>,
  request: UnifiedRequest,
  draft: Draft,
  context: ModelContext,
): ModelResult | undefined {
  const problems = problemsOf(client, request, draft);
  if (problems.length === 0) return undefined;
  context.progress({ type: 'request_refused', problems: problems.slice(0, 10) });
  return failed(INVALID_REQUEST);
}

/** The problems of the requests that we write. The provider judges native options. */
function problemsOf(
  client: Pick<WireClient, 'profile' | 'draft' | 'check'>,
  request: UnifiedRequest,
  draft: Draft,
): string[] {
  const { provider_options_default: byDefault, ...profile } = client.profile;
  const { providerOptions: given, ...ours } = request;
  const { body } = byDefault === undefined && given === undefined ? draft : client.draft(ours, profile);
  return client.check(body).map(({ rule, at }) => `${rule} at ${at}`);
}
