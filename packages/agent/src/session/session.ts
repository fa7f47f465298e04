/** A session as an app uses it. This object stores nothing: it reads everything from the journal. */
import {
  type Address,
  isRepriseError,
  type JournalRecord,
  type Principal,
  RepriseError,
  requireKnownOptions,
} from '@reprise/contracts';
import { type Ack, recordsOf, type World } from '@reprise/kernel';
import type * as z from 'zod';
import { putText } from '../content/transcript.js';
import type { AgentEvent } from '../contracts/agent-event.js';
import type { Rejection, SessionCommand } from '../contracts/commands.js';
import type { Adopted } from '../contracts/config.js';
import type { SESSION_FACTS } from '../contracts/facts.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { ChildEntry, QueuedInput, SessionState } from '../contracts/state.js';
import type { TranscriptItem } from '../contracts/transcript.js';
import type { Agent, AnyAgent, ReturnOf } from '../define/agent.js';
import { type Limits, saidLimits } from '../define/limits.js';
import { requireOnePrice, requirePrices } from '../define/price.js';
import { type ModelInfos, type Reconfiguration, type StoredAgents, storePatch } from '../define/store-agent.js';
import { QUEUE_MAX } from '../reducer/queue.js';
import { framesOf, type PastBefore, type WatchOptions, watch } from './events.js';
import type { LiveAnswers } from './live.js';
import { type Input, storeParts } from './parts.js';
import { sessionRequestId } from './request-id.js';
import { Run, type RunPlace } from './run.js';

/** The options of a session command. */
export interface CommandOptions {
  /**
   * The command's id: sent again with the same content, it changes nothing and returns the same answer; with other
   * content it is refused with `request_conflict`.
   */
  readonly id?: string;
  /** Accepts the command only in this epoch of the session: `state().session_epoch`. */
  readonly ifEpoch?: number;
  /** The principal that sends the command; `operator` when absent. */
  readonly as?: Principal;
}

/** The options of a message. */
export interface SayOptions extends CommandOptions {
  /**
   * Whether the message stays in the window word for word when a summary replaces the conversation around it; the last
   * 16 pinned messages do.
   */
  readonly pin?: boolean;
}

/** The options of an input. */
export interface SendOptions extends Pick<SayOptions, 'id' | 'as' | 'pin'> {
  /** Higher values come first; 0 when absent. */
  readonly priority?: number;
}

const SEND_OPTIONS: Readonly<Record<keyof SendOptions, true>> = { id: true, as: true, pin: true, priority: true };

/** The result of a command, as recorded in the journal. */
export type CommandReceipt =
  | {
      readonly command_id: string;
      readonly status: 'accepted';
      /** Of a follow-up: the number of its run, which may begin later. */
      readonly run?: number;
      /** Of a cancel: how many inputs still wait. */
      readonly still_queued?: number;
    }
  | { readonly command_id: string; readonly status: 'rejected'; readonly code: Rejection | 'session_absent' };

/** The parts that a session object needs. */
interface SessionParts {
  readonly world: World;
  readonly models: ModelInfos;
  readonly stored: StoredAgents;
  readonly live: LiveAnswers;
  newId(): string;
  /** The places of a session's runs, from the first; only one when its number is given. */
  placesOf(session: string, run?: number): AsyncIterable<RunPlace>;
  readonly pastBefore: PastBefore;
}

/** The options of a new session. */
export interface SessionOptions {
  /**
   * Labels of the session: tools and rules receive them, and `world.sessions` finds sessions by them. They must not
   * contain personal data.
   */
  readonly labels?: Readonly<Record<string, string>>;
}

/** The options of a child session. */
interface SpawnOptions extends Pick<CommandOptions, 'id' | 'as'> {
  /** The budget of the child's runs; its agent's own limits apply as well. */
  readonly budget?: Pick<Limits, 'tokens' | 'usd' | 'wall'>;
}

type FactName = keyof typeof SESSION_FACTS;
type FactValue<N extends FactName> = z.infer<(typeof SESSION_FACTS)[N]>;

/**
 * A session: one agent's conversation, under a key. It exists from its first input on.
 *
 * @typeParam R the return type of its runs
 */
