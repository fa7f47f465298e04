/** A session as an app uses it. This object stores nothing: it reads everything from the journal. */
import {
  type Address,
  isRef,
  isRepriseError,
  isWhole,
  present,
  type Ref,
  RepriseError,
  requireArgument,
  requireKnownOptions,
} from '@reprise/contracts';
import type { Trouble, World } from '@reprise/kernel';
import { recordsOf } from '@reprise/kernel/world';
import { putText } from '../content/transcript.js';
import type { AgentEvent } from '../contracts/agent-event.js';
import type { SessionCommand } from '../contracts/commands.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { ChildEntry, QueuedInput, SessionState } from '../contracts/state.js';
import type { TranscriptItem } from '../contracts/transcript.js';
import { type Agent, type AnyAgent, type ReturnOf, requireAgents } from '../define/agent.js';
import { saidLimits } from '../define/limits.js';
import { requireOnePrice, requirePrices } from '../define/price.js';
import { type ModelInfos, type Reconfiguration, type StoredAgents, storePatch } from '../define/store-agent.js';
import { QUEUE_MAX } from '../reducer/run/queue.js';
import { adoptAgent } from './adopt-agent.js';
import { type Input, storeParts } from './parts.js';
import { sessionRequestId } from './request-id.js';
import { requireSound } from './require-sound.js';
import { type PastBefore, watch } from './run/events.js';
import type { LiveAnswers } from './run/live.js';
import type { Pending } from './run/pending.js';
import { Run, type RunPlace } from './run/run.js';
import { stallsOfSession } from './run/run-status.js';
import { RUN_WATCH_OPTIONS, type RunWatchOptions } from './run/run-watch.js';
import { SessionFacts } from './session-facts.js';
import {
  anId,
  type CancelOptions,
  type CommandOptions,
  type CommandReceipt,
  OPTION_NAMES,
  type SayOptions,
  type SendOptions,
  type SessionOptions,
  type SpawnOptions,
} from './session-options.js';
import { SessionRequests } from './session-requests.js';
import { type SessionWait, sessionWaits } from './waits.js';

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
  /** The pending items of a session. */
  pending(session: string): Promise<readonly Pending[]>;
}

/**
 * A session: one agent's conversation, under a key. It exists from its first input on.
 *
 * @typeParam R the return type of its runs
 */
export class Session<R = unknown> {
  /** The address of the session's cell in the world. */
  readonly address: Address;
  readonly #facts: SessionFacts;
  readonly #requests: SessionRequests;

