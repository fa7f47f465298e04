/** Plays a history against the session reducer, and has an auditor read every frame. */
import type { LlmGenerateReceipt, LlmToolCall, Value } from '@reprise/contracts';
import { type App, digestOf } from '@reprise/kernel/define';
import {
  type AgentConfig,
  humanAsk,
  SESSION_REDUCER,
  type SessionCommand,
  type SessionState,
  type ToolsetNews,
  toolCall,
  toolsetRefresh,
} from '../../src/contracts/index.js';
import { llmGenerate } from '../../src/plans/effects.js';
import { agentApp } from '../../src/world/app.js';
import { Auditor } from './auditor.js';
import { type AtWork, BareWorld, type Frame, type Said } from './bare-world.js';
import { refOf, TEXTS } from './content.js';
import type { CallPlan, CommandPlan, DefinitionPlan, Happening, History } from './happenings.js';

const ROOT = 'root';

/** What a history left. */
export interface Played {
  readonly frames: number;
  readonly runs: number;
  readonly children: number;
  readonly crashes: number;
  /** How often what was met: facts by name, stops, waits, refusals. */
  readonly met: ReadonlyMap<string, number>;
}

/** What a history is played with besides itself. */
export interface PlayOptions {
  /** Told of each frame, before the auditor is. */
  readonly onFrame?: (frame: Frame, world: BareWorld) => void;
  /** The agent has a toolset that changes, is out of reach, and is asked about. The auditor knows nothing of those. */
  readonly toolset?: boolean;
  /** The happenings before which a running tool asks a person, or is answered. The auditor ignores them. */
  readonly asks?: readonly number[];
  /** The app; that of agents when absent. The auditor reads the frames of another, and is not held against its states. */
  readonly app?: App;
  /** At its end the session is closed and nothing is answered any more; else whatever is under way is answered. */
  readonly closes?: boolean;
}

/** Plays a history. @throws Error when a promise is broken */
export async function playHistory(history: History, verify: boolean, options: PlayOptions = {}): Promise<Played> {
  const play = new Play(history.definition, options);
  for (const [i, happening] of history.happenings.entries()) {
    if (options.asks?.includes(i) === true) play.askOrReply(i);
    play.execute(happening);
  }
  play.finish();
  if (verify) await play.world.verify();
  return play.played();
}

class Play {
  readonly auditor = new Auditor();
  readonly world: BareWorld;
  readonly #ids: string[] = [];
  #crashes = 0;
  #lastCalls: readonly CallPlan[] = [];
  #n = 0;

  constructor(
    private readonly definition: DefinitionPlan,
    private readonly options: PlayOptions,
  ) {
    const policy = [
      ...(definition.denies ? [{ effect: 'tool.call@1#t2', decision: 'deny' as const }] : []),
      { effect: '*', decision: 'allow' as const },
      { send: '*', decision: 'allow' as const },
    ];
    this.world = new BareWorld({
      app: this.options.app ?? agentApp,
      policy,
      handedOn: [humanAsk.name],
      onFrame: (frame) => {
        this.options.onFrame?.(frame, this.world);
        this.auditor.read(frame);
      },
    });
    for (const [ref, bytes] of TEXTS) this.world.put(ref, bytes);
    this.#adopt('next_run', 0);
  }

