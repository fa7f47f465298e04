/**
 * One session in a real world whose outside is in the hands of a test: every model call and tool call waits until the
 * test answers it, time stands still until the test moves it, and each play ends with the journal performed again.
 */
import type { LlmGenerateReceipt, LlmToolCall, Ref, Value } from '@reprise/contracts';
import {
  type Adapter,
  type AdapterContext,
  type EffectDefinition,
  encode,
  memory,
  type Outcome,
  openWorld,
  type Store,
  verifyStore,
  type World,
} from '@reprise/kernel';
import { digestOf } from '@reprise/kernel/define';
import { expect } from 'vitest';
import { agentApp } from '../../../packages/agent/src/app.js';
import type {
  AgentConfig,
  HostCommand,
  SessionState,
  TranscriptItem,
} from '../../../packages/agent/src/contracts/index.js';
import { humanAsk, SESSION_REDUCER, toolCall } from '../../../packages/agent/src/contracts/index.js';
import { llmGenerate } from '../../../packages/agent/src/plans/effects.js';
import { TestClock } from '../../../packages/kernel/test/support/test-clock.js';

/** A call as a test has the model make it. */
export interface Call extends Partial<Omit<LlmToolCall, 'call_id' | 'args_ref' | 'signature'>> {
  readonly id: string;
  readonly tool: string;
  readonly args?: Value;
}

/** An answer of the model. */
export interface Answer {
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly finish?: LlmGenerateReceipt['finish_reason'];
  readonly returns?: 'fits' | 'does not';
  readonly tokens?: readonly [into: number, out: number];
  readonly money?: number;
  readonly bytes?: number;
}

/** An execution that waits for the test. */
export class Waiting {
  done = false;
  constructor(
    readonly kind: string,
    readonly params: Readonly<Record<string, Value>>,
    readonly context: AdapterContext,
    private readonly resolve: (outcome: Outcome | { status: 'deferred' }) => void,
  ) {}

  /** Answers it. */
  answer(outcome: Outcome): void {
    this.done = true;
    this.resolve(outcome);
  }

  /** Whether it was told to stop. */
  get told(): boolean {
    return this.context.signal.aborted;
  }
}

const KEY = 'stage';

/** The definition that plays begin with; each play changes what it is about. */
export const CONFIG: Omit<AgentConfig, 'system_ref' | 'tools_ref' | 'unknown_question_ref'> = {
  agent: 'actor',
  model: 'main',
  models: ['main', 'other'],
  options: {},
  limits: {
    max_turns: 100,
    max_steps: 50,
    max_tool_rounds: 50,
    max_tool_calls_per_step: 16,
    max_depth: 2,
    max_children: 4,
    on_limit: 'fail',
  },
  loop: null,
  context_window: null,
  compaction: null,
  after_answer: 'complete',
  repair_ref: null,
  spawns: [],
  cancel_grace_ms: 5_000,
};

/** What a play may change. */
export interface Setting {
  readonly config?: Partial<Omit<AgentConfig, 'limits'>> & { readonly limits?: Partial<AgentConfig['limits']> };
  readonly store?: Store;
  readonly agents?: (stage: Stage) => Promise<unknown[]>;
  readonly policy?: Parameters<typeof openWorld>[0]['policy'];
  readonly recheck?: number;
}

/** A session on a stage. */
export class Stage {
  readonly clock = new TestClock();
  readonly waiting: Waiting[] = [];
  readonly store: Store;
  world!: World;
  #commands = 0;
  #adopted = false;

  constructor(readonly setting: Setting = {}) {
    this.store = setting.store ?? memory();
  }

  async open(): Promise<this> {
    const { policy, recheck = 1 } = this.setting;
    this.world = await openWorld({
      store: this.store,
      app: agentApp,
      clock: this.clock,
      recheckEvery: recheck,
      adapters: [this.#outside(llmGenerate), this.#outside(toolCall), this.#outside(humanAsk)],
      ...(policy === undefined ? {} : { policy }),
    });
    return this;
  }

  // biome-ignore lint/suspicious/noExplicitAny: one body for three effects, whose parameters the world checks
  #outside(effect: EffectDefinition<any, any>): Adapter<any, any> {
    return {
      effect,
      name: `test of ${effect.name}`,
      concurrency: 64,
      doExecute: async (params, context) => {
        if (effect.name === humanAsk.name) return { status: 'deferred' };
        return new Promise((resolve) => {
          this.waiting.push(new Waiting(effect.name, params, context, resolve as never));
        });
      },
    };
  }

  /** Keeps a text and links it. */
  text(text: string): Promise<Ref> {
    return this.world.content.put(new TextEncoder().encode(text));
  }

