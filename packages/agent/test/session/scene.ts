/** Opens worlds of one session with a model that follows a script, and holds every scene to a replay at its end. */
import type { LlmGenerateParams, LlmGenerateReceipt, LlmToolCall, Value } from '@reprise/contracts';
import {
  type Adapter,
  type AdapterContext,
  type Clock,
  memory,
  type OpenStore,
  type Outcome,
  type Store,
  systemClock,
  type VerifyReport,
  verifyStore,
} from '@reprise/kernel';
import { expect } from 'vitest';
import {
  type Agent,
  type AgentSpec,
  type AgentWorld,
  agentApp,
  defineAgent,
  llmGenerate,
  openAgentWorld,
  putText,
  putValue,
  readText,
  readTranscript,
  readValue,
  SESSION_REDUCER,
  type Session,
  type Tool,
  type TranscriptItem,
} from '../../src/index.js';

/** A call that the script makes. */
export interface ScriptedCall {
  readonly id?: string;
  readonly tool: string;
  readonly args?: Value;
  readonly issue?: NonNullable<LlmToolCall['issue']>;
}

/** One answer of the model: text, calls, or any outcome at all. */
export type Step =
  | {
      readonly text?: string;
      readonly calls?: readonly ScriptedCall[];
      readonly finish?: LlmGenerateReceipt['finish_reason'];
    }
  | { readonly outcome: Outcome<LlmGenerateReceipt> }
  | { readonly after: Promise<unknown>; readonly answer: Step };

/** A model that answers by its script, and what it was asked. */
export class ScriptedLlm implements Adapter<LlmGenerateParams, LlmGenerateReceipt> {
  readonly effect = llmGenerate;
  readonly name = 'script';
  /** The transcript of each request, in plain words. */
  readonly asked: string[][] = [];
  readonly models: string[] = [];
  readonly instructions: string[] = [];
  readonly attempts: number[] = [];

  constructor(private readonly steps: Step[]) {}

  /** Answers of the script that nobody asked for. */
  get unused(): number {
    return this.steps.length;
  }

  async doExecute(params: LlmGenerateParams, context: AdapterContext): Promise<Outcome<LlmGenerateReceipt>> {
    const words: string[] = [];
    for await (const item of readTranscript(context.content, params.context_head))
      words.push(await wordsOf(context, item));
    this.asked.push(words);
    this.models.push(params.model);
    this.instructions.push(await readText(context.content, params.system_ref));
    this.attempts.push(context.attempt);
    const step = this.steps.shift();
    if (step === undefined) return { status: 'error', code: 'provider_error_terminal/script_over' };
    return this.#answer(step, params, context);
  }

  async #answer(step: Step, params: LlmGenerateParams, context: AdapterContext): Promise<Outcome<LlmGenerateReceipt>> {
    if ('outcome' in step) return step.outcome;
    if ('after' in step) {
      await Promise.race([step.after, aborted(context.signal)]);
      if (!context.signal.aborted) return this.#answer(step.answer, params, context);
      this.steps.unshift(step);
      return { status: 'cancelled' };
    }
    const { content } = context;
    const listed = (await readValue(content, params.tools_ref)) as unknown as Pick<Tool, 'name' | 'delivery'>[];
    const calls = (step.calls ?? []).map((call, i) => ({
      ...call,
      id: call.id ?? `${this.asked.length}-${i}`,
      args: call.args ?? {},
    }));
    const output = {
      ...(step.text === undefined ? {} : { text: step.text }),
      tool_calls: calls.map(({ id, tool, args }) => ({ call_id: id, tool, args })),
    };
    const judged = await Promise.all(
      calls.map(async ({ id, tool, args, issue }): Promise<LlmToolCall> => {
        const delivery = listed.find(({ name }) => name === tool)?.delivery;
        const found = issue ?? (delivery === undefined ? 'tool_not_found' : undefined);
        const judgement = {
          ...(delivery === undefined ? {} : { delivery }),
          ...(found === undefined ? {} : { issue: found }),
        };
        return { call_id: id, tool, args_ref: await putValue(content, args), ...judgement };
      }),
    );
    return {
      status: 'ok',
      usage: { tokens_in: 10, tokens_out: 1, calls: 1 },
      payload: {
        output_ref: await putValue(content, output),
        raw_output_ref: await putText(content, 'raw'),
        request_digest: '0'.repeat(64),
        finish_reason: step.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
        tool_calls: judged,
      },
    };
  }
}