  constructor(
    private readonly parts: SessionParts,
    /** The key of the session in the world. */
    readonly key: string,
    private readonly agent: AnyAgent,
    private readonly options: SessionOptions = {},
  ) {
    this.address = [SESSION_REDUCER, key];
    this.#facts = new SessionFacts(parts.world, key);
    this.#requests = new SessionRequests(parts.world, { key, address: this.address, facts: this.#facts }, () =>
      parts.newId(),
    );
  }

  /** The session's durable state; undefined before its first input. */
  async state(): Promise<SessionState | undefined> {
    return (await this.parts.world.state(this.address)) as unknown as SessionState | undefined;
  }

  /**
   * The troubles that keep the session, or a session below it, from going on: of the store, of its cell, of a service that it
   * waits for. See `World.trouble`.
   *
   * @example for (const { code, since } of await session.trouble()) console.log(`stalled: ${code}`, new Date(since))
   */
  trouble(): Promise<readonly Trouble[]> {
    return stallsOfSession(this.parts, this.key);
  }

  /**
   * What the session waits for, and what each session below it waits for: an approval or an answer of a person, the next
   * message, another limit, the app, the end of a pause, its children. Empty while it works, and once nothing is left to do.
   *
   * @throws RepriseError `cell_failed` when its cell has failed, `world_closed`
   * @example for (const { kind, session: key } of await session.waits()) console.log(`${key} waits for ${kind}`)
   */
  async waits(): Promise<readonly SessionWait[]> {
    await requireSound(this.parts.world, this.address);
    return sessionWaits(this.parts.world, this.key);
  }

  /** The transcript in order, from item `from` on: the prompts of the model are assembled from it. */
  async *transcript(from = 0): AsyncGenerator<TranscriptItem> {
    requireArgument(isWhole(from), 'session.transcript(from)', 'the index of an item, from 0', from);
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
    requireKnownOptions(options, OPTION_NAMES.send, 'send');
    try {
      return await this.#send(input, options);
    } catch (error) {
      throw isRepriseError(error, 'world_closed') ? unsent(this.key, error) : error;
    }
  }

  async #send(input: Input, options: SendOptions): Promise<Run<R>> {
    await this.#adopt();
    const parts = await this.#store(input);
    const { id: command_id = this.parts.newId(), priority = 0 } = options;
    const value = { parts, ...pinned(options), command_id, priority, cause: { kind: 'operator' } };
    const ack = await this.#requests.event('aos.agent/UserInput@1', value, { ...options, id: command_id });
    const accepted = await this.#facts.ofCommand(ack, 'aos.agent/InputAccepted@1', command_id);
    if (accepted !== undefined) {
      const place = { session: this.key, number: accepted.run, seq: ack.seq, input: command_id };
      // A repeated input may have been retried since: its newest run answers it.
      return this.#run(recordsOf(ack) === undefined ? await this.#newest(place) : place);
    }
    throw await this.#requests.refusal(ack, command_id);
  }

  /** Sends a message that the model reads before its next step, while a run is under way. */
  async steer(input: Input, options: SayOptions = {}): Promise<CommandReceipt> {
    requireKnownOptions(options, OPTION_NAMES.say, 'steer');
    return this.#requests.command({ type: 'Steer', parts: await this.#store(input), ...pinned(options) }, options);
  }

  /** Sends a message for a run of its own after the current one, or for the next turn of a run that waits for input. */
  async followUp(input: Input, options: SayOptions = {}): Promise<CommandReceipt> {
    requireKnownOptions(options, OPTION_NAMES.say, 'followUp');
    return this.#requests.command({ type: 'FollowUp', parts: await this.#store(input), ...pinned(options) }, options);
  }

  /** Brings the session back after its cell has failed, with the state before the fault. See `World.revive`. */
  async revive(options: CommandOptions = {}): Promise<void> {
    requireKnownOptions(options, OPTION_NAMES.command, 'session.revive');
    const { id = this.parts.newId(), as } = options;
    await this.parts.world.revive(this, { id: sessionRequestId(this.key, id), ...present({ as }) });
  }

  /** Withdraws a steer, a follow-up or an input that was not taken up yet. */
  async withdraw(command_id: string, options: CommandOptions = {}): Promise<CommandReceipt> {
    const { expected } = anId;
    requireArgument(anId.fits(command_id), 'session.withdraw(command_id)', `${expected}: an id`, command_id);
    return this.#plain('withdraw', { type: 'Withdraw', command_id }, options);
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
    requireKnownOptions(options, OPTION_NAMES.command, 'reconfigure');
    const patch = await storePatch(world.content, change, models);
    if (change.limits?.usd !== undefined) await this.#requirePrices(change.model);
    return this.#requests.command({ type: 'Reconfigure', patch }, options);
  }

  /** Pauses the run: running work continues, nothing new begins. */
  pause(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#plain('pause', { type: 'Pause' }, options);
  }

  /** Resumes a paused run. After a failed or cancelled run, takes up the inputs that wait behind it. */
  resume(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#plain('resume', { type: 'Resume' }, options);
  }

  /**
   * Answers the input of the last run anew, after that run failed, reached a limit or was cancelled. A new run goes on with the
   * conversation as it stands; its limits count from zero. The input keeps its id: sent again with it, it returns the new run.
   *
   * @throws RepriseError `request_rejected` with the reason `nothing_to_retry` when the last run completed or a run is under way,
   * `has_owner` when a tree, a job or another session leads this one (retry there), `session_closed`
   * @example const run = await session.retry()
   */
  retry(options: CommandOptions = {}): Promise<Run<R>> {
    return this.#retry({}, options);
  }

  /**
   * Cancels running work, which has the agent's `cancelGrace` to stop; the model reads the outcome of each call at its
   * next step.
   */
  async cancel(options: CancelOptions = {}): Promise<CommandReceipt> {
    requireKnownOptions(options, OPTION_NAMES.cancel, 'cancel');
    const { scope = 'run', reason, ...rest } = options;
    const reason_ref = reason === undefined ? {} : { reason_ref: await putText(this.parts.world.content, reason) };
    return this.#requests.command({ type: 'Cancel', scope, ...reason_ref }, rest);
  }

  /**
   * Compacts the window: before the next step, of this run or of the next, a model writes a summary that replaces the
   * older part of the conversation in the prompt. The transcript keeps everything.
   */
  compact(options: CommandOptions = {}): Promise<CommandReceipt> {
    return this.#plain('compact', { type: 'Compact' }, options);
  }

  /**
   * Takes a file or an image out of the conversation, wherever it stands in it: from the next step on, the model is told its
   * name, size and type, and that it was taken out. The transcript keeps it. For a part that a provider refuses, which would
   * fail every later run; the error of the refusal names it.
   *
   * @param part the digest of its content, such as `sha256:9f86…`, or its link
   * @throws RepriseError `invalid_argument` when no file and no image of the conversation has this content
   * @returns a receipt; `already_dropped` and `too_many_dropped` are refusals
   * @example
   * await session.drop('sha256:9f86…')
   * const run = await session.retry()
   */
  async drop(part: string | Ref, options: CommandOptions = {}): Promise<CommandReceipt> {
    const [, content] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(isRef(part) ? part.hex : String(part)) ?? [];
    const expected = 'the digest of a file or an image, such as sha256:9f86…';
    requireArgument(content !== undefined, 'session.drop(part)', expected, part);
    if (!(await this.#holds(content))) throw notHeld(this.key, content);
    return this.#plain('drop', { type: 'Drop', content }, options);
  }

  /**
   * Closes the session: running work is cancelled, waiting inputs are dropped, and no further input is accepted. A
   * failed session is first revived with its state before the fault, under the caller's rights; its running work ended
   * with the fault.
   */
  async close(options: CommandOptions = {}): Promise<CommandReceipt> {
    requireKnownOptions(options, OPTION_NAMES.command, 'close');
    return this.#requests.close(options);
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
    requireAgents([agent], 'session.spawn');
    requireKnownOptions(options, OPTION_NAMES.spawn, 'spawn');
    await this.#adopt();
    const { id: command_id = this.parts.newId(), budget = {}, ...who } = options;
    const { max_tokens, max_micro_money, max_wall_ms } = saidLimits(budget, 'spawn');
    if (max_micro_money !== undefined) requirePrices(this.parts.models, agent, true);
    const { agents, ...adopted } = await this.parts.stored.of(agent);
    const command: SessionCommand = present({
      type: 'Spawn' as const,
      agent: adopted,
      agents: [...agents],
      parts: await this.#store(input),
      max_tokens,
      max_micro_money,
      max_wall_ms,
    });
    const value = { command_id, command };
    const ack = await this.#requests.event('aos.agent/HostCommand@1', value, { ...who, id: command_id });
    const accepted = await this.#facts.ofCommand(ack, 'aos.agent/HostCommandAccepted@1', command_id);
    if (accepted?.session === undefined) throw await this.#requests.refusal(ack, command_id);
    const child = new Session<ReturnOf<A>>(this.parts, accepted.session, agent);
    return child.#run({ session: accepted.session, number: 0, seq: ack.seq });
  }

  /** A run by its number; undefined when the session has no such run. */
  async run(number: number): Promise<Run<R> | undefined> {
    requireArgument(isWhole(number), 'session.run(number)', 'the number of a run, from 0', number);
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
  events(options: RunWatchOptions = {}): AsyncGenerator<AgentEvent> {
    requireKnownOptions(options, RUN_WATCH_OPTIONS, 'session.events');
    const { tree = false } = options;
    return watch(this.parts.world, { sessions: [this.key], tree }, this.parts.pastBefore, options);
  }

  /** Whether a file or an image of the conversation has this content. */
  async #holds(content: string): Promise<boolean> {
    for await (const item of this.transcript()) {
      const files = item.role === 'user' ? item.parts : item.role === 'tool' ? (item.files ?? []) : [];
      if (files.some((file) => 'blob_ref' in file && file.blob_ref.hex === content)) return true;
    }
    return false;
  }

  /** Sends a command that has no options of its own. */
  async #plain(method: string, command: SessionCommand, options: CommandOptions): Promise<CommandReceipt> {
    requireKnownOptions(options, OPTION_NAMES.command, method);
    return this.#requests.command(command, options);
  }

  async #retry(which: { readonly run?: number }, options: CommandOptions): Promise<Run<R>> {
    requireKnownOptions(options, OPTION_NAMES.command, 'retry');
    const { id = this.parts.newId() } = options;
    const receipt = await this.#requests.command({ type: 'Retry', ...which }, { ...options, id });
    if (receipt.status === 'rejected') throw notRetried(this.key, receipt.code);
    for await (const place of this.parts.placesOf(this.key, receipt.run)) {
      const input = await this.#facts.inputOf(place);
      return this.#run({ ...place, ...(input === undefined ? {} : { input }) });
    }
    throw notRetried(this.key, 'nothing_to_retry');
  }

  /** The newest run of an input. */
  async #newest(place: RunPlace): Promise<RunPlace> {
    const number = await this.#facts.numberOf(place);
    if (number === place.number) return place;
    for await (const newest of this.parts.placesOf(this.key, number)) return { ...place, ...newest };
    return place;
  }

  #run(place: RunPlace): Run<R> {
    const { world, live } = this.parts;
    const cancel = async (reason?: string) => {
      const { run, session_epoch = 0 } = (await this.state()) ?? {};
      if (
        run === undefined ||
        run === null ||
        (await this.#facts.numberOf(place)) !== run.number ||
        (await this.#waits(place))
      )
        return this.#withdrawRun(place);
      return this.cancel({ scope: 'run', ifEpoch: session_epoch, ...(reason === undefined ? {} : { reason }) });
    };
    const { pastBefore, pending } = this.parts;
    const retry = async (options: CommandOptions) => {
      requireKnownOptions(options, OPTION_NAMES.command, 'run.retry');
      return this.#retry({ run: await this.#facts.numberOf(place, options.id) }, options);
    };
    // A session without children never had any, so its tree needs no earlier frames.
    const past = async () => (((await this.state())?.spawned ?? 0) === 0 ? undefined : pastBefore(place.seq));
    return new Run<R>(
      { world, live, returns: this.agent.returns !== null, past, pastBefore, pending, cancel, retry },
      place,
    );
  }

  /** Cancels a run that waits its turn by withdrawing its input. */
  async #withdrawRun(place: RunPlace): Promise<CommandReceipt | undefined> {
    const input = await this.#facts.inputOf(place);
    return input === undefined ? undefined : this.withdraw(input);
  }

  /** Whether the input of a run is in the queue. */
  async #waits(place: RunPlace): Promise<boolean> {
    if (((await this.state())?.queued ?? 0) === 0) return false;
    const input = await this.#facts.inputOf(place);
    const rows = await this.parts.world.table(this.address, 'queue', { limit: QUEUE_MAX });
    return rows.some(([, row]) => (row as unknown as QueuedInput).command_id === input);
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

  async #adopt(): Promise<void> {
    const { key, address } = this;
    await adoptAgent(this.parts, this.agent, { key, address, state: () => this.state(), labels: this.options.labels });
  }

  #store(input: Input) {
    return storeParts(this.parts.world.content, input, async (name) => {
      const [row] = await this.parts.world.table(this.address, 'children', { from: name, limit: 1 });
      return row?.[0] === name ? (row[1] as unknown as ChildEntry) : undefined;
    });
  }
}

