/** A session as an app talks to it. It keeps nothing: what it knows is read from the journal. */
import { type Address, isRepriseError, type JournalRecord, type Principal, RepriseError } from '@reprise/contracts';
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

/** How something is asked of a session. */
export interface CommandOptions {
  /** Its name: sent again, it changes nothing and gives the same answer; with other content it is `request_conflict`. */
  readonly id?: string;
  /** Only while the session is in this epoch: `state().session_epoch`. */
  readonly ifEpoch?: number;
  /** Who asks; `host` when absent. */
  readonly as?: Principal;
}

/** How something is said. */
export interface SayOptions extends CommandOptions {
  /** Whether it stays before the model word for word when the conversation around it becomes a summary; the last 16 do. */
  readonly pin?: boolean;
}

/** How an input is sent. */
export interface SendOptions extends Pick<SayOptions, 'id' | 'as' | 'pin'> {
  /** Higher comes first; 0 when absent. */
  readonly priority?: number;
}

/** What became of a command, as the journal says it. */
export type CommandReceipt =
  | {
      readonly command_id: string;
      readonly status: 'accepted';
      /** Of a follow-up: the number of the run it is, or will be. */
      readonly run?: number;
      /** Of a cancel: inputs that wait still. */
      readonly still_queued?: number;
    }
  | { readonly command_id: string; readonly status: 'rejected'; readonly code: Rejection | 'session_absent' };

/** What a session is made with. */
export interface SessionParts {
  readonly world: World;
  readonly models: ModelInfos;
  readonly stored: StoredAgents;
  readonly live: LiveAnswers;
  newId(): string;
  /** The places of a session's runs, from the first; of one when its number is given. */
  placesOf(session: string, run?: number): AsyncIterable<RunPlace>;
  readonly pastBefore: PastBefore;
}

/** How a session is made. */
export interface SessionOptions {
  /** What it is known by besides its key: told to tools and rules, and found by. Without personal data. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** How a child is made. */
export interface SpawnOptions extends Pick<CommandOptions, 'id' | 'as'> {
  /** What its runs may use at most; its agent's own limits count as well. */
  readonly budget?: Pick<Limits, 'tokens' | 'usd' | 'wall'>;
}

type FactName = keyof typeof SESSION_FACTS;
type FactValue<N extends FactName> = z.infer<(typeof SESSION_FACTS)[N]>;

/**
 * A session: one agent's conversation, under a key. It exists from its first input on.
 *
 * @typeParam R what its runs return
 */
export class Session<R = unknown> {
  /** The session's cell. */
  readonly address: Address;

