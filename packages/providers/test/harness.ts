/** Runs `llm.generate` through the adapter against a client, with a store in memory and a transcript in a list. */
import { describeTools, putText, putValue, type TranscriptItem } from '@reprise/agent';
import type { LlmGenerateParams } from '@reprise/contracts';
import { type AdapterContext, type ContentStore, memory } from '@reprise/kernel';
import { llmGenerateAdapter, type ModelClient, type OpenAiCompatibleOptions, openAiCompatible } from '../src/index.js';

/** A client that does not wait between retries and notes how long it would have. */
export function impatient(options: OpenAiCompatibleOptions & { waits?: number[] }): ModelClient {
  return openAiCompatible({ ...options, sleep: async (ms) => void options.waits?.push(ms) });
}

/** What a run leaves behind. */
export interface Ran {
  readonly outcome: Awaited<ReturnType<ReturnType<typeof llmGenerateAdapter>['doExecute']>>;
  readonly content: ContentStore;
  readonly notes: unknown[];
}

/** Performs one model call. */
export async function run(
  client: ModelClient,
  ask: {
    items?: (content: ContentStore) => Promise<TranscriptItem[]>;
    params?: Partial<LlmGenerateParams>;
    context?: Partial<AdapterContext>;
    tools?: Parameters<typeof describeTools>[0];
  } = {},
): Promise<Ran> {
  const { content } = await memory().open();
  const items = (await ask.items?.(content)) ?? [{ role: 'user' as const, text_ref: await putText(content, 'Hello') }];
  const notes: unknown[] = [];
  const adapter = llmGenerateAdapter(
    { main: client },
    {
      readContext: async function* () {
        yield* items;
      },
    },
  );
  const params: LlmGenerateParams = {
    model: 'main',
    system_ref: await putText(content, 'Be brief.'),
    context_head: await putText(content, 'head'),
    tools_ref: await putValue(content, describeTools(ask.tools ?? [])),
    ...ask.params,
  };
  const context: AdapterContext = {
    idempotencyKey: 'e'.repeat(64),
    attempt: 1,
    deadline: null,
    signal: new AbortController().signal,
    content,
    progress: (note) => void notes.push(note),
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async () => {
      throw new Error('there is no such secret');
    },
    ...ask.context,
  };
  return { outcome: await adapter.doExecute(params, context), content, notes };
}