  execute(it: Happening): void {
    const told = this.#do(it);
    if (told !== undefined && this.#isAudited) throw new Error(`${JSON.stringify(it)} was refused: ${told}`);
    this.#checkNow();
  }

  /** A running tool asks a person; or its question is answered. */
  askOrReply(which: number): void {
    const asked = [...this.world.open].flatMap(([effect, { asks = [] }]) =>
      asks.flatMap(({ n, answer }) => (answer === undefined ? [{ effect, n }] : [])),
    );
    const one = which % 2 === 0 ? pick(asked, which) : undefined;
    const work = pick(this.#working(toolCall.name), which);
    if (one !== undefined) this.world.command('sys/Answer@1', { ...one, answer: 'yes' });
    else if (work !== undefined) this.world.ask(work, 'Really?');
  }

  #checkNow(): void {
    if (this.#isAudited) this.auditor.check(this.world);
  }

  get #isAudited(): boolean {
    const { toolset, asks, app } = this.options;
    return toolset !== true && asks === undefined && app === undefined;
  }

  /** Whatever is under way ends: everything is answered, or given up, and the session closed. */
  finish(): void {
    if (this.options.closes === true) return this.#closeUnanswered();
    for (let i = 0; this.world.running.size > 0 || this.auditor.anyRun(this.world); i++) {
      if (i > 40) throw new Error('a session that is closed never ends');
      if (i === 0) this.execute({ step: 'command', who: 0, epoch: 'none', type: 'Close' });
      if (i === 1) this.execute({ step: 'time', ms: this.definition.grace + 1_000, leap: false });
      if (i === 1 && this.auditor.anyRun(this.world)) throw new Error('a cancel was not over within its grace');
      for (const work of [...this.world.running.values()]) this.world.answer(work, { status: 'cancelled' });
      this.#checkNow();
    }
  }

  #closeUnanswered(): void {
    this.execute({ step: 'command', who: 0, epoch: 'none', type: 'Close' });
    this.execute({ step: 'time', ms: this.definition.grace + 1_000, leap: false });
    if (this.auditor.anyRun(this.world)) throw new Error('a session that was closed runs when its grace is over');
    const open = this.auditor.sessions.find((key) => this.#state(key)?.status !== 'Closed');
    if (open !== undefined) throw new Error(`${open} is not closed, where the session above all is`);
  }

  played(): Played {
    const { runs, children, met } = this.auditor;
    return { frames: this.world.frames, runs, children, crashes: this.#crashes, met };
  }

  #do(it: Happening): string | undefined {
    switch (it.step) {
      case 'input':
        return this.#input(it);
      case 'command':
        return this.#command(it);
      case 'adopt':
        return this.#adopt(it.when, it.change);
      case 'answer':
        return this.#answer(it);
      case 'step_fails':
        return this.#say(pick(this.#working(llmGenerate.name), it.which), STEP_FAILURES[it.how % STEP_FAILURES.length]);
      case 'tool':
        return this.#toolSays(it);
      case 'decide':
        return this.#decide(it);
      case 'settle':
        return this.#settle(it);
      case 'cancel_effect': {
        const work = pick([...this.world.running.values()], it.which);
        if (work !== undefined) this.world.command('sys/Cancel@1', { effect: work.effect, graceMs: 100 });
        return undefined;
      }
      case 'forge':
        return this.#forge(it);
      case 'time':
        this.world.advance(it.ms, it.leap);
        return undefined;
      case 'crash':
        this.#crashes++;
        this.world.crash();
        return undefined;
      default:
        return it satisfies never;
    }
  }

  #input({ who, priority, again }: Happening & { step: 'input' }): string | undefined {
    const key = this.#key(who);
    const command_id = (again ? this.#ids.at(-1) : undefined) ?? this.#id();
    const value = { parts: [this.#text()], command_id, priority, cause: { kind: 'operator' } };
    return this.world.request(SESSION_REDUCER, key, 'aos.agent/UserInput@1', value);
  }

  #command(it: CommandPlan): string | undefined {
    const key = this.#key(it.who);
    const epoch = this.#state(key)?.session_epoch ?? 0;
    const expected = it.epoch === 'none' ? {} : { expected_epoch: it.epoch === 'right' ? epoch : epoch + 1 };
    const value = { command_id: this.#id(), command: this.#commandOf(it), ...expected };
    this.auditor.expect(this.world, key, value);
    return this.world.request(SESSION_REDUCER, key, 'aos.agent/HostCommand@1', value);
  }

  #commandOf(it: CommandPlan): SessionCommand {
    switch (it.type) {
      case 'Steer':
      case 'FollowUp':
        return { type: it.type, parts: [this.#text()], ...(this.#n % 3 === 0 ? { pin: true as const } : {}) };
      case 'Cancel':
        return { type: 'Cancel', scope: it.scope };
      case 'Withdraw':
        return { type: 'Withdraw', command_id: this.#ids.at(-1 - it.which * 2) ?? 'nobody' };
      case 'Spawn': {
        const agent = { def_ref: refOf(2), config: this.#configOf(it.change) };
        return { type: 'Spawn', agent, agents: [], parts: [this.#text()] };
      }
      case 'Reconfigure':
        return { type: 'Reconfigure', patch: PATCHES[it.change % PATCHES.length] ?? {} };
      default:
        return { type: it.type };
    }
  }

  #configOf(change: number): AgentConfig {
    const config = configOf(this.definition, change);
    if (this.options.toolset !== true) return config;
    return { ...config, toolsets: [{ name: 'far', on_changed: 'ask', on_added: 'ask' }] };
  }

  #adopt(adopt: 'next_run' | 'next_step' | 'pin', change: number): string | undefined {
    const config = this.#configOf(change);
    const agents = ['a1', 'a2', 'broken'].map((agent) => ({
      def_ref: refOf(2),
      config: { ...config, agent, ...(agent === 'broken' ? { model: 'gone' } : {}) },
    }));
    return this.world.request(SESSION_REDUCER, ROOT, 'aos.agent/AgentAdopted@1', {
      def_ref: refOf(2),
      config,
      adopt,
      agents,
    });
  }

  /** The model answers; where none is asked, what is waited for comes, so that histories get somewhere. */
  #answer(it: Happening & { step: 'answer' }): string | undefined {
    const { which } = it;
    if (this.#working(toolsetRefresh.name).length > 0) return this.#toolsetSays(which);
    if (this.#working(llmGenerate.name).length > 0) return this.#modelSays(it);
    if (this.#working(toolCall.name).length > 0) return this.#toolSays({ step: 'tool', which, how: 0, tokens: null });
    if (this.world.waiting('approval').length > 0) return this.#decide({ step: 'decide', which, how: 'approve' });
    if (this.world.waiting('deferred').length > 0) return this.#settle({ step: 'settle', which, ok: true });
    return this.#input({ step: 'input', who: 0, priority: 0, again: false });
  }

  #modelSays(it: Happening & { step: 'answer' }): string | undefined {
    const { finish, returns, tokens, money } = it;
    const calls = it.again ? this.#lastCalls : it.calls;
    this.#lastCalls = calls;
    const judged = returns === 'fits' ? { value_ref: refOf(3) } : { issue_ref: refOf(4) };
    const payload: LlmGenerateReceipt = {
      output_ref: refOf(5 + (this.#n % 20)),
      raw_output_ref: refOf(1),
      request_digest: '0'.repeat(64),
      request_bytes: 200 + this.#n,
      finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      tool_calls: calls.map(callOf),
      ...(this.#n % 11 === 0 ? { blank: true as const } : {}),
      ...(returns === null ? {} : { returns: judged }),
    };
    const usage = {
      calls: 1,
      ...(tokens === null ? {} : { tokens_in: tokens, tokens_out: 3 }),
      ...(money === null ? {} : { micro_money: money }),
    };
    return this.#say(pick(this.#working(llmGenerate.name), it.which), {
      status: 'ok',
      payload: payload as unknown as Value,
      asked: { profile: 'test', model: 'test' },
      usage,
    });
  }

  /** What is found of the toolset: nothing new, another offer to ask about, or nobody there. */
  #toolsetSays(which: number): string | undefined {
    const taken = { tools_ref: refOf(20), known_ref: refOf(21) };
    const counts = { added: 1, removed: 0, changed: 1, withheld: 1 };
    const ask = { approved: taken, refused_ref: refOf(22) };
    const version = `${this.#n % 10}`.repeat(64);
    const news: readonly ToolsetNews[] = [
      { status: 'unchanged', toolset: 'far' },
      { status: 'changed', toolset: 'far', version, ...taken, ...counts, diff_ref: refOf(23), ask },
      { status: 'unreachable', toolset: 'far', code: 'adapter_error' },
    ];
    const found = news[this.#n++ % news.length];
    const payload = { toolsets: found === undefined ? [] : [found] } as unknown as Value;
    return this.#say(pick(this.#working(toolsetRefresh.name), which), { status: 'ok', payload });
  }

  #toolSays({ which, how, tokens }: Happening & { step: 'tool' }): string | undefined {
    const usage = tokens === null ? {} : { usage: { tokens_in: tokens, calls: 1 } };
    const said = TOOL_WORDS[how % TOOL_WORDS.length];
    return this.#say(pick(this.#working(toolCall.name), which), said && { ...said, ...usage });
  }

  #say(work: AtWork | undefined, said: Said | undefined): string | undefined {
    if (work !== undefined && said !== undefined) this.world.answer(work, said);
    return undefined;
  }

  #decide({ which, how }: Happening & { step: 'decide' }): string | undefined {
    const effect = pick(this.world.waiting('approval'), which);
    const params = effect && this.world.open.get(effect)?.params;
    if (effect === undefined || params === undefined) return undefined;
    const edited = { ...(params as object), args_ref: refOf(9), asked_ref: refOf(8) };
    const decision =
      how === 'deny' ? { approve: false } : { approve: true, ...(how === 'edit' ? { params: edited } : {}) };
    const said =
      which % 2 === 0 ? {} : { reason_ref: refOf(3), actor: { kind: 'rule', id: 'always', granted_by: 'ann' } };
    return this.world.command('sys/Decide@1', { effect, decision, ...said });
  }

  #settle({ which, ok }: Happening & { step: 'settle' }): string | undefined {
    const effect = pick(this.world.waiting('deferred'), which);
    if (effect === undefined) return undefined;
    const outcome = ok
      ? { status: 'ok', payload: { value_ref: refOf(6), text_ref: refOf(7) } }
      : { status: 'error', code: 'adapter_error/nobody' };
    return this.world.command('sys/Settle@1', { effect, outcome });
  }

  /** A principal that is neither a plan nor a child sends events that only those may send: each is refused. */
  #forge({ who, how }: Happening & { step: 'forge' }): string | undefined {
    const key = this.#key(who);
    const state = this.#state(key);
    const stale = how % 2;
    const fence = {
      session_epoch: state?.session_epoch ?? 0,
      step_epoch: (state?.step_epoch ?? 0) - Math.min(stale, state?.step_epoch ?? 0),
    };
    const call_id = state?.calls[0]?.call_id ?? 'none';
    const settled = {
      stop: { kind: 'Completed' },
      output_ref: null,
      value_ref: null,
      tally: { steps: 9, tokens_in: 9, tokens_out: 9, micro_money: 9 },
      more: false,
    };
    const forged: readonly [string, unknown][] = [
      ['aos.agent/ToolResult@1', { ...fence, call_id, outcome: { non_execution: { kind: 'failed' } } }],
      ['aos.agent/LlmStepFailed@1', { ...fence, code: 'adapter_error', retryable: false }],
      ['aos.agent/Compacted@1', { ...fence, base_ref: refOf(2) }],
      ['aos.agent/ChildNotice@1', { session: `${key}.c1`, run: 0, news: { kind: 'settled', ...settled } }],
    ];
    const [name, value] = forged[how % forged.length] ?? ['', {}];
    const refused = this.world.request(SESSION_REDUCER, key, name, value);
    return refused === 'request_rejected' ? undefined : `not refused as forged: ${refused ?? name}`;
  }

  #working(kind: string): AtWork[] {
    return [...this.world.running.values()].filter(({ leaf }) => leaf.name === kind);
  }

  #state(key: string): SessionState | undefined {
    return this.auditor.state(this.world, key);
  }

  #key(who: number): string {
    return pick(this.auditor.sessions, who) ?? ROOT;
  }

