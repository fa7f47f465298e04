/** Plays random trees of sessions against the session reducer, and keeps a ledger of what they may use. */
import type { LlmGenerateReceipt, LlmToolCall, Ref, Value } from '@reprise/contracts';
import type { App } from '@reprise/kernel';
import { defineApp, digestOf, type ReducerDefinition } from '@reprise/kernel/define';
import fc from 'fast-check';
import { type AgentConfig, humanAsk, SESSION_REDUCER, type SessionCommand } from '../../src/contracts/index.js';
import { llmGenerate } from '../../src/plans/effects.js';
import { agentApp } from '../../src/world/app.js';
import { type AtWork, BareWorld, type Said } from '../histories/bare-world.js';
import { refOf, TEXTS } from '../histories/content.js';
import { CONFIG } from '../reducer/scene.js';
import { Ledger, type Terms } from './ledger.js';

const ROOT = 'root';
/** The answer of a model that breaks a session. */
const BREAKS = refOf(7);
const PRICE = { in: 3_000_000, out: 15_000_000 };

/** What a tree begins with. */
export interface TreePlan {
  readonly tokens: number | null;
  readonly money: number | null;
  readonly answer: number | null;
  readonly own: number | null;
  readonly window: number | null;
  readonly wait: boolean;
  readonly asks: boolean;
}

/** Something that happens; what the numbers choose depends on what there is. */
export type Happens = readonly [what: number, which: number, how: number, much: number];

/** A tree, and what happens to it. */
export interface Tree {
  readonly plan: TreePlan;
  readonly happens: readonly Happens[];
}

const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

/** Any tree. */
export const anyTree: fc.Arbitrary<Tree> = fc.record({
  plan: fc
    .record({
      tokens: orNull(fc.constantFrom(150, 600, 2_000, 30_000)),
      money: orNull(fc.constantFrom(900, 6_000, 200_000)),
      answer: orNull(fc.constantFrom(1, 20, 60)),
      own: orNull(fc.constantFrom(90, 400)),
      window: orNull(fc.constantFrom(60, 200)),
      wait: fc.boolean(),
      asks: fc.constantFrom(false, false, true),
    })
    .map((plan) => (plan.tokens === null && plan.money === null ? { ...plan, tokens: 600 } : plan)),
  happens: fc.array(fc.tuple(fc.nat(99), fc.nat(7), fc.nat(99), fc.nat(100)), { minLength: 18, maxLength: 34 }),
});

/** What a tree came to. */
export interface Grown {
  readonly launches: number;
  readonly frames: number;
  readonly sessions: number;
  readonly deepest: number;
  readonly met: ReadonlyMap<string, number>;
}

/** Plays a tree. @throws Error when a call is begun for which too little is left */
export async function playTree({ plan, happens }: Tree, app: App = agentApp, verify = false): Promise<Grown> {
  const play = new TreePlay(plan, app);
  play.input(ROOT);
  for (const one of happens) play.happen(one);
  if (verify) await play.world.verify();
  return play.grown();
}

class TreePlay {
  readonly world: BareWorld;
  readonly #ledger: Ledger;
  readonly #sessions = new Set<string>();
  readonly #met = new Map<string, number>();
  readonly #failed = new Set<string>();
  /** The session whose cell fails in the frame at hand. */
  #breaking: string | undefined;
  #n = 0;

  constructor(
    private readonly plan: TreePlan,
    app: App,
  ) {
    const given = { tokens: plan.tokens ?? Number.POSITIVE_INFINITY, money: plan.money ?? Number.POSITIVE_INFINITY };
    const terms: Terms = { given, price: PRICE };
    this.#ledger = new Ledger(ROOT, terms);
    this.world = new BareWorld({
      app: breakable(app),
      handedOn: [humanAsk.name],
      onFrame: (frame) => {
        for (const record of frame.records) {
          if (record.kind === 'fault' && record.target[1] !== this.#breaking)
            throw new Error(`a fault: ${record.code}`);
          if (record.kind !== 'fact' || record.from === null) continue;
          this.#sessions.add(record.from[1]);
          if (MET.test(record.name)) this.#count(metOf(record.name, record.value as Readonly<Record<string, Value>>));
        }
        this.#ledger.read(frame);
      },
    });
    for (const [ref, bytes] of TEXTS) this.world.put(ref, bytes);
    const helper = { def_ref: refOf(2), config: this.#config('helper') };
    this.#request(ROOT, 'aos.agent/AgentAdopted@1', {
      def_ref: refOf(2),
      config: this.#config('lead'),
      adopt: 'next_run',
      agents: [helper],
    });
  }

