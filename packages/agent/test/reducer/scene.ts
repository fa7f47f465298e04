/** A session in the hands of a test, without waiting: what is said to it, what models and tools answer, and time. */
import type {
  Actor,
  Address,
  DroppedCalls,
  LlmGenerateReceipt,
  LlmToolCall,
  PolicyRule,
  Ref,
  Usage,
  Value,
} from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import { type App, digestOf } from '@reprise/kernel/define';
import {
  type AgentConfig,
  humanAsk,
  SESSION_REDUCER,
  type SessionCommand,
  type SessionState,
  type TranscriptItem,
  toolCall,
} from '../../src/contracts/index.js';
import { llmGenerate } from '../../src/plans/effects.js';
import { agentApp } from '../../src/world/app.js';
import { type AtWork, BareWorld, type Frame, type Said } from '../histories/bare-world.js';
import { nameOf, refOf, TEXTS } from '../histories/content.js';
import { Transcripts } from '../histories/transcripts.js';

/** The session's key. */
export const KEY = 'root';

/** The definition that scenes begin with; each changes what it is about. */
export const CONFIG: AgentConfig = {
  agent: 'actor',
  model: 'main',
  models: ['main', 'other'],
  options: {},
  system_ref: refOf(1),
  tools_ref: refOf(2),
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
  compaction: { at: 85, keep: 2, model: null, ask_ref: refOf(18) },
  after_answer: 'complete',
  repair_ref: null,
  unknown_question_ref: refOf(17),
  spawns: [],
  cancel_grace_ms: 5_000,
};

/** What a scene changes in its definition. */
export type Change = Partial<Omit<AgentConfig, 'limits'>> & { readonly limits?: Partial<AgentConfig['limits']> };

/** A call as a test has the model make it. */
export type Call = Partial<Omit<LlmToolCall, 'call_id'>> & { readonly id: string };

/** An answer of the model. */
export interface Answer {
  readonly calls?: readonly Call[];
  readonly finish?: LlmGenerateReceipt['finish_reason'];
  readonly returns?: 'fits' | 'does not';
  readonly usage?: Usage;
  readonly bytes?: number;
  readonly warnings_ref?: Ref;
  readonly dropped?: DroppedCalls;
  /** Null: the receipt does not say whom the call asked. */
  readonly asked?: null;
}

type Fields = Readonly<Record<string, Value>>;

/** How a scene is set. */
export interface Setting {
  readonly policy?: readonly PolicyRule[];
  readonly agents?: Readonly<Record<string, Change>>;
  /** The app, in place of that of agents. */
  readonly app?: App;
  /** The cell of the app that makes the session: it is sent the adoption as `test/Make@1`. */
  readonly maker?: Address;
  /** The event, in place of `test/Make@1`. */
  readonly making?: string;
}

/** A session on its own, or with the children that it makes. */
export class Scene {
  readonly world: BareWorld;
  readonly #transcripts = new Transcripts();
  readonly #facts: { readonly key: string; readonly name: string; readonly value: Fields }[] = [];
  #texts = 10;
  #ids = 0;

  constructor(
    change: Change = {},
    private readonly setting: Setting = {},
  ) {
    const { policy } = setting;
    this.world = new BareWorld({
      app: setting.app ?? agentApp,
      handedOn: [humanAsk.name],
      onFrame: (frame) => this.#read(frame),
      ...(policy === undefined ? {} : { policy }),
    });
    for (const [ref, bytes] of TEXTS) this.world.put(ref, bytes);
    this.adopt(change);
  }

  /** Adopts a definition. @returns the code of a refusal */
  adopt(change: Change, adopt: 'next_run' | 'next_step' | 'pin' = 'next_run'): string | undefined {
    const agents = Object.entries(this.setting.agents ?? {}).map(([agent, own]) => ({
      def_ref: refOf(2),
      config: { ...configOf(own), agent },
    }));
    const spawns = agents.map(({ config }) => config.agent);
    const config = configOf({ spawns, ...change });
    const adopted = { def_ref: refOf(2), config, adopt, agents };
    const { maker, making = 'test/Make@1' } = this.setting;
    if (maker !== undefined) return this.world.request(maker[0], maker[1], making, { session: KEY, adopted });
    return this.send('aos.agent/AgentAdopted@1', adopted);
  }

  /** Sends any event. @returns the code of a refusal by the kernel */
  send(name: string, value: unknown, key = KEY): string | undefined {
    return this.world.request(SESSION_REDUCER, key, name, value);
  }

