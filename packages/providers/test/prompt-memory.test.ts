import type { TranscriptItem } from '@reprise/agent';
import { putText } from '@reprise/agent';
import { type ErasableContentStore, memory, putValue } from '@reprise/kernel';
import { readLogParts } from '@reprise/kernel/store';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { Derived } from '../src/model/steady.js';
import { assemblePrompt } from '../src/prompt/assemble-prompt.js';
import { type ItemDrafts, PromptMemories, PromptMemory } from '../src/prompt/memory.js';
import { TwoGenerations } from '../src/prompt/two-generations.js';
import { pngOf } from './media.js';
import { anyConversation, type Conversation, holdMemory, type MemoryOf } from './prompt-memory-laws.js';

const SEED = 51;

/** A wrong memory is found within so many; the right one is tried with a part of them. */
const RUNS = 300;

/** The first conversation that a memory gets wrong. */
async function found(memoryOf?: () => MemoryOf, numRuns = RUNS): Promise<unknown> {
  const law = fc.asyncProperty(anyConversation, async (drawn: Conversation) => {
    await holdMemory(drawn, memoryOf?.());
  });
  const { failed, error } = (await fc.check(law, { seed: SEED, numRuns, endOnFailure: true })) as {
    failed: boolean;
    error?: unknown;
  };
  return failed ? (error ?? 'failed') : undefined;
}

const of = (make: () => PromptMemory) => (): MemoryOf => {
  const only = make();
  return async () => only;
};

afterEach(() => vi.restoreAllMocks());

describe('the memory of prompts', () => {
  it(`a request with what earlier calls have read is the request from content alone, in all formats (seed ${SEED}) [MOD-12]`, async () => {
    expect(await found(undefined, RUNS / stepOf(6))).toBeUndefined();
  });

  it(`a memory with room for little gives the same requests (seed ${SEED})`, async () => {
    const memories = () => {
      let last: { through: number; memory: PromptMemory } | undefined;
      return (async (_scope, content) => {
        const through = await content.erasedThrough();
        if (last?.through !== through) last = { through, memory: new PromptMemory(20_000) };
        return last.memory;
      }) as MemoryOf;
    };
    expect(await found(memories, RUNS / stepOf(6))).toBeUndefined();
  });

  it.each<[string, () => MemoryOf]>([
    ['forgets that content was erased', of(() => new PromptMemory())],
    [
      'mixes the drafts of different models and options',
      () => {
        const memories = new PromptMemories();
        const mixed = new Map<PromptMemory, PromptMemory>();
        return async (scope, content) => {
          const real = await memories.of(scope, content);
          mixed.set(real, mixed.get(real) ?? mixing(real));
          return mixed.get(real) ?? real;
        };
      },
    ],
  ])('a memory that %s is found', async (_, mutant) => {
    expect(await found(mutant)).toBeDefined();
  });

  it.each<[string, (of: typeof Derived.prototype.of) => typeof Derived.prototype.of]>([
    [
      'ignores the key',
      (real) =>
        function (this: never, first, others, _key, make) {
          return real.call(this, first, others, '', make);
        },
    ],
    [
      'ignores all objects but the first',
      (real) =>
        function (this: never, first, _others, key, make) {
          return real.call(this, first, [], key, make);
        },
    ],
  ])('a derivation that %s is found', async (_, mutant) => {
    const real = Derived.prototype.of;
    vi.spyOn(Derived.prototype, 'of').mockImplementation(mutant(real));
    expect(await found()).toBeDefined();
  });
});

/** A memory that finds the drafts of an item whatever they were made for. */
function mixing(real: PromptMemory): PromptMemory {
  const made = new WeakMap<object, ItemDrafts>();
  return Object.assign(Object.create(PromptMemory.prototype) as PromptMemory, {
    node: (...given: Parameters<PromptMemory['node']>) => real.node(...given),
    drafts: (item: TranscriptItem) => made.get(item),
    keep: (item: TranscriptItem, _: string, drafts: ItemDrafts) => void made.set(item, drafts),
  });
}