  constructor(
    private readonly parts: SessionParts,
    /** Its key. */
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

  /** What was said, in order, from item `from` on: what the model is shown is made from it. */
  async *transcript(from = 0): AsyncGenerator<TranscriptItem> {
    // The reducer's own schema checked each item before it was appended.
    for await (const item of this.parts.world.log(this.address, 'transcript', from))
      yield item as unknown as TranscriptItem;
  }

  /**
   * Says something to the agent. It starts a run, waits for those before it, or is the next turn of one that is open.
   *
   * @param input a text, or parts
   * @returns the run, when its input is durable
   * @throws RepriseError `request_rejected` (`session_closed`, `queue_full`), `request_conflict`, `unknown_model`,
   *   `invalid_argument`, and what `World.request` throws
   * @example const run = await session.send('Refund o-1', { id: messageId })
   */
  async send(input: Input, options: SendOptions = {}): Promise<Run<R>> {
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

  /** Says something to the model before its next step, while a run is under way. */
  async steer(input: Input, options: SayOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Steer', parts: await this.#store(input), ...pinned(options) }, options);
  }

  /** Says something after the current run, in a run of its own; or as the next turn of a run that is open. */
  async followUp(input: Input, options: SayOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'FollowUp', parts: await this.#store(input), ...pinned(options) }, options);
  }

  /** Takes back a steer, a follow-up or an input that was not taken up yet. */
  withdraw(command_id: string, options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Withdraw', command_id }, options);
  }

  /**
   * Changes model, settings, instructions or limits from the next step on. A run that waits at a limit goes on when it
   * may again.
   *
   * @throws RepriseError `invalid_definition` for limits and settings that are none, and for a limit in money where a
   *   model has no price
   */
  async reconfigure(change: Reconfiguration, options: CommandOptions = {}): Promise<CommandReceipt> {
    const { world, models } = this.parts;
    const patch = await storePatch(world.content, change, models);
    if (change.limits?.usd !== undefined) await this.#requirePrices(change.model);
    return this.#command({ type: 'Reconfigure', patch }, options);
  }

  /** Lets the run rest: what runs goes on, nothing new begins. */
  pause(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Pause' }, options);
  }

  /** Lets a paused run go on; or, after a run that failed or was cancelled, takes up what waits behind it. */
  resume(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Resume' }, options);
  }

  /**
   * Cancels. What runs is told to stop and has the agent's `cancelGrace`; what became of each call is told to the model
   * at its next step.
   *
   * @param options `scope`: `turn` of a run that stays open for input, `run` (default), or `all` that waits as well; `reason`: why, for
   *   whoever reads the journal later; the model is not told
   */
  async cancel(
    options: CommandOptions & { readonly scope?: 'turn' | 'run' | 'all'; readonly reason?: string } = {},
  ): Promise<CommandReceipt> {
    const { scope = 'run', reason, ...rest } = options;
    const reason_ref = reason === undefined ? {} : { reason_ref: await putText(this.parts.world.content, reason) };
    return this.#command({ type: 'Cancel', scope, ...reason_ref }, rest);
  }

  /**
   * Makes room in the model's window: before the next step, of this run or of the next, a model writes a summary of the
   * older part of the conversation, and is shown that in its place. The transcript keeps everything.
   */
  compact(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#command({ type: 'Compact' }, options);
  }

  /**
   * Ends the session: what runs is cancelled, what waits is dropped, and no input is taken any more. One that has failed is
   * brought back for it, by whoever closes it, in the state before its fault; what it had under way ended with that.
   */
  async close(options: CommandOptions = {}): Promise<CommandReceipt> {
    const { as, id: command_id = this.parts.newId() } = options;
    try {
      return await this.#command({ type: 'Close' }, { ...options, id: command_id });
    } catch (error) {
      // Under this id it may have been closed when it had failed.
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
   * Makes a child session and gives it its first input. It lives under this one: it has its labels, and ends when this
   * one is closed; it works whether or not this one does.
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

  /** A run by its number; undefined when there is none. */
  async run(number: number): Promise<Run<R> | undefined> {
    for await (const place of this.parts.placesOf(this.key, number)) return this.#run(place);
    return undefined;
  }

  /** Its runs, the first one first. */
  async *runs(): AsyncGenerator<Run<R>> {
    for await (const place of this.parts.placesOf(this.key)) yield this.#run(place);
  }

  /**
   * What happens in the session, in the order of the journal, until the world closes or `signal` aborts. With `after`
   * exactly what comes behind that event; else from the beginning.
   */
  async *events(options: WatchOptions & { readonly tree?: boolean } = {}): AsyncGenerator<AgentEvent> {
    const { tree = false } = options;
    yield* watch(this.parts.world, { sessions: [this.key], tree }, this.parts.pastBefore, options);
  }

  async #refusal(ack: Ack, command_id: string): Promise<RepriseError> {
    const rejected = await this.#fact(ack, 'aos.agent/HostCommandRejected@1', command_id);
    return new RepriseError('request_rejected', `session ${this.key} does not take this input`, {
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
    // A session without children has had none: who sees its tree needs nothing of the past.
    const past = async () =>
      ((await this.state())?.spawned ?? 0) === 0 ? undefined : this.parts.pastBefore(place.seq);
    return new Run<R>({ world, live, returns: this.agent.returns !== null, past, cancel }, place);
  }

  /** A run that waits its turn is cancelled by taking its input back. */
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

  /** The number of the run that an input is, or is a turn of, by what has been said of it so far. */
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

  /** A limit in money is stated: the model at hand, or the one that is switched to, and those below have to have prices. */
  async #requirePrices(switched: string | undefined): Promise<void> {
    const { models } = this.parts;
    const alias = switched ?? (await this.state())?.config.model ?? this.agent.model;
    requireOnePrice(models, alias, 'reconfigure');
    for (const one of this.agent.spawns) requirePrices(models, one, true);
  }

  /** A new session takes the agent's definition; an old one takes a changed one, when the agent says it may. */
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

  /** A fact of a command, from the frame that took it: at hand of one that was just written. */
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

/** The session of an agent, typed by what its runs return. */
export type SessionOf<A> = A extends Agent<infer _T, infer R> ? Session<R> : never;

/** A child is made under its parent's key and a number: a session under such a key would stand in its place. */
function requireOwnKey(key: string): void {
  if (!/\.c[1-9][0-9]*$/.test(key)) return;
  throw new RepriseError('invalid_argument', 'a key that ends like this is kept for a child session', {
    where: `session ${key}`,
    expected: 'a key that does not end with ".c" and a number',
    actual: key,
    hint: 'Choose another key for this session. A child that exists is reached under its key.',
  });
}

function pinned({ pin }: SayOptions): { readonly pin?: true } {
  return pin === true ? { pin } : {};
}
