/**
 * The law of the prompt memory: a request that is assembled with what earlier calls have read is the request that is
 * assembled from content alone, byte for byte. Shared by the short form in the tests and the long one.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { putText, type TranscriptItem } from '@reprise/agent';
import type { Ref } from '@reprise/contracts';
import { type LlmGenerateParams, PROMPT_VERSION, type Value } from '@reprise/contracts';
import { type ContentStore, type ErasableContentStore, putValue } from '@reprise/kernel';
import fc from 'fast-check';
import { projectCall } from '../src/generate/assemble-request.js';
import { draftRequest, validateRequest, WIRE_FORMATS, type WireFormat } from '../src/generate/formats.js';
import type { ModelClient, ProviderProfile } from '../src/model/model.js';
import { PromptMemories, type PromptMemory } from '../src/prompt/memory.js';
import { writtenOf } from '../src/wire/request-fields.js';
import { anyProfile } from './prompt-laws.js';
import { anyTranscript, plant } from './transcripts.js';

/** One model call of a conversation: how many items there are, which of them are sent, and to which model. */
const anyCall = fc.record({
  /** How far the conversation has come, in parts of a thousand; calls are made in this order. */
  at: fc.nat(1_000),
  format: fc.constantFrom(...WIRE_FORMATS),
  profile: fc.nat(2),
  from: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8) }),
  pins: fc.array(fc.nat(8), { maxLength: 2 }),
  head: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  /** Whether it asks for a summary of the first items. */
  summarises: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  /** What happens before it: nothing, or some content is erased, or content that was gone comes back. */
  before: fc.oneof(
    { weight: 8, arbitrary: fc.constant(undefined) },
    {
      weight: 1,
      arbitrary: fc.record({ does: fc.constantFrom('erase' as const, 'return' as const), which: fc.nat() }),
    },
  ),
});

/** A conversation, the models that it is sent to, and its calls. */
export const anyConversation = fc.record({
  drawn: fc.array(anyTranscript, { minLength: 1, maxLength: 6 }),
  profiles: fc.tuple(anyProfile, anyProfile, anyProfile),
  calls: fc.array(anyCall, { minLength: 2, maxLength: 8 }),
});

/** A random conversation. */
export type Conversation = typeof anyConversation extends fc.Arbitrary<infer T> ? T : never;

/** Gives the memory of a world, as an adapter asks for it. */
export type MemoryOf = (scope: object, content: ContentStore) => Promise<PromptMemory>;

/** Checks the law for a conversation. Returns the number of compared requests. */
export async function holdMemory(
  { drawn, profiles, calls }: Conversation,
  memoryOf: MemoryOf = memoriesOf(),
): Promise<number> {
  const planted = await plant(drawn.flat());
  const { content, items } = planted;
  const log = new Log(content);
  const scope = {};
  let compared = 0;
  let frame = 2;
  try {
    for (const call of [...calls].sort((a, b) => a.at - b.at)) {
      await log.growTo(items.slice(0, Math.ceil((items.length * call.at) / 1_000)));
      if (call.before !== undefined) await happen(call.before, items, content as ErasableContentStore, frame++);
      const profile = profiles[call.profile] ?? profiles[0];
      const params = await paramsOf(call, log, content);
      const client = clientOf(call.format, profile);
      const plain = await projectCall(params, { content, client });
      const kept = await projectCall(params, { content, client, memory: await memoryOf(scope, content) });
      const [expected, actual] = [client.write(plain.request), client.write(kept.request)];
      const where = `call ${compared} in ${call.format}`;
      deepStrictEqual(text(actual.body), text(expected.body), where);
      deepStrictEqual([actual.prefixBytes, actual.warnings], [expected.prefixBytes, expected.warnings], where);
      deepStrictEqual([kept.warnings, kept.erased], [plain.warnings, plain.erased], where);
      const { body } = draftRequest(call.format, kept.request, { model: profile.model_default, profile });
      deepStrictEqual(validateRequest(call.format, body), [], where);
      compared++;
    }
    return compared;
  } finally {
    await planted.close();
  }
}

function memoriesOf(): MemoryOf {
  const memories = new PromptMemories();
  return (scope, content) => memories.of(scope, content);
}

function clientOf(format: WireFormat, profile: ProviderProfile): Pick<ModelClient, 'profile' | 'write'> {
  const target = { model: profile.model_default, profile };
  return { profile, write: (request) => writtenOf(draftRequest(format, request, target)) };
}

async function paramsOf(
  call: Conversation['calls'][number],
  log: Log,
  content: ContentStore,
): Promise<LlmGenerateParams> {
  const { count, head } = log;
  const from = Math.min(call.from, count);
  const summarise = {
    to: Math.min(count, from + 3),
    ask_ref: await putText(content, 'Summarize.'),
    ...(call.head === undefined ? {} : { head: call.head }),
  };
  return {
    model: 'main',
    session: { key: 'me', labels: {} },
    def_ref: await putText(content, 'def'),
    config_rev: 0,
    system_ref: await putText(content, 'Be brief.'),
    tools_ref: await putValue(content, [{ name: 'add', description: '', schema: { type: 'object' } }]),
    context_head: head,
    window: { from, pins: call.pins, ...(from === 0 ? {} : { base_ref: await putText(content, 'Before.') }) },
    ...(call.summarises ? { summarise } : {}),
    context: [],
    prompt: PROMPT_VERSION,
  };
}

/** Erases content that an item links, or stores the text of content that is not there. */
async function happen(
  { does, which }: NonNullable<Conversation['calls'][number]['before']>,
  items: readonly TranscriptItem[],
  content: ErasableContentStore,
  frame: number,
): Promise<void> {
  const links = items.flatMap(linksIn);
  const link = links[which % Math.max(1, links.length)];
  if (link === undefined) return;
  if (does === 'erase') await content.erase([link], frame);
  else await content.put(new TextEncoder().encode(`back ${which % 7}`));
}

function linksIn(thing: unknown): Ref[] {
  if (typeof thing !== 'object' || thing === null) return [];
  if ('hex' in thing) return [thing as Ref];
  return Object.values(thing).flatMap(linksIn);
}

const CHUNK_ITEMS = 32;

/** A log as the kernel writes it: full chunks, and heads that stand on each other. */
class Log {
  count = 0;
  #head: Ref | undefined;
  readonly #items: TranscriptItem[] = [];
  readonly #chunks: Ref[] = [];
  /** Whether a chunk was completed since the last head. */
  #isSealed = true;

  constructor(private readonly content: ContentStore) {}

  get head(): Ref {
    if (this.#head === undefined) throw new Error('the log has no head yet');
    return this.#head;
  }

  /** Adds the items that are missing and makes a head. */
  async growTo(items: readonly TranscriptItem[]): Promise<void> {
    const tail: TranscriptItem[] = [];
    for (const item of items.slice(this.count)) {
      this.#items.push(item);
      tail.push(item);
      this.count++;
      if (this.#items.length < CHUNK_ITEMS) continue;
      this.#chunks.push(await putValue(this.content, this.#items));
      this.#items.length = 0;
      this.#isSealed = true;
    }
    if (tail.length === 0 && this.#head !== undefined) return;
    const { count } = this;
    const levels: Value = this.#chunks.length === 0 ? [] : [this.#chunks];
    const whole = { count, levels, tail: this.#items };
    const on = { count, tail, before: this.#head };
    this.#head = await putValue(this.content, this.#isSealed ? whole : on);
    this.#isSealed = false;
  }
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
