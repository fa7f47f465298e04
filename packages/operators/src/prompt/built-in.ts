/**
 * Clients that write requests in the formats that Reprise brings, for calls whose own client is not at hand. Which options
 * the app gave its client is not recorded, so several are tried: the digest of the receipt says which one wrote the
 * bytes. They write and never send.
 */
import type { AskedModel } from '@reprise/contracts';
import {
  aiSdk,
  anthropicMessages,
  type ModelClient,
  openAiCompatible,
  openAiResponses,
  type ProviderProfile,
  relay,
  script,
} from '@reprise/providers';

/** A client that may have written a request. */
export interface Candidate {
  readonly writer: string;
  readonly client: Pick<ModelClient, 'profile' | 'sendable' | 'write'>;
}

type Profile = Partial<Omit<ProviderProfile, 'model_default'>>;

/** An address for clients that only write: no request goes there. */
const NOWHERE = 'http://localhost';

/** The images and documents that a model of a chat server may read, where its profile says so. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** The clients that may have written a request to this model, the likeliest first. */
export function candidatesFor(asked: AskedModel): readonly Candidate[] {
  const { profile: id } = asked;
  const all = FAMILIES.flatMap(({ writer, make }) =>
    make(asked).map((client) => ({ writer, client: renamed(client, asked) })),
  );
  const known = all.filter(({ writer }) => writer === id || id.startsWith(`${writer}/`));
  // An app may give a client another name: then any of them may have written it, and the digest decides.
  return known.length > 0 ? known : all;
}

/** A client under the names that the receipt has: parts that only one model reads depend on them. */
function renamed(client: ModelClient, { profile, model, provider }: AskedModel): ModelClient {
  const named = { profile_id: profile, model_default: model, ...(provider === undefined ? {} : { provider }) };
  return { ...client, profile: { ...client.profile, ...named } };
}

interface Family {
  readonly writer: string;
  make(asked: AskedModel): readonly ModelClient[];
}

const STREAMS: readonly Profile[] = [{}, { supports_streaming: false }];

const FAMILIES: readonly Family[] = [
  { writer: 'script', make: () => [script()] },
  { writer: 'relay', make: () => [relay()] },
  {
    writer: 'openai-compatible',
    make: ({ model }) =>
      [...STREAMS, ...STREAMS.map((profile): Profile => ({ ...profile, media_types: IMAGES }))].flatMap((profile) =>
        (['max_tokens', 'max_completion_tokens'] as const).flatMap((maxTokensField) =>
          [false, true].map((returnReasoning) =>
            openAiCompatible({ baseUrl: NOWHERE, model, maxTokensField, returnReasoning, profile }),
          ),
        ),
      ),
  },
  {
    writer: 'openai-responses',
    make: ({ model }) => STREAMS.map((profile) => openAiResponses(model, { baseUrl: NOWHERE, profile })),
  },
  {
    writer: 'anthropic-messages',
    make: ({ model }) =>
      STREAMS.flatMap((profile) =>
        ([undefined, '5m', '1h'] as const).map((cache) =>
          anthropicMessages(model, { baseUrl: NOWHERE, profile, ...(cache === undefined ? {} : { cache }) }),
        ),
      ),
  },
  {
    writer: 'ai-sdk',
    make: ({ model, provider = '' }) =>
      (['v4', 'v3', 'v2'] as const).flatMap((specificationVersion) =>
        STREAMS.map((profile) =>
          aiSdk({ specificationVersion, provider, modelId: model, doGenerate: silent, doStream: silent }, { profile }),
        ),
      ),
  },
];

/** Such a model is never called. */
function silent(): Promise<never> {
  return Promise.reject(new Error('this client only writes'));
}