  /** A person sends a message. @returns what the session stated about it */
  input(id = `i${this.#ids++}`, more: { priority?: number; key?: string } = {}): Fields | undefined {
    const { priority = 0, key = KEY } = more;
    const value = { parts: [this.text()], command_id: id, priority, cause: { kind: 'operator' } };
    return this.#answerTo(id, () => this.send('aos.agent/UserInput@1', value, key));
  }

  /** Gives a command. @returns what the session stated about it */
  command(command: SessionCommand, more: { id?: string; epoch?: number; key?: string } = {}): Fields | undefined {
    const { id = `c${this.#ids++}`, epoch, key = KEY } = more;
    const expected = epoch === undefined ? {} : { expected_epoch: epoch };
    return this.#answerTo(id, () =>
      this.send('aos.agent/HostCommand@1', { command_id: id, command, ...expected }, key),
    );
  }

  /** Steers. */
  steer(id?: string): Fields | undefined {
    return this.command({ type: 'Steer', parts: [this.text()] }, id === undefined ? {} : { id });
  }

  /** Follows up. */
  followUp(id?: string): Fields | undefined {
    return this.command({ type: 'FollowUp', parts: [this.text()] }, id === undefined ? {} : { id });
  }

  #answerTo(id: string, give: () => string | undefined): Fields | undefined {
    const before = this.#facts.length;
    const refused = give();
    if (refused !== undefined) throw new Error(`the kernel refused ${id}: ${refused}`);
    const said = this.#facts.slice(before).find(({ name, value }) => ANSWERS.includes(name) && value.command_id === id);
    return said?.value;
  }

  /** Another text, as a part of an input. */
  text() {
    return { kind: 'text' as const, text_ref: refOf(this.#texts++) };
  }

  /** What works. */
  working(kind: string, key?: string): AtWork[] {
    const all = [...this.world.running.values()].filter(({ leaf }) => leaf.name === kind);
    return key === undefined ? all : all.filter(({ leaf }) => leaf.plan[1] === key);
  }

  /** The model answers. */
  answer(answer: Answer = {}, key = KEY): void {
    const { calls = [], finish, returns, usage = { calls: 1, tokens_in: 10, tokens_out: 1 }, bytes = 400 } = answer;
    const judged = returns === 'fits' ? { value_ref: refOf(3) } : { issue_ref: refOf(4) };
    const payload: LlmGenerateReceipt = {
      output_ref: refOf(5),
      raw_output_ref: refOf(6),
      request_digest: '0'.repeat(64),
      request_bytes: bytes,
      finish_reason: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      tool_calls: calls.map(callOf),
      ...(answer.dropped === undefined ? {} : { dropped_calls: answer.dropped }),
      ...(returns === undefined ? {} : { returns: judged }),
      ...(answer.warnings_ref === undefined ? {} : { warnings_ref: answer.warnings_ref }),
    };
    const asked = answer.asked === null ? {} : { asked: { profile: 'test', model: 'test' } };
    this.modelEnds({ status: 'ok', payload: payload as unknown as Value, ...asked, usage }, key);
  }

  /** The model call ends in any way. */
  modelEnds(said: Said, key = KEY): void {
    const [work] = this.working(llmGenerate.name, key);
    if (work === undefined) throw new Error('no model is asked');
    this.world.answer(work, said);
  }

  /** The calls that run, by id. */
  running(key = KEY): string[] {
    return this.working(toolCall.name, key).map(({ leaf }) => (leaf.params as unknown as { call_id: string }).call_id);
  }

  /** A tool answers a call. */
  toolAnswers(id: string, key = KEY): void {
    this.toolEnds(id, { status: 'ok', payload: outputOf(7) }, key);
  }

  /** A call ends in any way. */
  toolEnds(id: string, said: Said, key = KEY): void {
    const work = this.working(toolCall.name, key).find(
      ({ leaf }) => (leaf.params as unknown as { call_id: string }).call_id === id,
    );
    if (work === undefined) throw new Error(`no call ${id} is under way`);
    this.world.answer(work, said);
  }

  /** A person decides about the oldest call that waits for a decision. */
  decide(decision: object, said: { readonly reason_ref?: Ref; readonly actor?: Actor } = {}): string | undefined {
    const [effect] = this.world.waiting('approval');
    return this.world.command('sys/Decide@1', { effect, decision, ...said });
  }

  /** A person answers the oldest question. */
  settle(outcome: object = { status: 'ok', payload: { value_ref: refOf(8), text_ref: refOf(9) } }): string | undefined {
    const [effect] = this.world.waiting('deferred');
    return this.world.command('sys/Settle@1', { effect, outcome });
  }

  /** Time passes. */
  later(ms: number): void {
    this.world.advance(ms, false);
  }

  /** The session's state. */
  state(key = KEY): SessionState {
    return this.world.cell(SESSION_REDUCER, key)?.state as unknown as SessionState;
  }

  /** The state's bytes. */
  bytes(key = KEY): Uint8Array {
    return encode(this.state(key));
  }

  /** The lifecycle, with what is waited for. */
  lifecycle(key = KEY): string {
    const { lifecycle, waiting } = this.state(key);
    return lifecycle === 'WaitingInput' ? `${lifecycle}: ${waiting?.for}` : lifecycle;
  }

  /** How the last run ended. */
  stop(key = KEY) {
    return this.state(key).last?.stop;
  }

  /** The facts of a name. */
  facts(name: string, key = KEY): Fields[] {
    return this.#facts.flatMap((fact) => (fact.key === key && fact.name === `aos.agent/${name}@1` ? [fact.value] : []));
  }

  /** The names of all facts, in their order. */
  factNames(key = KEY): string[] {
    return this.#facts
      .filter((fact) => fact.key === key)
      .map(({ name }) => name.slice('aos.agent/'.length, -'@1'.length));
  }

  /** The lifecycle's moves. */
  moves(key = KEY): string[] {
    return this.facts('LifecycleChanged', key).map(({ from, to }) => `${from} → ${to}`);
  }

  /** The items of the transcript. */
  items(key = KEY): readonly TranscriptItem[] {
    return this.#transcripts.of(key);
  }

  /** The transcript in plain words. */
  transcript(key = KEY): string[] {
    return this.#transcripts.of(key).map(wordsOf);
  }

  #read(frame: Frame): void {
    this.#transcripts.read(frame);
    for (const record of frame.records) {
      if (record.kind === 'fault') throw new Error(`a fault: ${record.code}`);
      if (record.kind !== 'fact' || record.from === null) continue;
      this.#facts.push({ key: record.from[1], name: record.name, value: record.value as Fields });
    }
  }
}

