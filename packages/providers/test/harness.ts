/** Runs `llm.generate` through the adapter against a client, with a store in memory and a transcript in a list. */
import { describeTools, type Judge, putText, type TranscriptItem } from '@reprise/agent';
import { type AskedModel, type LlmGenerateParams, type Observed, PROMPT_VERSION } from '@reprise/contracts';
import { type AdapterContext, type ContentStore, memory, putValue } from '@reprise/kernel';
import { llmGenerateAdapter, type ModelClient, type OpenAiCompatibleOptions, openAiCompatible } from '../src/index.js';

/** A client that does not wait between retries and records how long it would have waited. */
export function impatient(options: OpenAiCompatibleOptions & { waits?: number[] }): ModelClient {
  return openAiCompatible({ ...options, sleep: async (ms) => void options.waits?.push(ms) });
}

/** The records and blobs that a run leaves. */
export interface Ran {
  readonly outcome: Awaited<ReturnType<ReturnType<typeof llmGenerateAdapter>['doExecute']>>;
  readonly content: ContentStore;
  readonly notes: unknown[];
  readonly params: LlmGenerateParams;
  readonly items: readonly TranscriptItem[];
  /** What the call stated of itself. */
  readonly observed: Observed;
}

/** A judge that allows every call unchanged. */
export const trusting: Judge = {
  calls: (asked, { content }) =>
    Promise.all(
      asked.map(async ({ callId, tool, args, issue }) => ({
        call_id: callId,
        tool,
        args_ref: await putValue(content, args),
        signature: '0'.repeat(16),
        ...(issue === undefined ? {} : { issue }),
      })),
    ),
  returns: async () => undefined,
  context: async () => [],
};

/** Executes one model call. */
export async function run(
  client: ModelClient,
  ask: {
    items?: (content: ContentStore) => Promise<TranscriptItem[]>;
    params?: Partial<LlmGenerateParams>;
    context?: Partial<AdapterContext>;
    tools?: Parameters<typeof describeTools>[0];
    judge?: Partial<Judge>;
  } = {},
): Promise<Ran> {
  const { content } = await memory().open();
  const items = (await ask.items?.(content)) ?? [said(await putText(content, 'Hello'))];
  const notes: unknown[] = [];
  let observed: Observed = {};
  const adapter = llmGenerateAdapter(
    { main: client },
    { judge: { ...trusting, ...ask.judge }, readContext: listed(items) },
  );
  const params: LlmGenerateParams = {
    model: 'main',
    session: { key: 'me', labels: {} },
    def_ref: await putText(content, 'def'),
    config_rev: 0,
    system_ref: await putText(content, 'Be brief.'),
    context_head: await putText(content, 'head'),
    window: { from: 0 },
    tools_ref: await putValue(content, describeTools(ask.tools ?? [])),
    prompt: PROMPT_VERSION,
    ...(ask.params as object),
  };
  const context: AdapterContext = {
    idempotencyKey: 'e'.repeat(64),
    attempt: 1,
    deadline: null,
    signal: new AbortController().signal,
    content,
    progress: (note) => void notes.push(note),
    observe: (said) => {
      observed = { ...observed, ...said };
    },
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async () => {
      throw new Error('there is no such secret');
    },
    ...ask.context,
  };
  const outcome = await adapter.doExecute(params, context);
  return { outcome, content, notes, params, items, observed };
}

/** Reads a transcript from a list. */
export function listed(items: readonly TranscriptItem[]) {
  return async function* (_content: unknown, _head: unknown, from: number): AsyncGenerator<TranscriptItem> {
    yield* items.slice(from);
  };
}

/** Whom a call asked, as its answer's item in the transcript names it. */
export function authorIn({ observed: { asked } }: Ran): Pick<AskedModel, 'profile' | 'model'> {
  if (asked === undefined) throw new Error('the call does not say whom it asked');
  return { profile: asked.profile, model: asked.model };
}

/** A user item of a transcript. */
export function said(text_ref: Awaited<ReturnType<typeof putText>>): TranscriptItem {
  return { role: 'user', origin: 'input', parts: [{ kind: 'text', text_ref }] };
}