function notRetried(key: string, reason: string): RepriseError {
  return new RepriseError('request_rejected', `session ${key} has no run to retry`, {
    where: `session ${key}`,
    reason,
    expected: 'a last run that failed, reached a limit or was cancelled',
    hint: 'docs/reference/session-commands.md says when each refusal comes.',
  });
}

function notHeld(key: string, content: string): RepriseError {
  return new RepriseError('invalid_argument', 'no file and no image of the conversation has this content', {
    where: `session ${key}, session.drop(part)`,
    expected: 'the digest of a part, as the error of the refusal names it',
    actual: `sha256:${content}`,
    hint: 'session.transcript() lists the parts: each has a blob_ref.',
  });
}

/** The session type of an agent, with the return type of its runs. */
export type SessionOf<A> = A extends Agent<infer _T, infer R> ? Session<R> : never;

function pinned({ pin }: SayOptions): { readonly pin?: true } {
  return pin === true ? { pin } : {};
}

/** Where `await` was forgotten, the code behind it failed first, and `await using` has closed the world meanwhile. */
function unsent(session: string, cause: RepriseError): RepriseError {
  return new RepriseError('world_closed', 'the world was closed before it had taken the message', {
    where: `session ${session}`,
    hint: 'Open the world again and send the message under the same id. If `send` was called without `await`, the world was closed at once: write `const run = await session.send(…)`.',
    cause,
  });
}