async function wordsOf(context: AdapterContext, item: TranscriptItem): Promise<string> {
  if (item.role === 'user') return `user: ${await readText(context.content, item.text_ref)}`;
  if (item.role === 'assistant')
    return `assistant: ${item.calls.map(({ call_id, tool }) => `${tool} ${call_id}`).join(', ')}`;
  const { non_execution: none, output_ref } = item;
  const said = none === undefined ? undefined : `(${none.kind}${none.code === undefined ? '' : ` ${none.code}`})`;
  return `${item.is_error ? 'error' : 'tool'} ${item.call_id}: ${said ?? (output_ref === undefined ? '?' : await readText(context.content, output_ref))}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** What a scene is played with. */
export interface Scene {
  readonly world: AgentWorld;
  readonly agent: Agent;
  readonly session: Session;
  readonly llm: ScriptedLlm;
}

/** How a scene is set. */
export interface Setting extends Partial<Omit<AgentSpec, 'tools'>> {
  readonly steps: readonly Step[];
  readonly tools?: readonly Tool<never>[];
  /** One that a scene before has used; a fresh one when absent. */
  readonly store?: Store;
  readonly clock?: Clock;
  readonly snapshotEvery?: number;
  /** Leaves the replay to a later scene. */
  readonly goesOn?: boolean;
}

/** Plays a scene: opens, acts, closes, performs the journal again with nothing but the app. */
export async function play(setting: Setting, act: (scene: Scene) => Promise<void>): Promise<VerifyReport | undefined> {
  const { steps, tools = [], store = memory(), clock, snapshotEvery, goesOn, ...spec } = setting;
  const agent = defineAgent({
    name: 'actor',
    model: 'main',
    instructions: 'Act.',
    tools: [...tools] as Tool[],
    ...spec,
  });
  const llm = new ScriptedLlm([...steps]);
  const world = await openAgentWorld({
    store,
    agents: [agent],
    llm,
    recheckEvery: 1,
    ...(clock === undefined ? {} : { clock }),
    ...(snapshotEvery === undefined ? {} : { snapshotEvery }),
  });
  try {
    await act({ world, agent, session: world.session('stage', agent), llm });
  } finally {
    await world.close();
  }
  if (goesOn === true) return undefined;
  expect(llm.unused, 'answers that nobody asked for').toBe(0);
  const reader = await store.openReadonly();
  const report = await verifyStore(reader, { app: agentApp });
  await reader.close();
  return report;
}

/** The session's transcript in plain words, as a model would be asked with it next. */
export async function transcript({ world }: Pick<Scene, 'world'>): Promise<string[]> {
  const words: string[] = [];
  for await (const item of world.kernel.log([SESSION_REDUCER, 'stage'], 'transcript')) {
    const context = { content: world.kernel.content } as AdapterContext;
    words.push(await wordsOf(context, item as unknown as TranscriptItem));
  }
  return words;
}

/** A clock that does not wait for what will not stop: a close right in the middle of a call, as a crash is. */
export const HASTY: Clock = {
  ...systemClock,
  sleep: (ms, signal) => (ms <= 2_000 ? Promise.resolve() : systemClock.sleep(ms, signal)),
};

/** The store as the next holder finds it after a crash. */
export function crashed(store: Store): Store {
  return { ...store, open: async (): Promise<OpenStore> => ({ ...(await store.open()), cleanlyClosed: false }) };
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
