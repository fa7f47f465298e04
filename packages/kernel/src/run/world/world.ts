/**
 * A world: one journal, open for writing. The unit of order, ownership, trust and replay.
 *
 * Owns the public surface and its promises. Requests go to `asking.ts`, reads to `reading.ts`, working and closing to
 * `lifetime.ts`. The stepper handles frames, the executor effects, and the timers time.
 */
import {
  type Account,
  type Address,
  type CommandName,
  type CommandValue,
  type EffectDecision,
  type Principal,
  RepriseError,
  type Settlement,
  type Value,
} from '@reprise/contracts';
import type { ContentStore } from '../../ports/content/port.js';
import type { Head } from '../../ports/journal/port.js';
import type { Scrubber } from '../../ports/scrub/index.js';
import type { Backup } from '../../ports/store/store.js';
import { type Clock, systemClock } from '../../ports/time/clock.js';
import type { ClockJump } from '../../ports/time/stamper.js';
import { addressOf, type CellOf, type TableRange } from '../../pure/define/index.js';
import { type ForkLeaf, REVIVE } from '../../pure/engine/index.js';
import type { ForkOptions, ForkSource, MadeFork } from '../../replay/fork/index.js';
import type { VerifyReport, WorldAt } from '../../replay/verify/index.js';
import type { HolderRights } from '../../state/holder-rights.js';
import type { Trouble, TroubleListener } from '../../state/trouble.js';
import { DryAnswers } from '../dispatch/dry-answers.js';
import {
  Asking,
  type Decider,
  type DecisionOptions,
  type EraseOptions,
  type EraseReport,
  type RequestOptions,
  type SettleAck,
  type TracedOptions,
} from './ask/asking.js';
import type { DecidedItem, PendingItem } from './ask/open-items.js';
import { type ClockConfirmation, requireConfirmation } from './life/confirm-clock.js';
import type { EraseTarget } from './life/erasure.js';
import type { FeedOptions, FeedReport } from './life/feed.js';
import { Lifetime, type PumpReport } from './life/lifetime.js';
import type { WorldParts } from './parts.js';
import { type AwaitedCell, type OpenEffect, Reading, type WorldFrame } from './read/reading.js';
import { WorldView } from './read/view.js';
import type { Ack } from './write/acknowledgement.js';

/** An event as a caller sends it. */
interface SentEvent {
  readonly name: string;
  readonly value: unknown;
}

/** Loads what few worlds are asked for. */
const onRequest = () => import('./on-request.js');

const CLOCKS = new WeakMap<World, Clock>();

/** The clock of a world, for what waits in its time; that of the platform for what is no open world. */
export function clockOf(world: World): Clock {
  return CLOCKS.get(world) ?? systemClock;
}

/** An open world. Made by {@link openWorld}. */
export class World implements AsyncDisposable {
  readonly #asking: Asking;
  readonly #reading: Reading;
  readonly #lifetime: Lifetime;

  constructor(private readonly parts: WorldParts) {
    CLOCKS.set(this, parts.clock);
    this.#asking = new Asking(parts);
    this.#reading = new Reading(parts);
    this.#lifetime = new Lifetime(parts);
  }

  /** The world's random identity, as 64 hex digits. */
  get id(): string {
    return this.parts.id;
  }

  /** Where this world was forked from, and whether the fork is live or dry; undefined for a world that is not a fork. */
  get forked(): (ForkLeaf['from'] & Pick<ForkLeaf, 'mode'>) | undefined {
    const { fork } = this.parts;
    return fork && { ...fork.from, mode: fork.mode };
  }

  /** Whether this opening created the world. */
  get created(): boolean {
    return this.parts.created;
  }

  /** The last durable frame and the chain digest after it. */
  get head(): Head {
    return this.parts.stepper.head;
  }

  /** Why nothing more is written: `world_closed`, or the error that closed the world; undefined while it is open. */
  get closedBy(): RepriseError | undefined {
    return this.parts.stepper.closedBy;
  }

