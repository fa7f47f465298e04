/** The laws of the prompt assembly, for any transcript: shared by the short form in the tests and the long one. */
import { deepStrictEqual } from 'node:assert/strict';
import type { TranscriptItem } from '@reprise/agent';
import type { Value } from '@reprise/contracts';
import fc from 'fast-check';
import { toMessagesRequest } from '../src/anthropic/messages-request.js';
import { draftRequest, validateRequest, WIRE_FORMATS, type WireFormat } from '../src/generate/formats.js';
import type { ProviderProfile, UnifiedRequest } from '../src/model/model.js';
import { assemblePrompt } from '../src/prompt/assemble-prompt.js';
import { type Draft, writtenOf } from '../src/wire/request-fields.js';
import { type Planted, plant } from './transcripts.js';

/** Random parameters of a call, valid or not. */
export const anyOptions = fc.record(
  {
    system: fc.string({ maxLength: 20 }),
    maxTokens: fc.integer({ min: 1, max: 100_000 }),
    temperature: fc.double({ noNaN: true }),
    toolChoice: fc.constantFrom('auto', 'none', 'required', 'add', 'absent'),
    reasoningEffort: fc.constantFrom('low' as const, 'medium' as const, 'high' as const),
    stopSequences: fc.array(fc.string({ maxLength: 5 }), { maxLength: 16 }),
    metadata: fc.dictionary(fc.string({ maxLength: 64 }), fc.string({ maxLength: 512 }), { maxKeys: 20 }),
    tools: fc.array(
      fc.record({
        name: fc.constantFrom('add', 'grep', 'bad name', 'x'.repeat(80)),
        description: fc.string(),
        schema: fc.oneof(
          fc.constantFrom<Value>(
            { type: 'object', properties: { a: {} } },
            { type: 'object', anyOf: [] },
            { type: 'array', properties: [] },
          ),
          fc.jsonValue({ maxDepth: 1 }),
        ),
      }),
      { maxLength: 4 },
    ),
  },
  { requiredKeys: ['system', 'tools'] },
) as fc.Arbitrary<Omit<UnifiedRequest, 'messages'>>;

/** A random profile. */
export const anyProfile: fc.Arbitrary<ProviderProfile> = fc.record({
  media_types: fc.constantFrom<readonly string[]>([], ['image/png']),
  profile_id: fc.constantFrom('one', 'two'),
  provider: fc.constant('p'),
  model_default: fc.constantFrom('m', 'n'),
  supports_parallel_tool_calls: fc.boolean(),
  supports_reasoning_effort: fc.boolean(),
  supports_streaming: fc.boolean(),
  supports_tool_choice_named: fc.boolean(),
});

/** All inputs of a call except its transcript. */
export interface Call {
  readonly options: Omit<UnifiedRequest, 'messages'>;
  readonly profile: ProviderProfile;
}

/** A way to write requests: a format with its client's default options or with others. */
interface Way {
  readonly name: string;
  readonly format: WireFormat;
  readonly draft: (request: UnifiedRequest, target: Parameters<typeof draftRequest>[2]) => Draft;
}

const budget = { maxTokensDefault: 8_192, effort: 'budget', cache: '5m' } as const;

const WAYS: readonly Way[] = [
  ...WIRE_FORMATS.map(
    (format): Way => ({ name: format, format, draft: (request, target) => draftRequest(format, request, target) }),
  ),
  ...(['v2', 'v4'] as const).map(
    (specification): Way => ({
      name: `ai-sdk ${specification}`,
      format: 'ai-sdk',
      draft: (request, target) => draftRequest('ai-sdk', request, { ...target, specification }),
    }),
  ),
  {
    name: 'anthropic-messages, by budget',
    format: 'anthropic-messages',
    draft: (request, target) => toMessagesRequest(request, { ...target, ...budget }),
  },
];

async function bodyOf({ draft }: Way, { content }: Planted, items: readonly TranscriptItem[], call: Call) {
  const { options, profile } = call;
  const target = {
    profile: profile.profile_id,
    model: profile.model_default,
    parallelCalls: profile.supports_parallel_tool_calls,
    mediaTypes: profile.media_types ?? [],
  };
  const { messages } = await assemblePrompt(content, items, target);
  return writtenOf(draft({ ...options, messages }, { model: profile.model_default, profile }));
}

/** Checks that a request of any transcript breaks no rule of any format. Returns the number of checked requests. */
export async function holdTotality(drawn: readonly unknown[], call: Call): Promise<number> {
  const planted = await plant(drawn);
  try {
    for (const way of WAYS) {
      const { body } = await bodyOf(way, planted, planted.items, call);
      const data: unknown = JSON.parse(new TextDecoder().decode(body));
      deepStrictEqual(validateRequest(way.format, data), [], `${way.name}: ${new TextDecoder().decode(body)}`);
    }
    return WAYS.length;
  } finally {
    await planted.close();
  }
}

/**
 * Checks that the request before an answer is a byte prefix of every later one. Returns the number of compared pairs.
 * Options that depend on the end of a history, thinking and the placeholder tool, are left out.
 */
export async function holdPrefix(drawn: readonly unknown[], call: Call): Promise<number> {
  const planted = await plant(drawn);
  const tools = [{ name: 'add', description: '', schema: { type: 'object' } }];
  const { reasoningEffort: _, ...options } = { ...call.options, tools };
  let compared = 0;
  try {
    const cuts = planted.items.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []));
    for (const way of WAYS) {
      const whole = await bodyOf(way, planted, planted.items, { ...call, options });
      for (const cut of cuts) {
        const earlier = await bodyOf(way, planted, planted.items.slice(0, cut), { ...call, options });
        const length = earlier.prefixBytes;
        const [begins, beginning] = [whole.body.subarray(0, length), earlier.body.subarray(0, length)];
        deepStrictEqual(text(begins), text(beginning), `${way.name}: cut at ${cut}`);
        compared++;
      }
    }
    return compared;
  } finally {
    await planted.close();
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