  #text() {
    return { kind: 'text' as const, text_ref: refOf(10 + (this.#n++ % 20)) };
  }

  #id(): string {
    const id = `i${this.#n++}`;
    this.#ids.push(id);
    return id;
  }
}

const PATCHES: readonly (SessionCommand & { type: 'Reconfigure' })['patch'][] = [
  { model: 'other' },
  { model: 'gone' },
  { limits: { max_steps: 60, max_turns: 60, max_tool_rounds: 60, max_tool_calls_per_step: 60 } },
  { limits: { max_tokens: null, max_micro_money: null, max_wall_ms: null } },
  { limits: { max_tokens: 100, on_limit: 'pause_and_ask' } },
  { limits: { max_wall_ms: 700, on_limit: 'fail' } },
  { options: { temperature: 1 }, context_window: 60 },
];

const STEP_FAILURES: readonly Said[] = [
  { status: 'error', code: 'provider_error_retryable', retryable: true },
  { status: 'error', code: 'provider_error_terminal', retryable: false },
  { status: 'timeout', code: 'adapter_timeout' },
  { status: 'cancelled' },
  { status: 'outcome_unknown' },
  { status: 'error', code: 'provider_error_terminal/context_limit', retryable: false },
];

const output = (more: object = {}): Value =>
  ({
    operator_output_ref: refOf(30),
    model_output_ref: refOf(31),
    truncation_meta: { original_bytes: 1, bounded_bytes: 1, truncated: false, policy_id: 'test' },
    is_error: false,
    ...more,
  }) as unknown as Value;

const TOOL_WORDS: readonly Said[] = [
  { status: 'ok', payload: output() },
  { status: 'ok', payload: output({ model_output_ref: refOf(32) }) },
  { status: 'ok', payload: output() },
  { status: 'ok', payload: output({ is_error: true, error_code: 'adapter_error' }) },
  {
    status: 'ok',
    payload: output({ files: [{ blob_ref: refOf(33), path: 'a.png', media_type: 'image/png', bytes: 3 }] }),
  },
  { status: 'error', code: 'adapter_error', retryable: false },
  { status: 'cancelled' },
  { status: 'outcome_unknown' },
  { status: 'outcome_unknown' },
  { status: 'timeout', code: 'adapter_timeout' },
];

/** A call as a model that was judged makes it. */
function callOf({
  id,
  what,
  n,
  approval,
  resource,
  parallel,
  polling,
  guarantee,
  onUnknown,
  ms,
}: CallPlan): LlmToolCall {
  const tool = what === 'tool' ? `t${n % 3}` : what;
  const session = opOf(what, n, ms);
  return {
    call_id: `k${id}`,
    tool,
    args_ref: refOf(11 + n),
    signature: digestOf([tool, n]).slice(0, 16),
    parallel,
    polling,
    guarantee,
    on_unknown: onUnknown,
    ...(what === 'issue' ? { issue: 'tool_not_found' as const, ...(n % 2 === 0 ? { issue_ref: refOf(1) } : {}) } : {}),
    ...(approval && n % 2 === 0 ? { approval: {} } : {}),
    ...(resource === null ? {} : { resource: `r${resource}` }),
    ...(ms === null ? {} : { timeout_ms: ms }),
    ...(session === undefined ? {} : { session }),
  };
}

function opOf(what: CallPlan['what'], n: number, ms: number | null): LlmToolCall['session'] {
  const within = ms === null ? {} : { within_ms: ms };
  const child = `c${1 + (n % 4)}`;
  const parts = [{ kind: 'text' as const, text_ref: refOf(14) }];
  if (what === 'ask')
    return { op: 'ask', question_ref: refOf(12), ...within, ...(n % 2 === 0 ? { default_ref: refOf(13) } : {}) };
  if (what === 'spawn')
    return { op: 'spawn', agent: AGENTS[n] ?? 'a1', parts, ...(n % 2 === 0 ? { max_tokens: 20 + n } : {}) };
  if (what === 'send_input') return { op: 'send_input', child, parts };
  if (what === 'wait')
    return { op: 'wait', children: n < 3 ? ['c1'] : ['c1', child], mode: n % 2 === 0 ? 'any' : 'all', ...within };
  return what === 'close' ? { op: 'close', child } : undefined;
}

const AGENTS = ['a1', 'a2', 'a1', 'a2', 'a1', 'unknown', 'broken'];

function configOf(plan: DefinitionPlan, change: number): AgentConfig {
  const { afterAnswer, small, tokens, money, wall } = plan;
  const after = change % 3 === 2 ? (afterAnswer === 'complete' ? 'wait' : 'complete') : afterAnswer;
  return {
    agent: 'actor',
    model: 'main',
    models: ['main', 'other'],
    options: {},
    system_ref: refOf(1),
    tools_ref: refOf(2),
    limits: {
      max_turns: small + change,
      max_steps: small * 2 + change,
      max_tool_rounds: small + change,
      max_tool_calls_per_step: Math.min(64, small + 1),
      max_depth: plan.depth,
      max_children: plan.children,
      on_limit: plan.onLimit,
      ...(tokens === null ? {} : { max_tokens: tokens }),
      ...(money === null ? {} : { max_micro_money: money }),
      ...(wall === null ? {} : { max_wall_ms: wall }),
    },
    loop:
      plan.loop === null
        ? null
        : {
            window: 6,
            repeats: 2,
            blind_repeats: 3,
            actions: LOOP_ACTIONS[plan.loop] ?? ['fail'],
            steer_ref: refOf(15),
          },
    context_window: plan.window,
    compaction: plan.keep === null ? null : { at: 85, keep: plan.keep, model: null, ask_ref: refOf(18) },
    after_answer: after === 'complete' ? 'complete' : { wait_ms: after === 'wait' ? null : after },
    repair_ref: plan.repair ? refOf(16) : null,
    unknown_question_ref: refOf(17),
    spawns: ['a1', 'a2', 'broken'],
    cancel_grace_ms: plan.grace,
  };
}

const LOOP_ACTIONS: readonly ('steer' | 'fail' | 'complete_with_warning')[][] = [
  ['steer'],
  ['fail'],
  ['complete_with_warning'],
  ['steer', 'fail'],
];

function pick<T>(list: readonly T[], index: number): T | undefined {
  return list.length === 0 ? undefined : list[index % list.length];
}