export class Session<R = unknown> {
  /** The session's cell. */
  readonly address: Address;

  constructor(
    private readonly parts: SessionParts,
    /** The session's key. */
    readonly key: string,
    private readonly agent: AnyAgent,
    private readonly options: SessionOptions = {},
  ) {
    this.address = [SESSION_REDUCER, key];
  }

  /** The session's durable state; undefined before its first input. */
  async state(): Promise<SessionState | undefined> {
    return (await this.parts.world.state(this.address)) as unknown as SessionState | undefined;
  }

  /** The transcript in order, from item `from` on: the prompts of the model are assembled from it. */
  async *transcript(from = 0): AsyncGenerator<TranscriptItem> {
    // The reducer's own schema checked each item before it was appended.
    for await (const item of this.parts.world.log(this.address, 'transcript', from))
      yield item as unknown as TranscriptItem;
  }

  /**
   * Sends an input to the agent. It starts a run, waits behind earlier inputs, or becomes the next turn of an open run.
   *
   * @param input a string, or parts
   * @returns the run, when its input is durable
   * @throws RepriseError `request_rejected` (`session_closed`, `queue_full`), `request_conflict`, `unknown_model`,
   *   `invalid_argument`, and what `World.request` throws
   * @example const run = await session.send('Refund o-1', { id: messageId })
   */
  async send(input: Input, options: SendOptions = {}): Promise<Run<R>> {
    requireKnownOptions(options, SEND_OPTIONS, 'send');
    await this.#adopt();
    const parts = await this.#store(input);
    const { id: command_id = this.parts.newId(), priority = 0 } = options;
    const value = { parts, ...pinned(options), command_id, priority, cause: { kind: 'operator' } };
    const ack = await this.#request('aos.agent/UserInput@1', value, { ...options, id: command_id });
    const accepted = await this.#fact(ack, 'aos.agent/InputAccepted@1', command_id);
    if (accepted !== undefined)
      return this.#run({ session: this.key, number: accepted.run, seq: ack.seq, input: command_id });
    throw await this.#refusal(ack, command_id);
  }

  /** Sends a message that the model reads before its next step, while a run is under way. */
  async steer(input: Input, options: SayOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Steer', parts: await this.#store(input), ...pinned(options) }, options);
  }

  /** Sends a message for a run of its own after the current one, or for the next turn of a run that waits for input. */
  async followUp(input: Input, options: SayOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'FollowUp', parts: await this.#store(input), ...pinned(options) }, options);
  }

  /** Withdraws a steer, a follow-up or an input that was not taken up yet. */
  withdraw(command_id: string, options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Withdraw', command_id }, options);
  }

  /**
   * Changes model, settings, instructions or limits from the next step on. A run that waits at a limit goes on when the
   * new limits permit it.
   *
   * @throws RepriseError `invalid_definition` for invalid limits and settings, and for a limit in money when a model
   * has no price
   */
  async reconfigure(change: Reconfiguration, options: CommandOptions = {}): Promise<CommandReceipt> {
    const { world, models } = this.parts;
    const patch = await storePatch(world.content, change, models);
    if (change.limits?.usd !== undefined) await this.#requirePrices(change.model);
    return this.#command({ type: 'Reconfigure', patch }, options);
  }

  /** Pauses the run: running work continues, nothing new begins. */
  pause(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Pause' }, options);
  }

  /** Resumes a paused run. After a failed or cancelled run, takes up the inputs that wait behind it. */
  resume(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Resume' }, options);
  }

  /**
   * Cancels running work, which has the agent's `cancelGrace` to stop; the model reads the outcome of each call at its
   * next step.
   *
   * @param options `scope`: `turn` ends the turn of a run that stays open for input, `run` (default) ends the run,
   * `all` also drops the waiting inputs; `reason` is for readers of the journal; the model is not told
   */
  async cancel(
    options: CommandOptions & { readonly scope?: 'turn' | 'run' | 'all'; readonly reason?: string } = {},
  ): Promise<CommandReceipt> {
    const { scope = 'run', reason, ...rest } = options;
    const reason_ref = reason === undefined ? {} : { reason_ref: await putText(this.parts.world.content, reason) };
    return this.#command({ type: 'Cancel', scope, ...reason_ref }, rest);
  }

