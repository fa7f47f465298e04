/** Our own adapters under the test suite of their port: a model behind HTTP, and tools that call a service. */
import {
  buildOf,
  defineTool,
  type Judge,
  putText,
  type Tool,
  type TranscriptItem,
  toolCallAdapter,
} from '@reprise/agent';
import { type LlmGenerateParams, type LlmGenerateReceipt, PROMPT_VERSION } from '@reprise/contracts';
import { type ContentStore, getValue, putValue } from '@reprise/kernel';
import { llmGenerateAdapter, openAiCompatible } from '@reprise/providers';
import { type AdapterSubject, testAdapter } from '@reprise/testkit/ports';
import { describe, it } from 'vitest';
import * as z from 'zod';

const trusting: Judge = {
  calls: async () => [],
  returns: async () => undefined,
  context: async () => [],
};

/** A provider that echoes the question and the key that it received: the key must not be stored. */
function provider() {
  const waiting = new Map<string, () => void>();
  const answer: typeof globalThis.fetch = async (_url, init) => {
    const { messages } = JSON.parse(String(new TextDecoder().decode(init?.body as Uint8Array))) as {
      readonly messages: readonly { readonly content: string }[];
    };
    const asked = messages.at(-1)?.content ?? '';
    const key = new Headers(init?.headers).get('authorization') ?? '';
    if (asked.startsWith('slow')) {
      waiting.get('slow')?.();
      await new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    }
    if (asked.startsWith('down')) return new Response(`{"error":{"message":"no service for ${key}"}}`, { status: 503 });
    if (asked.startsWith('odd')) return new Response('<html>', { status: 200 });
    if (asked.startsWith('gone')) throw new TypeError(`fetch failed for ${key}`);
    const message = { role: 'assistant', content: `You said: ${asked} (with ${key})` };
    return Response.json({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] });
  };
  return { fetch: answer, reached: () => new Promise<void>((resolve) => waiting.set('slow', resolve)) };
}

function modelSubject(): AdapterSubject<LlmGenerateParams, LlmGenerateReceipt> {
  const { fetch, reached } = provider();
  const client = openAiCompatible({
    baseUrl: 'http://provider.test/v1',
    model: 'm',
    apiKey: { secret: 'KEY' },
    fetch,
    sleep: async () => undefined,
  });
  const asking =
    (...texts: readonly string[]) =>
    async (content: ContentStore, n: number): Promise<LlmGenerateParams> => {
      const parts = [{ kind: 'text', text_ref: await putText(content, texts[n % texts.length] as string) }];
      return {
        model: 'main',
        session: { key: 'me', labels: {} },
        def_ref: await putText(content, 'def'),
        config_rev: 0,
        system_ref: await putText(content, 'Be brief.'),
        context_head: await putValue(content, [{ role: 'user', origin: 'input', parts }]),
        window: { from: 0 },
        tools_ref: await putValue(content, []),
        prompt: PROMPT_VERSION,
      };
    };
  return {
    adapter: llmGenerateAdapter(
      { main: client },
      {
        judge: trusting,
        readContext: async function* (content, head) {
          yield* (await getValue(content, head)) as unknown as readonly TranscriptItem[];
        },
      },
    ),
    params: asking('one', 'two', 'three'),
    failing: asking('down', 'odd', 'gone'),
    slow: asking('slow'),
    reached,
  };
}

testAdapter({ name: 'llm.generate over HTTP', runner: { describe, it }, make: async () => modelSubject() });

/** A service that makes a booking once per key, and tools that call it. */
function toolSubject(guarantee: 'idempotent' | 'reconcile'): AdapterSubject {
  const booked = new Map<string, number>();
  const reachedBy = new Map<string, () => void>();
  const book = defineTool({
    name: 'book',
    description: 'Books a seat.',
    args: z.strictObject({ seat: z.string() }),
    guarantee,
    run: async ({ seat }, { idempotencyKey, signal }) => {
      reachedBy.get(idempotencyKey)?.();
      if (seat === 'slow')
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      if (!booked.has(idempotencyKey)) booked.set(idempotencyKey, 1);
      return { seat };
    },
    ...(guarantee === 'reconcile' && {
      reconcile: async ({ seat }: { seat: string }, { idempotencyKey }: { idempotencyKey: string }) =>
        booked.has(idempotencyKey) ? { done: { seat } } : ('not_done' as const),
    }),
  }) as Tool;
  const calling =
    (...seats: readonly string[]) =>
    async (content: ContentStore, n: number) => ({
      tool: 'book',
      call_id: `c${n}`,
      session: { key: 'me', labels: {} },
      args_ref: await putValue(content, { seat: seats[n % seats.length] as string }),
      fingerprint: book.entry.fingerprint,
      guarantee,
    });
  const unknownTool = async (content: ContentStore, n: number) => ({
    ...(await calling('1a')(content, n)),
    tool: 'nobody',
  });
  return {
    adapter: toolCallAdapter(buildOf([{ name: 'a', tools: [book] }]), { now: () => 0 }) as never,
    params: calling('1a', '1b', '2c'),
    happened: (key) => booked.get(key) ?? 0,
    failing: unknownTool,
    slow: calling('slow'),
    reached: (key) => new Promise((resolve) => reachedBy.set(key, resolve)),
    interrupt: async (key, _params, when) => {
      if (when === 'after') booked.set(key, 1);
    },
  };
}

testAdapter({ name: 'a tool that knows keys', runner: { describe, it }, make: async () => toolSubject('idempotent') });
testAdapter({ name: 'a tool that can look', runner: { describe, it }, make: async () => toolSubject('reconcile') });