  /** Resolves, with the same error, when nothing more is written. */
  get ended(): Promise<RepriseError> {
    return this.parts.ended;
  }

  /**
   * Whether work is left that goes on by itself while the world is open, or as soon as it is opened again: something is
   * queued, runs, waits for its turn or was interrupted. Timers and pending external input do not count.
   */
  get unfinished(): boolean {
    return this.#lifetime.unfinished;
  }

  /** The journal time, in milliseconds, at which time alone makes something happen next; undefined for never. */
  get nextWakeAt(): number | undefined {
    return this.#lifetime.nextWakeAt;
  }

  /** The journal's time now, in milliseconds. */
  get now(): number {
    return this.parts.stamper.now();
  }

  /**
   * The wall clock when it is too far ahead for the world to follow; undefined when all is well. The world's time goes
   * on by the monotonic clock until the wall clock comes back, or {@link World.confirmClock}.
   */
  get clockJump(): ClockJump | undefined {
    return this.parts.stamper.jump;
  }

  /** The content store: `put` content before sending the event that links it. */
  get content(): ContentStore {
    return this.parts.content;
  }

  /**
   * Sends an event to a cell.
   *
   * @param to the cell's address; with its reducer's definition in place of the name, the event is checked when it is
   *   compiled: `request([counter, 'a'], …)`
   * @param event its wire name and value
   * @returns its place in the journal, when it is durable
   * @throws RepriseError a refusal, and then nothing is journaled: `invalid_argument`, `unknown_reducer`,
   *   `unknown_event`, `invalid_value`, `event_invalid`, `bound_exceeded`, `blob_missing`, `blob_erased`, `cell_absent`,
   *   `cell_failed`, `request_rejected`, `request_conflict`, `delivery_faulted`, `nondeterminism`,
   *   `stack_exhausted`, `commit_failed`, `fenced`, `world_closed`
   */
  request<S, R extends SentEvent>(to: CellOf<S, R>, event: NoInfer<R>, options?: TracedOptions): Promise<Ack>;
  request(to: Address, event: SentEvent, options?: TracedOptions): Promise<Ack>;
  async request(to: Address | CellOf, event: SentEvent, options: TracedOptions = {}): Promise<Ack> {
    return this.#asking.request(addressOf(this.parts.app, to), event, options);
  }

  /**
   * Brings a failed cell back with the state it had before the fault. With `next` it takes that event in the same frame:
   * both happen, or neither.
   *
   * @param cell its address, or a handle that has one, such as a session
   */
  revive(
    cell: Address | { readonly address: Address },
    { next, ...options }: RequestOptions & { readonly next?: { readonly name: string; readonly value: unknown } } = {},
  ): Promise<Ack> {
    const address = typeof cell === 'object' && cell !== null && 'address' in cell ? cell.address : cell;
    return this.request(address, { name: REVIVE, value: next === undefined ? {} : { next } }, options);
  }

  /**
   * Applies a session command. {@link decide}, {@link answer}, {@link settle} and {@link cancel} are the
   * common ones.
   *
   * @throws RepriseError a refusal, and then nothing is journaled: `invalid_argument`, `invalid_value`,
   *   `bound_exceeded`, `blob_missing`, `effect_settled`, `event_invalid`, `cap_denied`, `policy_denied`,
   *   `rights_exceeded`, `revision_conflict`, `account_unknown`, `approval_stale`, `request_conflict`,
   *   `commit_failed`, `fenced`, `world_closed`
   */
  command<N extends CommandName>(name: N, value: CommandValue<N>, options: RequestOptions = {}): Promise<Ack> {
    return this.#asking.command(name, value, options);
  }

  /** The pending items: approvals, questions of running effects, and effects that other systems finish. */
  pending(): Promise<readonly PendingItem[]> {
    return this.#reading.openItems();
  }