  async #value(value: Value): Promise<Ref> {
    return this.world.content.put(encode(value));
  }

  /** The definition of this play. */
  async config(change: Setting['config'] = this.setting.config): Promise<AgentConfig> {
    const { limits, ...rest } = change ?? {};
    return {
      ...CONFIG,
      system_ref: await this.text('Act.'),
      tools_ref: await this.#value([]),
      unknown_question_ref: await this.text('Did it happen?'),
      ...rest,
      limits: { ...CONFIG.limits, ...limits },
    };
  }

  /** Adopts a definition. */
  async adopt(change: Setting['config'] = this.setting.config, when: 'next_run' | 'next_step' | 'pin' = 'next_run') {
    this.#adopted = true;
    const config = await this.config(change);
    const def_ref = await this.#value({ n: this.#commands++ });
    const agents = (await this.setting.agents?.(this)) ?? [];
    await this.send('aos.agent/AgentAdopted@1', { def_ref, config, adopt: when, agents });
  }

  /** Sends an event to the session and waits until all is quiet. @returns the facts of its frame */
  async send(name: string, value: unknown, key = KEY): Promise<Record<string, Value>> {
    const { seq } = await this.world.request([SESSION_REDUCER, key], { name, value });
    await this.quiet();
    return this.#answerIn(seq);
  }

  async #answerIn(seq: number): Promise<Record<string, Value>> {
    for await (const frame of this.world.frames(seq)) {
      for (const record of frame.records) {
        if (record.kind !== 'fact') continue;
        const value = record.value as Record<string, Value>;
        if (record.name === 'aos.agent/HostCommandRejected@1') return { status: 'rejected', ...value };
        if (record.name === 'aos.agent/HostCommandAccepted@1') return { status: 'accepted', ...value };
        if (record.name === 'aos.agent/InputAccepted@1') return { status: 'accepted', ...value };
      }
      break;
    }
    return { status: 'none' };
  }

  /** Somebody says something. */
  async input(text: string, more: { id?: string; priority?: number } = {}): Promise<Record<string, Value>> {
    if (!this.#adopted) await this.adopt();
    const parts = [{ kind: 'text', text_ref: await this.text(text) }];
    return this.send('aos.agent/UserInput@1', {
      parts,
      command_id: more.id ?? `i${this.#commands++}`,
      priority: more.priority ?? 0,
      cause: { kind: 'host' },
    });
  }

  /** Gives a command. */
  command(command: HostCommand, more: { id?: string; epoch?: number } = {}): Promise<Record<string, Value>> {
    const epoch = more.epoch === undefined ? {} : { expected_epoch: more.epoch };
    return this.send('aos.agent/HostCommand@1', { command_id: more.id ?? `c${this.#commands++}`, command, ...epoch });
  }

  /** Steers. */
  async steer(text: string, id?: string): Promise<Record<string, Value>> {
    const parts = [{ kind: 'text' as const, text_ref: await this.text(text) }];
    return this.command({ type: 'Steer', parts }, id === undefined ? {} : { id });
  }

  /** Follows up. */
  async followUp(text: string, id?: string): Promise<Record<string, Value>> {
    const parts = [{ kind: 'text' as const, text_ref: await this.text(text) }];
    return this.command({ type: 'FollowUp', parts }, id === undefined ? {} : { id });
  }

  /** What waits for the test, the oldest first. */
  open_(kind: string): Waiting[] {
    return this.waiting.filter((call) => call.kind === kind && !call.done);
  }

  /** The model calls that wait for an answer. */
  get asked(): Waiting[] {
    return this.open_(llmGenerate.name);
  }

  /** The tool calls that wait for an answer. */
  get called(): Waiting[] {
    return this.open_(toolCall.name);
  }

  /** The model answers its oldest call, or that of a session. */
  async answer(answer: Answer, session?: string): Promise<void> {
    const call = this.asked.find(
      ({ params }) => session === undefined || (params.session as { key: string }).key === session,
    );
    if (call === undefined) throw new Error('no model is asked');
    call.answer({ status: 'ok', payload: await this.#receipt(answer), usage: usageOf(answer) } as unknown as Outcome);
    await this.quiet();
  }

  async #receipt({ text, calls = [], finish, returns, bytes }: Answer): Promise<LlmGenerateReceipt> {
    const tool_calls = await Promise.all(
      calls.map(
        async ({ id, tool, args = {}, ...more }): Promise<LlmToolCall> => ({
          ...more,
          call_id: id,
          tool,
          args_ref: await this.#value(args),
          signature: digestOf([tool, args]).slice(0, 16),
        }),
      ),
    );
    const judged = returns === 'fits' ? { value_ref: await this.#value(1) } : { issue_ref: await this.text('No.') };
    return {
      output_ref: await this.#value({ text: text ?? '', tool_calls: [] }),
      raw_output_ref: await this.text('raw'),
      by: { profile: 'test', model: 'test' },
      request_digest: '0'.repeat(64),
      request_bytes: bytes ?? 400,
      finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      tool_calls,
      ...(returns === undefined ? {} : { returns: judged }),
    };
  }

  /** The model call fails. */
  async failStep(outcome: Outcome): Promise<void> {
    this.asked[0]?.answer(outcome);
    await this.quiet();
  }

  /** A tool answers a call, by its id. */
  async toolAnswers(id: string, text = `result of ${id}`): Promise<void> {
    const ref = await this.text(text);
    const truncation_meta = { original_bytes: 1, bounded_bytes: 1, truncated: false, policy_id: 'test' };
    const payload = { operator_output_ref: ref, model_output_ref: ref, truncation_meta, is_error: false };
    await this.toolEnds(id, { status: 'ok', payload } as unknown as Outcome);
  }

  /** A call ends in any way. */
  async toolEnds(id: string, outcome: Outcome): Promise<void> {
    const call = this.called.find(({ params }) => params.call_id === id);
    if (call === undefined) throw new Error(`no call ${id} is under way`);
    call.answer(outcome);
    await this.quiet();
  }

  /** Time passes. */
  async later(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.quiet();
  }

  /** Waits until nothing moves any more but what waits for the test. */
  async quiet(): Promise<void> {
    for (let still = 0, seq = this.world.head.seq; still < 4; ) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.world.head.seq === seq) still++;
      else [still, seq] = [0, this.world.head.seq];
    }
  }

  /** The session's state. */
  async state(key = KEY): Promise<SessionState> {
    return (await this.world.state([SESSION_REDUCER, key])) as unknown as SessionState;
  }

  /** The lifecycle, with what is waited for. */
  async lifecycle(key = KEY): Promise<string> {
    const { lifecycle, waiting } = await this.state(key);
    return lifecycle === 'WaitingInput' ? `${lifecycle}: ${waiting?.for}` : lifecycle;
  }

  /** The values of all facts of a name. */
  async facts(name: string, key = KEY): Promise<Record<string, Value>[]> {
    const found: Record<string, Value>[] = [];
    for await (const frame of this.world.frames(0)) {
      for (const record of frame.records) {
        const own = record.kind === 'fact' && record.from?.[1] === key;
        if (own && record.name === `aos.agent/${name}@1`) found.push(record.value as Record<string, Value>);
      }
      if (frame.seq >= this.world.head.seq) break;
    }
    return found;
  }

  /** The transcript in plain words. */
  async transcript(key = KEY): Promise<string[]> {
    const words: string[] = [];
    for await (const item of this.world.log([SESSION_REDUCER, key], 'transcript')) {
      words.push(await this.#wordsOf(item as unknown as TranscriptItem));
    }
    return words;
  }

  async #wordsOf(item: TranscriptItem): Promise<string> {
    if (item.role === 'user') {
      const texts = await Promise.all(
        item.parts.map((part) => (part.kind === 'text' ? this.#read(part.text_ref) : part.kind)),
      );
      return `${item.origin}: ${texts.join(' ')}`;
    }
    if (item.role === 'assistant')
      return `assistant${item.interrupted === true ? ' (interrupted)' : ''}: ${item.calls.map(({ call_id }) => call_id).join(' ')}`.trim();
    if (item.role === 'late') return `late ${item.call_id}: ${item.status}`;
    const { non_execution: none, children, output_ref, call_id } = item;
    if (none !== undefined) return `result ${call_id}: (${none.kind}${none.code === undefined ? '' : ` ${none.code}`})`;
    if (children !== undefined)
      return `result ${call_id}: ${children.map(({ child, status }) => `${child} ${status}`).join(', ')}`;
    return `result ${call_id}: ${output_ref === undefined ? '' : await this.#read(output_ref)}`;
  }

  async #read(ref: Ref): Promise<string> {
    return new TextDecoder().decode(await this.world.content.get(ref));
  }

  /** Ends what waits, closes the world, and performs its journal again. */
  async close(): Promise<void> {
    for (const call of this.waiting) if (!call.done) call.answer({ status: 'cancelled' });
    await this.quiet();
    for (const call of this.waiting) if (!call.done) call.answer({ status: 'cancelled' });
    await this.world.close();
    const reader = await this.store.openReadonly();
    const report = await verifyStore(reader, { app: agentApp });
    await reader.close();
    expect(report.sealed).toBe(0);
  }
}

function usageOf({ tokens, money }: Answer) {
  const [into, out] = tokens ?? [10, 1];
  return { tokens_in: into, tokens_out: out, calls: 1, ...(money === undefined ? {} : { micro_money: money }) };
}

/** Plays a scene to its end, whatever happens in it. */
export async function play(setting: Setting, act: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await new Stage(setting).open();
  let failed = true;
  try {
    await act(stage);
    failed = false;
  } finally {
    if (!failed) await stage.close();
  }
}
