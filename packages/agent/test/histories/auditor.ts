/**
 * Reads the frames of a history and knows, without the reducer's code, what may be there: what was said and in which
 * order, what waits, what was refused and why, what works. After each happening it compares the sessions with that.
 */
import type { JournalRecord, LlmGenerateParams, Value } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel';
import type { Lifecycle, SessionCommand, SessionState, StopReason } from '../../src/contracts/index.js';
import { humanAsk, SESSION_REDUCER, toolCall } from '../../src/contracts/index.js';
import { llmGenerate } from '../../src/plans/effects.js';
import { MOVES } from '../../src/reducer/transcript/lifecycle-table.js';
import type { BareWorld, Frame } from './bare-world.js';
import { KnownSession } from './known-session.js';
import { KnownWindow } from './known-window.js';
import { Transcripts } from './transcripts.js';

const TERMINAL: readonly Lifecycle[] = ['Idle', 'Completed', 'Failed', 'Cancelled'];
const STATE_BYTES_MAX = 32 * 1024;

type Fields = Readonly<Record<string, Value>>;

/** A command that is about to be given, and what has to come of it. */
interface Expected {
  readonly key: string;
  readonly command_id: string;
  readonly type: SessionCommand['type'];
  readonly refusal: string | undefined;
  readonly before: Uint8Array;
}

/** Audits one history. */
export class Auditor {
  runs = 0;
  children = 0;
  readonly met = new Map<string, number>();
  readonly #known = new Map<string, KnownSession>();
  readonly #transcripts = new Transcripts();
  readonly #effects = new Map<string, { name: string; session: string; once: boolean; starts: number; at: number }>();
  readonly #windows = new Map<string, KnownWindow>();
  #asked: { key: string; params: LlmGenerateParams }[] = [];
  #touched = new Set<string>();
  #expected: Expected | undefined;
  #now = 0;
  #seq = 0;

  /** The sessions, in the order in which they were made. */
  get sessions(): readonly string[] {
    return [...this.#known.values()].flatMap(({ made, key }) => (made ? [key] : []));
  }

  /** A session's state. */
  state(world: BareWorld, key: string): SessionState | undefined {
    const cell = world.cell(SESSION_REDUCER, key);
    return cell === undefined || !cell.live ? undefined : (cell.state as unknown as SessionState);
  }

  /** Whether any session has a run. */
  anyRun(world: BareWorld): boolean {
    return this.sessions.some((key) => this.state(world, key)?.run != null);
  }

  /** A command is about to be given. */
  expect(
    world: BareWorld,
    key: string,
    given: { command_id: string; command: SessionCommand; expected_epoch?: number },
  ): void {
    const state = this.state(world, key);
    const known = this.#known.get(key);
    if (state === undefined || known === undefined) return;
    const { command_id, command, expected_epoch } = given;
    const stale = expected_epoch !== undefined && expected_epoch !== state.session_epoch;
    const refusal = known.refusalOf(command, stale, state);
    this.#expected = { key, command_id, type: command.type, refusal, before: encode(state) };
  }

  /** Takes in a frame. @throws Error when it holds what may not be */
  read({ seq, at, records, changes, made }: Frame): void {
    this.#now = at;
    this.#seq = seq;
    for (const record of records) this.#record(record);
    for (const { key } of changes) if (key.path[0] === 'cell') this.#touched.add(String(key.path.at(-1)));
    for (const [key, items] of this.#transcripts.read({ changes, made })) this.#known.get(key)?.appended(items);
    // Held against the transcript as the frame leaves it: what a request tells was said before, or in the same frame.
    for (const { key, params } of this.#asked) this.#windowOf(key).requested(params, this.#transcripts.of(key));
    this.#asked = [];
  }

  /** Compares what is with what has to be. @throws Error when they differ */
  check(world: BareWorld): void {
    const touched = this.#touched;
    this.#touched = new Set();
    for (const key of touched) this.#checkSession(world, key);
    this.#checkExpected(world);
  }

  #record(record: JournalRecord): void {
    switch (record.kind) {
      case 'fault':
        throw new Error(`a fault: ${record.code} ${JSON.stringify(record)}`);
      case 'plan_ended':
        if (record.code !== null) throw new Error(`a plan failed: ${record.code}`);
        return;
      case 'request':
        return this.#delivered(record.to[1], record.event.name, record.event.value as Fields);
      case 'event':
        return this.#delivered(record.to[1], record.event.name, record.event.value as Fields);
      case 'fact':
        if (record.name.startsWith('aos.agent/') && record.from !== null)
          this.#fact(record.from[1], record.name, record.value as Fields);
        return;
      case 'effect':
        return this.#effect(record);
      case 'attempt':
        return this.#attempt(record.effect);
      default:
    }
  }

  #delivered(key: string, name: string, value: Fields): void {
    if (name === 'aos.agent/AgentAdopted@1' && !this.#known.has(key)) this.#known.set(key, new KnownSession(key));
    this.#known.get(key)?.delivered(name, value);
  }

  #fact(key: string, name: string, value: Fields): void {
    const known = this.#known.get(key);
    if (known === undefined) throw new Error(`a fact of ${key}, which is not known`);
    const short = name.slice('aos.agent/'.length, -2);
    this.#count(short);
    if (short === 'HostCommandRejected') this.#count(`refused ${value.code}`);
    if (short === 'ChildChanged' && value.status === 'spawned') this.children++;
    if (short === 'LifecycleChanged') this.#moved(known, value);
    if (short === 'LoopDetected') this.#count(`loop ${value.action} by ${value.by}`);
    if (short.startsWith('Compaction') || short === 'ContextCompacted') this.#count(`${short} by ${value.cause}`);
    if (short === 'LimitReached') this.#count(`limit ${value.limit}`);
    known.fact(short, value);
    this.#windowOf(key).fact(short, value);
  }

  #windowOf(key: string): KnownWindow {
    const window = this.#windows.get(key) ?? new KnownWindow(key);
    this.#windows.set(key, window);
    return window;
  }