  /**
   * What needs attention: the error that closed the world, its store, the clock, the services outside, then the cells
   * that have failed, the oldest first. Read from the state, so that its cost does not depend on the age of the journal.
   * In another process: `reprise trouble`, {@link postedTroubles}.
   *
   * @example for (const one of await world.trouble()) if (one.kind === 'cell_failed') await world.revive(one.where)
   */
  trouble(): Promise<readonly Trouble[]> {
    return this.#reading.trouble();
  }

  /**
   * Calls a listener for each new {@link trouble}, when it is durable. What the world has already is not repeated. An
   * error that the listener throws is ignored.
   *
   * @returns a function that removes the listener
   * @example const stop = world.on('trouble', ({ where, code }) => pager.call(`${where} failed: ${code}`))
   */
  on(event: 'trouble', listener: TroubleListener): () => void {
    if (event !== 'trouble' || typeof listener !== 'function') {
      throw new RepriseError('invalid_argument', `a world has no event "${String(event)}" for this listener`, {
        where: 'on',
        expected: "on('trouble', (trouble) => …)",
        actual: [String(event), typeof listener],
      });
    }
    return this.parts.operator.listeners.add(listener);
  }

  /**
   * Decides an approval. An approved effect passes the whole gate again.
   *
   * @param item an item of {@link pending}, or its id; an item brings the digest of what was seen
   * @throws RepriseError as {@link command}; `approval_stale` when its parameters differ from those that were seen;
   *   `effect_settled` when another decision came first, with `by` and `actor` of that one in its details
   */
  decide(item: string | PendingItem, decision: EffectDecision, options: DecisionOptions = {}): Promise<Ack> {
    return this.#asking.decide(item, decision, options);
  }

  /** Answers a question of a running effect. A late answer is refused as a late decision is: see {@link decide}. */
  answer(item: string | PendingItem, answer: unknown, options: RequestOptions = {}): Promise<Ack> {
    return this.#asking.answer(item, answer, options);
  }