  grown(): Grown {
    const deepest = Math.max(...[...this.#sessions].map((key) => key.split('.').length));
    const { launches } = this.#ledger;
    return { launches, frames: this.world.frames, sessions: this.#sessions.size, deepest, met: this.#met };
  }

  input(key: string): void {
    const parts = [{ kind: 'text' as const, text_ref: refOf(20) }];
    const value = { parts, command_id: `i${this.#n++}`, priority: 0, cause: { kind: 'operator' } };
    this.#request(key, 'aos.agent/UserInput@1', value);
  }

  happen([what, which, how, much]: Happens): void {
    if (what < 58) return this.#answers(which, how, much);
    if (what < 66) return this.#fails(which, how, much);
    if (what < 70) return this.input(this.#key(what < 69 ? 0 : which));
    if (what < 80) return this.#commands(which, how);
    if (what < 88) return this.world.advance([1, 3_000, 6_000, 700_000][how % 4] ?? 1, how % 2 === 0);
    if (what < 90) return this.world.crash();
    if (what < 95) return this.#breaks(which, how, much);
    if (what < 97) return this.#fixes(which, how);
    return this.#answers(which, 99, much);
  }

  /** A model answers; without a model call, an input is sent. */
  #answers(which: number, how: number, much: number): void {
    const work = this.#asked(which);
    if (work === undefined) return this.input(ROOT);
    const usage = this.#usage(work, how, much);
    const tool_calls = how === 99 ? [] : this.#calls(how, much);
    this.#say(work, {
      status: 'ok',
      asked: { profile: 'test', model: 'test' },
      payload: answerOf(refOf(5), tool_calls),
      ...usage,
    });
  }

  /** A session below the root fails with the answer of its model. */
  #breaks(which: number, how: number, much: number): void {
    const below = [...this.world.running.values()].filter(
      ({ leaf }) => leaf.name === llmGenerate.name && leaf.plan[1] !== ROOT,
    );
    const work = below[which % Math.max(1, below.length)];
    if (work === undefined) return this.#answers(which, how, much);
    const key = work.leaf.plan[1];
    this.#breaking = key;
    this.#failed.add(key);
    this.#count('fails');
    this.#say(work, {
      status: 'ok',
      asked: { profile: 'test', model: 'test' },
      payload: answerOf(BREAKS, []),
      ...this.#usage(work, how, much),
    });
    this.#breaking = undefined;
  }

  /** A session that failed is brought back, and closed. */
  #fixes(which: number, how: number): void {
    const all = [...this.#failed];
    const key = all[which % Math.max(1, all.length)];
    if (key === undefined) return;
    this.world.revive(SESSION_REDUCER, key);
    this.#failed.delete(key);
    this.#count('is brought back');
    if (how % 4 === 0) return;
    const command = { type: 'Close', ...(how % 2 === 0 ? { at_once: true } : {}) };
    this.#request(key, 'aos.agent/HostCommand@1', { command_id: `h${this.#n++}`, command });
  }

  #fails(which: number, how: number, much: number): void {
    const work = this.#asked(which);
    const said = FAILURES[how % FAILURES.length];
    if (work === undefined || said === undefined) return;
    this.#say(work, { ...said, ...(how % 2 === 0 ? this.#usage(work, 0, much) : {}) });
  }

  /** What a call says that it used: never more than was reserved for it. */
  #usage({ effect }: AtWork, how: number, much: number): Pick<Said, 'usage'> {
    const call = this.#ledger.calls.get(effect);
    if (call === undefined || how % 10 === 9) return {};
    const tokens_in = Math.floor((call.prompt * Math.min(100, much + 40)) / 100);
    const tokens_out = Math.floor((Math.min(call.answer, 400) * much) / 100);
    const parts = tokens_in * PRICE.in + tokens_out * PRICE.out;
    return { usage: { calls: 1, tokens_in, tokens_out, micro_money: Math.ceil(parts / 1_000_000) } };
  }

  #say(work: AtWork, said: Said): void {
    const { usage, status, code = '' } = said;
    const reported =
      usage === undefined
        ? undefined
        : { tokens: (usage.tokens_in ?? 0) + (usage.tokens_out ?? 0), money: usage.micro_money ?? 0 };
    const free = status === 'ok' || code.startsWith('provider_error');
    const reading = status === 'ok' && !work.settled ? (reported?.tokens ?? 1) : undefined;
    this.#ledger.ended(work.effect, reported ?? (free ? { tokens: 0, money: 0 } : undefined), reading);
    this.world.answer(work, said);
  }

  #calls(how: number, much: number): LlmToolCall[] {
    if (how < 20) return [];
    const child = `c${1 + (much % 3)}`;
    const parts = [{ kind: 'text' as const, text_ref: refOf(14) }];
    const most = how % 3 === 0 ? {} : { max_tokens: 20 + much * (how % 7) };
    const money = how % 11 === 0 ? { max_micro_money: 300 + much * 10 } : {};
    const spawn = { op: 'spawn' as const, agent: 'helper', parts, ...most, ...money };
    const send = { op: 'send_input' as const, child, parts };
    const wait = { op: 'wait' as const, children: ['c1', child], mode: 'any' as const };
    const ops = [[spawn], [spawn, spawn], [spawn, send, send], [send], [wait], [send, send, wait], [undefined]];
    const close = { op: 'close' as const, child };
    return (how > 94 ? [close] : (ops[how % ops.length] ?? [])).map((session, n) => callOf(n, session));
  }

  #commands(which: number, how: number): void {
    const key = this.#key(which);
    const commands: readonly SessionCommand[] = [
      { type: 'Cancel', scope: 'run' },
      { type: 'Cancel', scope: 'all' },
      { type: 'Resume' },
      { type: 'Pause' },
      { type: 'Resume' },
      { type: 'Compact' },
      { type: 'FollowUp', parts: [{ kind: 'text', text_ref: refOf(21) }] },
    ];
    const command = how === 98 && key !== ROOT ? ({ type: 'Close' } as const) : commands[how % commands.length];
    this.#request(key, 'aos.agent/HostCommand@1', { command_id: `h${this.#n++}`, command });
  }

  #asked(which: number): AtWork | undefined {
    const all = [...this.world.running.values()].filter(({ leaf }) => leaf.name === llmGenerate.name);
    return all.length === 0 ? undefined : all[which % all.length];
  }

  #key(which: number): string {
    const all = [...this.#sessions];
    return which < 3 ? ROOT : (all[which % Math.max(1, all.length)] ?? ROOT);
  }

  #request(key: string, name: string, value: object): void {
    this.world.request(SESSION_REDUCER, key, name, value);
  }

  #count(what: string): void {
    this.#met.set(what, (this.#met.get(what) ?? 0) + 1);
  }

  #config(agent: string): AgentConfig {
    const { tokens, money, answer, own, window, wait, asks } = this.plan;
    const lead = agent === 'lead';
    return {
      ...CONFIG,
      agent,
      price: PRICE,
      spawns: ['helper'],
      options: answer === null ? {} : { max_tokens: answer },
      context_window: window,
      after_answer: lead && wait ? { wait_ms: null } : 'complete',
      limits: {
        ...CONFIG.limits,
        max_depth: 4,
        on_limit: lead && asks ? 'pause_and_ask' : 'fail',
        ...(lead && tokens !== null ? { max_tokens: tokens } : {}),
        ...(lead && money !== null ? { max_micro_money: money } : {}),
        ...(!lead && own !== null ? { max_tokens: own } : {}),
      },
    };
  }
}