  #moved(known: KnownSession, value: Fields): void {
    const { from, to } = value as unknown as { from: Lifecycle; to: Lifecycle };
    if (from !== known.lifecycle) throw new Error(`${known.key} moved from ${from}, and was ${known.lifecycle}`);
    if (!MOVES[from].includes(to)) throw new Error(`${known.key} moved from ${from} to ${to}`);
    this.#count(`${from} to ${to}`);
    const stop = value.stop as unknown as StopReason | undefined;
    if ((stop !== undefined) !== TERMINAL.includes(to)) throw new Error(`a move to ${to} with ${JSON.stringify(stop)}`);
    if (stop !== undefined) {
      const legal = { Completed: 'Completed', Cancelled: 'Cancelled', Failed: 'Failed', LimitsExceeded: 'Failed' }[
        stop.kind
      ];
      if (to !== legal) throw new Error(`${stop.kind} is not ${to}`);
      this.#count(
        `stop ${stop.kind} ${stop.kind === 'Failed' ? stop.code : stop.kind === 'LimitsExceeded' ? stop.limit : ((stop.kind === 'Completed' ? stop.warning : '') ?? '')}`,
      );
    }
    if (to === 'WaitingInput') this.#count(`waits for ${(value.waiting as Fields).for}`);
    if (TERMINAL.includes(from)) this.runs++;
    known.moved(to, value, this.#now);
  }

  #effect({ effect, name, plan, guarantee, params }: JournalRecord & { kind: 'effect' }): void {
    if (name === llmGenerate.name) this.#asked.push({ key: plan[1], params: params as unknown as LlmGenerateParams });
    this.#effects.set(effect, { name, session: plan[1], once: guarantee === 'at_most_once', starts: 0, at: this.#seq });
  }

  /** An effect starts: only of a session that works, and only once where once is all it may. */
  #attempt(id: string): void {
    const effect = this.#effects.get(id);
    if (effect === undefined) throw new Error('what starts was never emitted');
    const { name, session, once } = effect;
    if (effect.starts++ > 0 && once) throw new Error('an effect that may happen once was started twice');
    const lifecycle = this.#known.get(session)?.lifecycle;
    const works = lifecycle === 'Running' || lifecycle === 'WaitingInput';
    if (!works && effect.at === this.#seq)
      throw new Error(`${name} of ${session} was started while it was ${lifecycle}`);
  }

  #checkExpected(world: BareWorld): void {
    const expected = this.#expected;
    this.#expected = undefined;
    if (expected === undefined) return;
    const { key, command_id, type, refusal, before } = expected;
    const answer = this.#known.get(key)?.answers.get(command_id);
    const got = answer === undefined ? 'silence' : (answer ?? 'accepted');
    if (got !== (refusal ?? 'accepted'))
      throw new Error(`${type} to ${key}: ${got}, where it should be ${refusal ?? 'accepted'}`);
    this.#count(`${type} ${got}`);
    const state = this.state(world, key);
    if (refusal !== undefined && !equalBytes(before, encode(state)))
      throw new Error(`a refused ${type} changed ${key}`);
  }

  #checkSession(world: BareWorld, key: string): void {
    const known = this.#known.get(key);
    const cell = world.cell(SESSION_REDUCER, key);
    if (known === undefined || cell === undefined || !cell.live) return;
    if (cell.failed !== null) throw new Error(`${key} has failed: ${cell.failed}`);
    const state = cell.state as unknown as SessionState;
    const bytes = encode(state).length;
    if (bytes > STATE_BYTES_MAX) throw new Error(`the state of ${key} has ${bytes} bytes`);
    known.compare(state, this.#now);
    this.#windowOf(key).compare(state);
    checkTally(state);
    checkLimits(state);
    this.#checkWork(world, state, key);
  }

  /** The kernel's own ledger says what works and what waits: the lifecycle has to say the same. */
  #checkWork(world: BareWorld, state: SessionState, key: string): void {
    const { lifecycle, run, waiting } = state;
    const open = [...world.open.values()].filter(
      (leaf) => leaf.plan[0] === SESSION_REDUCER && leaf.plan[1] === key && leaf.late === undefined,
    );
    const plans = new Set([
      run?.step_plan,
      ...state.calls.filter(({ phase }) => phase !== 'settled').map(({ plan }) => plan),
    ]);
    const own = open.filter(({ plan }) => plans.has(plan[2]));
    const works = own.some(({ approval, deferred }) => approval === undefined && deferred === undefined);
    const approvals = own.some(({ approval }) => approval !== undefined);
    const asks = own.some(({ deferred, name }) => deferred !== undefined && name === humanAsk.name);
    // A step waits for children as well where they hold what it needs.
    const short = state.suspended === 'step' && run !== null && run.allocated.tokens + run.allocated.micro_money > 0;
    const children = short || state.calls.some(({ phase }) => phase === 'children');
    const by = works ? undefined : approvals ? 'approval' : asks ? 'ask' : children ? 'children' : undefined;
    if (lifecycle === 'Running' && !works) throw new Error(`${key} runs, and nothing works`);
    if (lifecycle === 'Cancelling' && own.length === 0) throw new Error(`${key} is stopping, and nothing is under way`);
    if (lifecycle === 'WaitingInput' && (waiting?.for === 'input' || waiting?.for === 'limit') && own.length > 0)
      throw new Error(`${key} waits for ${waiting.for}, and something is under way`);
    if (lifecycle === 'WaitingInput' && waiting?.for !== 'input' && waiting?.for !== 'limit' && waiting?.for !== by)
      throw new Error(`${key} waits for ${waiting?.for}, where it should be for ${by}`);
    const stray = open.filter(({ plan, cancelled }) => !plans.has(plan[2]) && cancelled === undefined);
    if (stray.length > 0) throw new Error(`${key} knows nothing of ${stray[0]?.name}, which is open`);
    const models = own.filter(({ name }) => name === llmGenerate.name).length;
    const tools = own.filter(({ name }) => name === toolCall.name).length;
    if (models > 1 || (models === 1 && tools > 0)) throw new Error(`${key} asks its model more than once at a time`);
  }

  #count(what: string): void {
    this.met.set(what, (this.met.get(what) ?? 0) + 1);
  }
}

function checkTally({ run }: SessionState): void {
  if (run === null) return;
  for (const amount of [
    ...Object.values(run.allocated),
    ...Object.values(run.tally),
    ...Object.values(run.children_tally),
  ])
    if (amount < 0) throw new Error('less than nothing is counted');
}

function checkLimits({ run }: SessionState): void {
  if (run === null) return;
  const { limits } = run.config;
  const known: readonly (readonly [string, number, number])[] = [
    ['steps', run.tally.steps, limits.max_steps],
    ['rounds', run.tool_rounds, limits.max_tool_rounds],
  ];
  for (const [what, used, of] of known)
    if (run.config_rev <= 1 && used > of) throw new Error(`${used} ${what} of ${of}`);
}