  /**
   * Settles an effect that waits for a person or another system: the webhook came, the person is done. The first outcome
   * settles it. A later one is journaled, changes nothing and is reported as such; the same one again is not journaled.
   *
   * @returns `applied`, or `already_settled` when another outcome came first, with the one who decided
   */
  async settle(effect: string, outcome: Settlement, options: DecisionOptions = {}): Promise<SettleAck> {
    const ack = await this.#asking.settle(effect, outcome, options);
    if (ack.status === 'applied') return ack;
    return { ...ack, ...(await this.#reading.decidedBy(effect, options.as ?? 'operator')) };
  }

  /**
   * Who decided about an item that waited for approval, an answer or an outcome. The answer never changes and is there
   * for the life of the world; undefined while the item waits, and when nobody decided: its time ran out, or its plan
   * ended.
   *
   * @param item an item of an earlier {@link pending}, or its id; the id of an approval that waited again, for an
   *   outcome, names the outcome
   * @throws RepriseError `invalid_argument`, `world_closed`
   */
  decidedBy(item: DecidedItem): Promise<Decider | undefined> {
    return this.#reading.decidedBy(item, 'operator');
  }

  /**
   * Cancels an effect: one that does not run is settled now; a running one is told to stop, has `graceMs` milliseconds
   * to report its outcome, and is then settled as cancelled.
   */
  cancel(effect: string, options: RequestOptions & { readonly graceMs?: number } = {}): Promise<Ack> {
    return this.#asking.cancel(effect, options);
  }

  /** The rights of a holder: those set for it, and its effective rights over the whole chain above it. */
  rights(holder: Principal): Promise<HolderRights> {
    return this.#reading.rights(holder);
  }

  /** An account: its limits, what is spent and what is reserved; undefined when it does not exist. */
  account(name: string): Promise<Account | undefined> {
    return this.#reading.account(name);
  }

  /** The world as one principal sees it: every operation passes the gate under this principal. */
  as(principal: Principal): WorldView {
    return new WorldView(this, principal, this.#reading.gateOf(principal));
  }

  /**
   * Erases content for good: a tombstone in the journal first, then the bytes. States, logs and decisions stay, and the
   * world verifies as before; reading erased content fails with `blob_erased`.
   *
   * @param target content by its refs, whatever links it; or the content that a cell alone links
   * @returns when the store holds none of it any more: where the tombstone stands, and what was not erased
   * @throws RepriseError `invalid_argument`, `blob_missing`, `erase_refused` for content that the world is read from,
   *   `bound_exceeded`, `cell_absent`, `request_conflict`, `store_failed`, `store_full`, `world_closed`
   */
  erase(target: EraseTarget, options: EraseOptions = {}): Promise<EraseReport> {
    return this.#asking.erase(target, options);
  }

  /**
   * A cell's durable state; undefined when it does not exist. With the reducer's definition in place of its name, the
   * state has its type.
   *
   * @throws RepriseError `invalid_argument`; `unknown_reducer` for a definition that is not the app's
   * @example const counted = await world.state([counter, 'a'])
   */
  state<S>(cell: CellOf<S>): Promise<S | undefined>;
  state(address: Address): Promise<Value | undefined>;
  async state(cell: Address | CellOf): Promise<unknown> {
    return this.#reading.state(addressOf(this.parts.app, cell));
  }

  /** The items of a cell's log, in order, from `from`. */
  log(address: Address, name: string, from = 0): AsyncGenerator<Value> {
    return this.#reading.log(address, name, from);
  }

  /**
   * Durable entries of a cell's table, in the order of their keys; at most 256 at once. Ask for the following entries
   * with `after`; the table may change between the calls.
   */
  table(address: Address, name: string, range?: TableRange): Promise<[key: string, value: Value][]> {
    return this.#reading.table(address, name, range);
  }

  /** Effects without a receipt, in the order in which they were emitted. */
  openEffects(): Promise<OpenEffect[]> {
    return this.#reading.openEffects();
  }

  /**
   * Durable frames from `from`, in order; waits for new ones until the world closes, the caller leaves, or `signal`
   * aborts.
   * Each frame is decoded here, never taken from memory: a watcher sees what a reader of the file sees.
   *
   * @param awaited the cells that the caller waits for. When all durable frames are read and one of them has failed, the
   *   wait for the next frame ends: before the call or during it, as long as the cell is not revived. One with `waitsFor` ends
   *   also the wait of a tool or an adapter whose own effect the cell waits for
   * @throws RepriseError `cell_failed` with the address of the cell, `fault` and `frame`; `waits_for_itself`
   */
  frames(from = 0, signal?: AbortSignal, awaited?: readonly (Address | AwaitedCell)[]): AsyncGenerator<WorldFrame> {
    return this.#reading.frames(from, signal, awaited);
  }

  /** The world as it was after a frame, read-only. */
  async at(seq: number): Promise<WorldAt> {
    const { worldAt } = await onRequest();
    return worldAt(this.parts.store, this.parts.app, seq, { legacy: this.parts.legacy });
  }

  /**
   * Another world of the same app, such as a fork of this one, as it is after its last frame; read-only.
   *
   * @param source its store, open for reading
   * @throws RepriseError `era_unverified` when this world's apps do not know its era; the errors of reading it
   */
  async peer(source: ForkSource): Promise<WorldAt> {
    const [{ worldAt }, { seq }] = [await onRequest(), await source.journal.head()];
    return worldAt(source, this.parts.app, seq, { legacy: this.parts.legacy });
  }

  /** Replays the whole journal and compares it in bytes. */
  async verify(expect?: string): Promise<VerifyReport> {
    const { app, legacy, store } = this.parts;
    const options = expect === undefined ? { app, legacy } : { app, legacy, expect };
    const { verifyStore } = await onRequest();
    return verifyStore({ ...store, close: async () => undefined }, options);
  }

  /**
   * Makes another world that shares this one's frames up to a given frame. See {@link forkWorld}.
   *
   * @example const { world } = await world.fork({ at: 150, into: sqlite('what-if.db') })
   */
  async fork(options: ForkOptions): Promise<MadeFork> {
    const { store, app, legacy } = this.parts;
    const { forkWorld } = await onRequest();
    return forkWorld(store, { ...options, app, legacy });
  }

  /**
   * Repeats the original's requests after the cut to this fork, in order, each when the work before it is done. Effects
   * of a dry fork are answered meanwhile, up to the same point of the original. A repetition changes nothing.
   *
   * @param source the world that this one was forked from
   * @throws RepriseError `invalid_argument` when this is not a fork of it; the errors of reading it
   */
  async feed(source: ForkSource, options: FeedOptions = {}): Promise<FeedReport> {
    const { executor, store } = this.parts;
    const answerUntil = (seq: number) => (executor instanceof DryAnswers ? executor.answerUntil(seq) : undefined);
    const { feedFork } = await onRequest();
    return feedFork({ world: this, content: store.content, answerUntil }, source, options);
  }

  /**
   * Copies this world, as it is now, to another place while it goes on. The copy has passed verification.
   *
   * A copy is the same world: opening it while this one runs repeats every side effect. See {@link fork} for another one.
   *
   * @param to an empty place; for a store in a file, the path of the copy
   * @throws RepriseError `invalid_argument` when the place is not empty, or the store makes no backups; `store_full`,
   *   `store_failed`, `world_closed`, and the errors of verifying
   */
  async backup(to: string): Promise<Backup> {
    const { store } = this.parts;
    if (store.backup !== undefined) return store.backup(to);
    throw new RepriseError('invalid_argument', 'this store makes no backups', {
      hint: 'Use a store in a file, or copy the journal and the content through the readers of this one.',
    });
  }

  /**
   * A secret of this world, for code that stands beside it, such as a server. From then on it is removed from what
   * adapters store, and from errors that are shown.
   *
   * @throws RepriseError `invalid_argument` for a world that was opened without `secrets`; what the resolver throws
   */
  secret(name: string): Promise<string> {
    return this.parts.secret(name);
  }

  /** Removes the known secrets of this world from texts and values, for code beside it that sends them elsewhere. */
  get scrubber(): Scrubber {
    return this.parts.operator.scrubber;
  }

  /** Writes the map of all leaves, so that the next open starts here. */
  snapshot(): Promise<Ack> {
    return this.parts.snapshot();
  }

  /**
   * Accepts the wall clock in spite of its jump. Journaled; timers that are overdue by then fire.
   *
   * @param confirmation the clock that was seen, and the principal that confirms it
   * @throws RepriseError `clock_mismatch` when there is no jump, or the clock has moved on;
   *   `invalid_argument`, and the errors of the store
   * @example
   * const jump = world.clockJump
   * if (jump !== undefined) await world.confirmClock({ wall: jump.wall, as: 'human:ann' })
   */
  async confirmClock(confirmation: ClockConfirmation): Promise<Ack> {
    requireConfirmation(confirmation);
    return this.parts.confirmClock(confirmation);
  }

  /**
   * Works until nothing is left to do now. Under manual drive this is the only time when effects start and
   * timers fire.
   *
   * @throws RepriseError `waits_for_itself` in a tool or an adapter of this world: its own effect would have to end first
   */
  pump(): Promise<PumpReport> {
    return this.#lifetime.pump();
  }

  /**
   * Starts nothing more, waits for running effects, then tells them to stop.
   *
   * @param options `within`: milliseconds to wait before running effects are interrupted
   * @returns how many were interrupted
   */
  drain(options: { readonly within: number }): Promise<{ readonly interrupted: number }> {
    return this.#lifetime.drain(options?.within);
  }

  /**
   * Closes the world: running effects are told to stop, outcomes that arrive in time are journaled, the rest is
   * settled at the next open as their guarantee says. Idempotent.
   */
  close(): Promise<void> {
    return this.#lifetime.close();
  }

  /** `await using world = …` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