describe('what a memory of prompts keeps', () => {
  it('the content of an item is read once, also after its chunk was completed', async () => {
    const { content } = await memory().open();
    const user = (n: number) => putText(content, `text ${n}`).then((text_ref) => said(text_ref));
    const items = await Promise.all(Array.from({ length: 32 }, (_, n) => user(n)));
    const tail = await putValue(content, { count: 31, levels: [], tail: items.slice(0, 31) });
    const whole = await putValue(content, { count: 32, levels: [[await putValue(content, items)]], tail: [] });
    const get = vi.spyOn(content, 'get');
    const kept = new PromptMemory();
    const send = async (head: typeof tail) => {
      get.mockClear();
      const found: TranscriptItem[] = [];
      const parts = readLogParts((ref) => kept.node(content, ref), head);
      for (let part = await parts.next(); part !== undefined; part = await parts.next())
        found.push(...(part as never[]));
      const { messages } = await assemblePrompt(content, found, TARGET, kept);
      return { messages, reads: get.mock.calls.length };
    };
    expect((await send(tail)).reads).toBe(1 + 31);
    expect((await send(tail)).reads).toBe(0);
    const after = await send(whole);
    expect(after.reads).toBe(2 + 1); // the head, the chunk, and the last item
    expect(after.messages).toEqual((await assemblePrompt(content, items, TARGET)).messages);
  });

  it('an item whose text reads like the link of another is not taken for it', async () => {
    const { content } = await memory().open();
    const link = await putText(content, 'text');
    const told = said(link.toString() as never);
    const kept = new PromptMemory();
    const list = await kept.node(content, await putValue(content, [said(link), told, said(link)]));
    const items = list as unknown as readonly TranscriptItem[];
    expect(items).toEqual([said(link), told, said(link)]);
    expect(items[2]).toBe(items[0]);
    kept.keep(items[1] as TranscriptItem, 'key', { drafts: [], losses: [] });
    expect(kept.drafts(items[0] as TranscriptItem, 'key')).toBeUndefined();
  });

  it('an image is read for each request: its bytes could be written to', async () => {
    const { content } = await memory().open();
    const blob_ref = await content.put(pngOf());
    const image: TranscriptItem = {
      role: 'user',
      origin: 'input',
      parts: [{ kind: 'blob', blob_ref, view: 'full', media_type: 'image/png' }],
    };
    const head = await putValue(content, { count: 1, levels: [], tail: [image] });
    const kept = new PromptMemory();
    const { tail } = (await kept.node(content, head)) as unknown as { tail: TranscriptItem[] };
    const target = { ...TARGET, mediaTypes: ['image/png'] };
    const [first] = (await assemblePrompt(content, tail, target, kept)).messages;
    (first as unknown as { parts: { bytes: Uint8Array }[] }).parts[0]?.bytes.fill(0);
    const [again] = (await assemblePrompt(content, tail, target, kept)).messages;
    expect(again).toMatchObject({ parts: [{ bytes: pngOf() }] });
  });

  it('a client cannot change what later requests hold', async () => {
    const { content } = await memory().open();
    const head = await putValue(content, { count: 1, levels: [], tail: [said(await putText(content, 'Go'))] });
    const kept = new PromptMemory();
    const { tail } = (await kept.node(content, head)) as unknown as { tail: TranscriptItem[] };
    const [message] = (await assemblePrompt(content, tail, TARGET, kept)).messages;
    expect(() => {
      (message as unknown as { parts: { text: string }[] }).parts[0] = { text: 'Stop' };
    }).toThrow(TypeError);
  });

  it('nothing is kept beyond an erasure, and each world has a memory of its own', async () => {
    const open = await memory().open();
    const content = open.content as ErasableContentStore;
    const memories = new PromptMemories();
    const [one, other] = [{}, {}];
    const first = await memories.of(one, content);
    expect(await memories.of(one, content)).toBe(first);
    expect(await memories.of(other, content)).not.toBe(first);
    await content.erase([await putText(content, 'secret')], 1);
    expect(await memories.of(one, content)).not.toBe(first);
  });

  it('a memory stays within its bound and keeps what is used', () => {
    const map = new TwoGenerations<number>(1_000);
    for (let n = 0; n < 200; n++) {
      map.set(`n${n}`, n, 50);
      expect(map.get('n0')).toBe(0);
    }
    const left = Array.from({ length: 200 }, (_, n) => map.get(`n${n}`)).filter((n) => n !== undefined);
    expect(left.length).toBeLessThanOrEqual(1_000 / 50);
    expect(left).toContain(199);
    map.set('large', 1, 501);
    expect(map.get('large')).toBeUndefined();
    map.grow('n199', 451);
    expect(map.get('n199')).toBeUndefined();
    expect(map.get('n198')).toBe(198);
  });
});

const TARGET = { profile: 'p', model: 'm', parallelCalls: true };

function said(text_ref: Awaited<ReturnType<typeof putText>>): TranscriptItem {
  return { role: 'user', origin: 'input', parts: [{ kind: 'text', text_ref }] };
}