function answerOf(output_ref: Ref, tool_calls: readonly LlmToolCall[]): Value {
  const payload: LlmGenerateReceipt = {
    output_ref,
    raw_output_ref: refOf(6),
    request_digest: '0'.repeat(64),
    request_bytes: 40,
    finish_reason: tool_calls.length > 0 ? 'tool_calls' : 'stop',
    tool_calls: [...tool_calls],
  };
  return payload as unknown as Value;
}

/** The app with a defect in its session reducer, in every replay: an answer `BREAKS` fails the session's cell. */
function breakable(app: App): App {
  const reducers = [...app.reducers.values()].map(
    (reducer): ReducerDefinition => ({
      ...reducer,
      reduce(draft, event, ctx) {
        const { output_ref } = event.value as { readonly output_ref?: Ref };
        if (event.name === 'aos.agent/LlmStepCompleted@1' && output_ref?.hex === BREAKS.hex)
          throw new Error('a defect');
        return reducer.reduce(draft, event, ctx);
      },
    }),
  );
  return defineApp({ reducers, plans: [...app.plans.values()] });
}

function callOf(n: number, session: LlmToolCall['session']): LlmToolCall {
  const issue = session === undefined ? { issue: 'tool_not_found' as const } : { session };
  return { call_id: `k${n}`, tool: 'x', args_ref: refOf(11), signature: digestOf(['x', n]).slice(0, 16), ...issue };
}

const MET = /LimitReached|UsageDiffers|CompactionStarted|ContextCompacted|ChildChanged|ToolCallSettled/;

function metOf(name: string, value: Readonly<Record<string, Value>>): string {
  const short = name.slice('aos.agent/'.length, -2);
  const denied = (value.outcome as { non_execution?: { code?: string } } | undefined)?.non_execution?.code;
  return [short, value.limit, value.how, value.status, denied].filter((part) => part !== undefined).join(' ');
}

const FAILURES: readonly Said[] = [
  { status: 'timeout', code: 'adapter_timeout' },
  { status: 'cancelled' },
  { status: 'outcome_unknown' },
  { status: 'error', code: 'provider_error_terminal', retryable: false },
  { status: 'error', code: 'provider_error_terminal/context_limit', retryable: false },
];