  /**
   * Compacts the window: before the next step, of this run or of the next, a model writes a summary that replaces the
   * older part of the conversation in the prompt. The transcript keeps everything.
   */
  compact(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Compact' }, options);
  }

  /**
   * Closes the session: running work is cancelled, waiting inputs are dropped, and no further input is accepted. A
   * failed session is first revived with its state before the fault, under the caller's rights; its running work ended
   * with the fault.
   */
  async close(options: CommandOptions = {}): Promise<CommandReceipt> {
    const { as, id: command_id = this.parts.newId() } = options;
    try {
      return await this.#command({ type: 'Close' }, { ...options, id: command_id });
    } catch (error) {
      // A command with this id may have closed the session while it had failed.
      if (!isRepriseError(error, 'cell_failed') && !isRepriseError(error, 'request_conflict')) throw error;
    }
    const value = { command_id, command: { type: 'Close', at_once: true } };
    const ack = await this.parts.world.revive(this.address, {
      next: { name: 'aos.agent/HostCommand@1', value },
      id: sessionRequestId(this.key, command_id),
      ...(as && { as }),
    });
    return this.#receiptOf(ack, command_id);
  }

  /**
   * Makes a child session and sends it its first input. The child inherits the labels of this session and is closed
   * with it; it works whether or not this session does.
   *
   * @returns the child's run
   * @throws RepriseError `request_rejected` (`session_closed`, `too_many_children`), `unknown_model`, `invalid_argument`
   * @example const run = await boss.spawn(scout, 'item 1', { budget: { usd: 0.2, wall: '5m' } })
   */
  async spawn<A extends AnyAgent>(agent: A, input: Input, options: SpawnOptions = {}): Promise<Run<ReturnOf<A>>> {
    await this.#adopt();
    const { id: command_id = this.parts.newId(), budget = {}, as } = options;
    const { max_tokens, max_micro_money, max_wall_ms } = saidLimits(budget, 'spawn');
    if (max_micro_money !== undefined) requirePrices(this.parts.models, agent, true);
    const { agents, ...adopted } = await this.parts.stored.of(agent);
    const command: SessionCommand = {
      type: 'Spawn',
      agent: adopted,
      agents: [...agents],
      parts: await this.#store(input),
      ...(max_tokens === undefined ? {} : { max_tokens }),
      ...(max_micro_money === undefined ? {} : { max_micro_money }),
      ...(max_wall_ms === undefined ? {} : { max_wall_ms }),
    };
    const value = { command_id, command };
    const ack = await this.#request('aos.agent/HostCommand@1', value, { id: command_id, ...(as && { as }) });
    const accepted = await this.#fact(ack, 'aos.agent/HostCommandAccepted@1', command_id);
    if (accepted?.session === undefined) throw await this.#refusal(ack, command_id);
    const child = new Session<ReturnOf<A>>(this.parts, accepted.session, agent);
    return child.#run({ session: accepted.session, number: 0, seq: ack.seq });
  }

  /** A run by its number; undefined when the session has no such run. */
  async run(number: number): Promise<Run<R> | undefined> {
    for await (const place of this.parts.placesOf(this.key, number)) return this.#run(place);
    return undefined;
  }

  /** All runs of the session, the first one first. */
  async *runs(): AsyncGenerator<Run<R>> {
    for await (const place of this.parts.placesOf(this.key)) yield this.#run(place);
  }

  /**
   * The events of the session, in the order of the journal, until the world closes or `signal` aborts. With `after`,
   * exactly the events behind that one; otherwise from the beginning.
   */
  async *events(options: WatchOptions & { readonly tree?: boolean } = {}): AsyncGenerator<AgentEvent> {
    const { tree = false } = options;
    yield* watch(this.parts.world, { sessions: [this.key], tree }, this.parts.pastBefore, options);
  }

