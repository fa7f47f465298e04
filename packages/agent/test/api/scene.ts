/** Worlds of agents with a model that follows a script, in time that stands still; each is replayed at its end. */
import type { LlmGenerateParams, LlmGenerateReceipt, Value } from '@reprise/contracts';
import {
  type Adapter,
  type AdapterContext,
  type AdapterOutcome,
  getValue,
  memory,
  putValue,
  type Store,
  verifyStore,
} from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { expect } from 'vitest';
import {
  type AgentDeps,
  type AgentWorld,
  type AgentWorldOptions,
  type AnyAgent,
  appOf,
  type Judge,
  llmGenerate,
  type OpenAgentWorldOptions,
  type OwnerReply,
  openAgentWorld,
  putText,
  readText,
  readTranscript,
  type TranscriptItem,
} from '../../src/index.js';

/** One answer of the model. */
export interface Step {
  readonly text?: string;
  readonly calls?: readonly { readonly id?: string; readonly tool: string; readonly args?: Value }[];
  readonly outcome?: AdapterOutcome<LlmGenerateReceipt>;
  /** Said before the answer, piece by piece. */
  readonly says?: readonly string[];
  /** The answer waits for it. */
  readonly after?: Promise<unknown>;
  readonly tokens?: number;
}

/** A model that answers by its script, and what it was asked. */
export class ScriptedLlm implements Adapter<LlmGenerateParams, LlmGenerateReceipt> {
  readonly effect = llmGenerate;
  readonly name = 'script';
  readonly asked: { readonly params: LlmGenerateParams; readonly transcript: string[] }[] = [];

  constructor(
    private readonly judge: Judge,
    private readonly steps: Step[],
  ) {}

  async doExecute(params: LlmGenerateParams, context: AdapterContext): Promise<AdapterOutcome<LlmGenerateReceipt>> {
    const transcript: string[] = [];
    for await (const item of readTranscript(context.content, params.context_head))
      transcript.push(await wordsOf(context.content, item));
    const number = this.asked.push({ params, transcript });
    const step = this.steps.shift();
    if (step === undefined) return { status: 'error', code: 'provider_error_terminal/script_over', retryable: false };
    for (const [index, text] of (step.says ?? []).entries())
      context.progress({ type: 'delta', channel: 'text', index: 0, text: index === 0 ? text : ` ${text}` });
    if (step.after !== undefined) {
      await Promise.race([step.after, aborted(context.signal)]);
      if (context.signal.aborted) return { status: 'cancelled' };
    }
    return step.outcome ?? this.#answer(step, number, params, context);
  }

  async #answer(
    { text, calls = [], tokens = 10 }: Step,
    number: number,
    params: LlmGenerateParams,
    context: AdapterContext,
  ): Promise<AdapterOutcome<LlmGenerateReceipt>> {
    const { content, signal } = context;
    const asked = calls.map(({ id, tool, args = {} }, i) => ({ callId: id ?? `${number}-${i}`, tool, args }));
    const judging = { params, content, signal };
    const tool_calls = await this.judge.calls(asked, judging);
    const returns = calls.length > 0 ? undefined : await this.judge.returns(text ?? '', judging);
    const texts = params.context === undefined ? await this.judge.context(judging) : [];
    const output = {
      ...(text === undefined ? {} : { text }),
      tool_calls: asked.map(({ callId, tool, args }) => ({ call_id: callId, tool, args })),
    };
    return {
      status: 'ok',
      asked: { profile: 'script', model: 'script' },
      usage: { tokens_in: tokens, tokens_out: 1, calls: 1 },
      payload: {
        output_ref: await putValue(content, output),
        raw_output_ref: await putText(content, 'raw'),
        request_digest: '0'.repeat(64),
        request_bytes: 100,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        tool_calls: [...tool_calls],
        ...(returns === undefined ? {} : { returns }),
        ...(texts.length === 0 ? {} : { context: [...texts] }),
      },
    };
  }
}

/** A world, its model and its clock. */
export interface Scene {
  readonly world: AgentWorld;
  readonly llm: ScriptedLlm;
  readonly clock: VirtualClock;
  readonly store: Store;
  /** Works until nothing is left to do now. */
  settle(): Promise<void>;
}

/** How a scene is set. */
export type Setting<A extends readonly AnyAgent[]> = Partial<Omit<AgentWorldOptions<A>, 'agents' | 'llm' | 'deps'>> & {
  readonly agents: A;
  readonly steps: readonly Step[];
  readonly deps?: () => AgentDeps<A>;
  /** Leaves the replay to a later scene. */
  readonly goesOn?: boolean;
};

/** Plays a scene: opens, acts, closes, and replays the journal with nothing but the app. */
export async function play<const A extends readonly AnyAgent[]>(
  setting: Setting<A>,
  act: (scene: Scene) => Promise<void>,
): Promise<void> {
  const { agents, steps, goesOn, store = memory(), models = { main: {}, other: {} }, ...rest } = setting;
  const clock = (rest.clock as VirtualClock | undefined) ?? new VirtualClock();
  let llm: ScriptedLlm | undefined;
  const world = await openAgentWorld({
    store,
    models,
    agents,
    recheckEvery: 1,
    ...rest,
    clock,
    llm: (judge: Judge) => {
      llm = new ScriptedLlm(judge, [...steps]);
      return llm;
    },
  } as unknown as OpenAgentWorldOptions<A>);
  const settle = async () => {
    await world.pump();
  };
  try {
    await act({ world, llm: llm as ScriptedLlm, clock, store, settle });
  } finally {
    await world.close();
  }
  if (goesOn === true) return;
  const reader = await store.openReadonly();
  const report = await verifyStore(reader, { app: appOf(rest.parts ?? []) });
  await reader.close();
  expect(report.unverified).toBe(0);
}

/** An item of a transcript in plain words. */
export async function wordsOf(content: AdapterContext['content'], item: TranscriptItem): Promise<string> {
  switch (item.role) {
    case 'user': {
      const texts = await Promise.all(
        item.parts.map((part) => (part.kind === 'text' ? readText(content, part.text_ref) : `[${part.kind}]`)),
      );
      return `${item.origin}: ${texts.join(' ')}`;
    }
    case 'assistant': {
      const { text } = (await getValue(content, item.output_ref)) as { readonly text?: string };
      return `assistant: ${[text, ...item.calls.map(({ tool, call_id }) => `${tool}(${call_id})`)].filter(Boolean).join(' ')}`;
    }
    case 'tool': {
      const said = item.output_ref === undefined ? undefined : await readText(content, item.output_ref);
      if (item.answer !== undefined) return answerWords(content, item.call_id, item.answer, item.is_error);
      const note = item.note_ref === undefined ? '' : ` [${await readText(content, item.note_ref)}]`;
      return `${item.is_error ? 'error' : 'tool'} ${item.call_id}: ${said ?? item.non_execution?.kind ?? 'children'}${note}`;
    }
    default:
      return `late ${item.call_id}: ${item.status}`;
  }
}

async function answerWords(
  content: AdapterContext['content'],
  call_id: string,
  { value, refs }: OwnerReply,
  is_error: boolean,
): Promise<string> {
  const texts = await Promise.all(refs.map(async ({ label, ref }) => `${label}: ${await readText(content, ref)}`));
  return `${is_error ? 'error' : 'owner'} ${call_id}: ${[JSON.stringify(value), ...texts].join(' ')}`;
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Everything that an iterable gives. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