const ANSWERS = ['HostCommandAccepted', 'HostCommandRejected', 'InputAccepted'].map((name) => `aos.agent/${name}@1`);

/** A scene that is replayed at its end. */
export async function play(change: Change, act: (scene: Scene) => void, setting: Setting = {}): Promise<void> {
  const scene = new Scene(change, setting);
  act(scene);
  await scene.world.verify();
}

/** What a tool gave. */
export function outputOf(n: number, more: object = {}): Value {
  const truncation_meta = { original_bytes: 1, bounded_bytes: 1, truncated: false, policy_id: 'test' };
  const output = { operator_output_ref: refOf(n), model_output_ref: refOf(n), truncation_meta, is_error: false };
  return { ...output, ...more } as unknown as Value;
}

function configOf({ limits, ...rest }: Change): AgentConfig {
  return { ...CONFIG, ...rest, limits: { ...CONFIG.limits, ...limits } };
}

function callOf({ id, ...more }: Call): LlmToolCall {
  const args_ref = more.args_ref ?? refOf(11);
  const signature = digestOf([more.tool ?? 'echo', args_ref.hex]).slice(0, 16);
  return { tool: 'echo', args_ref, signature, ...more, call_id: id };
}

function wordsOf(item: TranscriptItem): string {
  if (item.role === 'user')
    return `${item.origin}: ${item.parts.map((part) => (part.kind === 'text' ? nameOf(part.text_ref) : part.kind)).join(' ')}`;
  if (item.role === 'assistant')
    return `assistant${item.interrupted === true ? ' (interrupted)' : ''}: ${[...item.calls.map(({ call_id }) => call_id), ...(item.dropped_calls === undefined ? [] : [`(and ${item.dropped_calls.count} more)`])].join(' ')}`.trim();
  if (item.role === 'late') return `late ${item.call_id}: ${item.status}`;
  const { non_execution: none, children, answer, output_ref, call_id } = item;
  if (answer !== undefined)
    return `result ${call_id}: ${item.is_error ? 'error ' : ''}${JSON.stringify(answer.value)}${answer.refs.map(({ label, ref }) => ` ${label}=${nameOf(ref)}`).join('')}`;
  if (none !== undefined) return `result ${call_id}: (${none.kind}${none.code === undefined ? '' : ` ${none.code}`})`;
  if (children !== undefined)
    return `result ${call_id}: ${children.map(({ child, status, code }) => `${child} ${status}${code === undefined ? '' : ` ${code}`}`).join(', ')}`;
  return `result ${call_id}: ${output_ref === undefined ? '' : nameOf(output_ref)}`;
}