  async #refusal(ack: Ack, command_id: string): Promise<RepriseError> {
    const rejected = await this.#fact(ack, 'aos.agent/HostCommandRejected@1', command_id);
    return new RepriseError('request_rejected', `session ${this.key} refused this input`, {
      where: `frame ${ack.seq}`,
      actual: rejected?.code,
      reason: rejected?.code,
      hint: 'docs/reference/session-commands.md says when each refusal comes.',
    });
  }

  #run(place: RunPlace): Run<R> {
    const { world, live } = this.parts;
    const cancel = async (reason?: string) => {
      const { run, session_epoch = 0 } = (await this.state()) ?? {};
      if (
        run === undefined ||
        run === null ||
        (await this.#numberOf(place)) !== run.number ||
        (await this.#waits(place))
      )
        return this.#withdrawRun(place);
      return this.cancel({ scope: 'run', ifEpoch: session_epoch, ...(reason === undefined ? {} : { reason }) });
    };
    const { pastBefore } = this.parts;
    // A session without children never had any, so its tree needs no earlier frames.
    const past = async () => (((await this.state())?.spawned ?? 0) === 0 ? undefined : pastBefore(place.seq));
    return new Run<R>({ world, live, returns: this.agent.returns !== null, past, pastBefore, cancel }, place);
  }

  /** Cancels a run that waits its turn by withdrawing its input. */
  async #withdrawRun(place: RunPlace): Promise<CommandReceipt | undefined> {
    const input = await this.#inputOf(place);
    return input === undefined ? undefined : this.withdraw(input);
  }

  async #inputOf({ seq, number, input }: RunPlace): Promise<string | undefined> {
    if (input !== undefined) return input;
    const records = await this.#recordsAt(seq);
    return this.#factIn(records, 'aos.agent/InputAccepted@1', ({ run }) => run === number)?.command_id;
  }

  /** Whether the input of a run is in the queue. */
  async #waits(place: RunPlace): Promise<boolean> {
    if (((await this.state())?.queued ?? 0) === 0) return false;
    const input = await this.#inputOf(place);
    const rows = await this.parts.world.table(this.address, 'queue', { limit: QUEUE_MAX });
    return rows.some(([, row]) => (row as unknown as QueuedInput).command_id === input);
  }

  /** The number of the run that an input starts or joins, by the facts so far. */
  async #numberOf(place: RunPlace): Promise<number> {
    const { seq, number } = place;
    const input = await this.#inputOf(place);
    let told = number;
    for await (const frame of framesOf(this.parts.world, seq, { follow: false }))
      for (const record of frame.records) {
        if (!this.#isOwn(record, 'aos.agent/InputAccepted@1')) continue;
        const { command_id, run, moved_from } = record.value as unknown as FactValue<'aos.agent/InputAccepted@1'>;
        if (command_id === input && (place.input !== undefined || moved_from === number)) told = run;
      }
    return told;
  }

  /**
   * Refuses a limit in money unless the current model, the model of this change, and those of the agents below have
   * prices.
   */
  async #requirePrices(switched: string | undefined): Promise<void> {
    const { models } = this.parts;
    const alias = switched ?? (await this.state())?.config.model ?? this.agent.model;
    requireOnePrice(models, alias, 'reconfigure');
    for (const one of this.agent.spawns) requirePrices(models, one, true);
  }

  /**
   * Adopts the agent's definition in a new session, and a changed definition in an old one when the agent permits it.
   */
  async #adopt(): Promise<void> {
    const { world, stored } = this.parts;
    const { def_ref, config, agents } = await stored.of(this.agent);
    const known = await this.state();
    if (
      known !== undefined &&
      (known.depth > 0 || this.agent.adopt === 'pin' || (await this.#holds(known, def_ref.hex, agents)))
    )
      return;
    if (known === undefined) requireOwnKey(this.key);
    const labels = known === undefined && this.options.labels !== undefined ? { labels: this.options.labels } : {};
    await world.request(this.address, {
      name: 'aos.agent/AgentAdopted@1',
      value: { def_ref, config, adopt: this.agent.adopt, agents, ...labels },
    });
  }

  /** Whether the session has this definition, and those of the agents below it. */
  async #holds(known: SessionState, hex: string, agents: readonly Adopted[]): Promise<boolean> {
    if (known.def_ref.hex !== hex) return false;
    if (agents.length === 0) return true;
    const rows = await this.parts.world.table(this.address, 'agents', { limit: 64 });
    const held = new Map(rows.map(([name, row]) => [name, (row as unknown as Adopted).def_ref.hex]));
    return held.size === agents.length && agents.every(({ def_ref, config }) => held.get(config.agent) === def_ref.hex);
  }

  #store(input: Input) {
    return storeParts(this.parts.world.content, input, async (name) => {
      const [row] = await this.parts.world.table(this.address, 'children', { from: name, limit: 1 });
      return row?.[0] === name ? (row[1] as unknown as ChildEntry) : undefined;
    });
  }

  async #command(command: SessionCommand, options: CommandOptions): Promise<CommandReceipt> {
    const { id: command_id = this.parts.newId(), ifEpoch, as } = options;
    const value = { command_id, command, ...(ifEpoch === undefined ? {} : { expected_epoch: ifEpoch }) };
    try {
      const ack = await this.#request('aos.agent/HostCommand@1', value, { id: command_id, ...(as && { as }) });
      return await this.#receiptOf(ack, command_id);
    } catch (error) {
      if (!isRepriseError(error, 'cell_absent')) throw error;
      return { command_id, status: 'rejected', code: 'session_absent' };
    }
  }

  async #receiptOf(ack: Ack, command_id: string): Promise<CommandReceipt> {
    const rejected = await this.#fact(ack, 'aos.agent/HostCommandRejected@1', command_id);
    if (rejected !== undefined) return { command_id, status: 'rejected', code: rejected.code };
    const accepted = await this.#fact(ack, 'aos.agent/HostCommandAccepted@1', command_id);
    const { run, still_queued } = accepted ?? {};
    return {
      command_id,
      status: 'accepted',
      ...(run === undefined ? {} : { run }),
      ...(still_queued === undefined ? {} : { still_queued }),
    };
  }

  #request(name: string, value: unknown, { id, as }: { readonly id: string; readonly as?: Principal }): Promise<Ack> {
    return this.parts.world.request(
      this.address,
      { name, value },
      { id: sessionRequestId(this.key, id), ...(as && { as }) },
    );
  }

  /** A fact of a command, from the frame that accepted it: from memory when that frame was just written. */
  async #fact<N extends FactName>(ack: Ack, name: N, command_id: string): Promise<FactValue<N> | undefined> {
    const records = recordsOf(ack) ?? (await this.#recordsAt(ack.seq));
    return this.#factIn(
      records,
      name,
      (value) => (value as { readonly command_id?: string }).command_id === command_id,
    );
  }

  #factIn<N extends FactName>(
    records: readonly JournalRecord[],
    name: N,
    isMeant: (value: FactValue<N>) => boolean,
  ): FactValue<N> | undefined {
    // The reducer's own schema checked the value before it was journaled.
    const values = records.filter((record) => this.#isOwn(record, name)).map(({ value }) => value as never);
    return values.find(isMeant);
  }

  async #recordsAt(seq: number): Promise<readonly JournalRecord[]> {
    for await (const { records } of this.parts.world.frames(seq)) return records;
    return [];
  }

  #isOwn(record: JournalRecord, name: string): record is Extract<JournalRecord, { kind: 'fact' }> {
    return record.kind === 'fact' && record.name === name && record.from?.[1] === this.key;
  }
}

/** The session type of an agent, with the return type of its runs. */
export type SessionOf<A> = A extends Agent<infer _T, infer R> ? Session<R> : never;

/** Refuses keys that the reducer gives to children: a parent's key, `.c` and a number. */
function requireOwnKey(key: string): void {
  if (!/\.c[1-9][0-9]*$/.test(key)) return;
  throw new RepriseError('invalid_argument', 'this session key is reserved for a child session', {
    where: `session ${key}`,
    expected: 'a key that does not end in ".c" and a number',
    actual: key,
    hint: 'Choose another key for this session. A child that exists is reached under its key.',
  });
}

function pinned({ pin }: SayOptions): { readonly pin?: true } {
  return pin === true ? { pin } : {};
}
