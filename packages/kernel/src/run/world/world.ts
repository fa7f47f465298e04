/**
 * A world: one journal, open for writing. The unit of order, ownership, trust and replay.
 *
 * Owns the public surface and what it promises. What is asked goes to `asking.ts`, what is read to `reading.ts`, how
 * it works and ends to `lifetime.ts`; what becomes of a frame is the stepper's business, what happens outside the
 * executor's, when it happens the timers'.
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
import type { Backup } from '../../ports/store/store.js';
import type { ClockJump } from '../../ports/time/stamper.js';
import type { TableRange } from '../../pure/define/index.js';
import { type ForkLeaf, REVIVE } from '../../pure/engine/index.js';
import { type ForkOptions, type ForkSource, forkWorld, type MadeFork } from '../../replay/fork/index.js';
import { type VerifyReport, verifyStore, type WorldAt, worldAt } from '../../replay/verify/index.js';
import { DryAnswers } from '../dispatch/dry-answers.js';
import { Asking, type EraseOptions, type EraseReport, type RequestOptions, type SettleAck } from './ask/asking.js';
import type { PendingItem } from './ask/open-items.js';
import { type ClockConfirmation, requireConfirmation } from './life/confirm-clock.js';
import type { EraseTarget } from './life/erasure.js';
import { type FeedOptions, type FeedReport, feedFork } from './life/feed.js';
import { Lifetime, type PumpReport } from './life/lifetime.js';
import type { WorldParts } from './parts.js';
import type { HolderRights } from './read/authority.js';
import { type OpenEffect, Reading, type WorldFrame } from './read/reading.js';
import { WorldView } from './read/view.js';
import type { Ack } from './write/acknowledgement.js';

/** An open world. Made by {@link openWorld}. */
export class World implements AsyncDisposable {
  readonly #asking: Asking;
  readonly #reading: Reading;
  readonly #lifetime: Lifetime;

  constructor(private readonly parts: WorldParts) {
    this.#asking = new Asking(parts);
    this.#reading = new Reading(parts);
    this.#lifetime = new Lifetime(parts);
  }

  /** The world's random identity, as 64 hex digits. */
  get id(): string {
    return this.parts.id;
  }

  /** Where this world was forked from, and what it may do outside; undefined when it began with its first frame. */
  get forked(): (ForkLeaf['from'] & Pick<ForkLeaf, 'mode'>) | undefined {
    const { fork } = this.parts;
    return fork && { ...fork.from, mode: fork.mode };
  }

  /** Whether there was no world at this place before: this opening made it. */
  get created(): boolean {
    return this.parts.created;
  }

  /** The last durable frame and the chain digest after it. */
  get head(): Head {
    return this.parts.stepper.head;
  }

  /** Why nothing more is written: `world_closed`, or what brought the world down; undefined while it is open. */
  get closedBy(): RepriseError | undefined {
    return this.parts.stepper.closedBy;
  }

  /** Resolves, with the same error, when nothing more is written. */
  get ended(): Promise<RepriseError> {
    return this.parts.ended;
  }

  /**
   * Whether work is left that goes on by itself while the world is open, or as soon as it is opened again: something is
   * queued, runs, waits for its turn or was interrupted. What waits for time or for the outside is no such work.
   */
  get unfinished(): boolean {
    return this.#lifetime.unfinished;
  }

  /** When time alone makes something happen next, in journal milliseconds; undefined for never. */
  get nextWakeAt(): number | undefined {
    return this.#lifetime.nextWakeAt;
  }

  /** The journal's time now, in milliseconds. */
  get now(): number {
    return this.parts.stamper.now();
  }

  /**
   * The wall clock when it is so far ahead that the world does not follow it; undefined when all is well. Its time goes
   * on by the monotonic clock until the wall clock comes back, or {@link World.confirmClock}.
   */
  get clockJump(): ClockJump | undefined {
    return this.parts.stamper.jump;
  }

  /** The content store: `put` content before sending the event that links it. */
  get content(): ContentStore {
    return this.parts.store.content;
  }

  /**
   * Sends an event to a cell.
   *
   * @param to the cell's address
   * @param event its wire name and value
   * @returns when it is durable: where it stands
   * @throws RepriseError a refusal, and then nothing is journaled: `invalid_argument`, `unknown_reducer`,
   *   `unknown_event`, `invalid_value`, `event_invalid`, `bound_exceeded`, `blob_missing`, `blob_erased`, `cell_absent`,
   *   `cell_failed`, `request_rejected`, `request_conflict`, `delivery_faulted`, `nondeterminism`,
   *   `stack_exhausted`, `commit_failed`, `fenced`, `world_closed`
   */
  request(
    to: Address,
    event: { readonly name: string; readonly value: unknown },
    options: RequestOptions = {},
  ): Promise<Ack> {
    return this.#asking.request(to, event, options);
  }

  /**
   * Brings a failed cell back with the state it had before the fault. With `next` it takes that event in the same frame:
   * both happen, or neither.
   */
  revive(
    address: Address,
    { next, ...options }: RequestOptions & { readonly next?: { readonly name: string; readonly value: unknown } } = {},
  ): Promise<Ack> {
    return this.request(address, { name: REVIVE, value: next === undefined ? {} : { next } }, options);
  }

  /**
   * Asks something of the kernel itself. {@link decide}, {@link answer}, {@link settle} and {@link cancel} are the
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

  /** What waits for somebody outside: approvals, questions of running effects, effects that others finish. */
  pending(): Promise<readonly PendingItem[]> {
    return this.#reading.openItems();
  }

  /**
   * Decides about an approval. What is approved passes the whole gate again.
   *
   * @param item an item of {@link pending}, or its id; an item brings the digest of what was seen
   * @throws RepriseError as {@link command}; `approval_stale` when it waits with other parameters than were seen
   */
  decide(item: string | PendingItem, decision: EffectDecision, options: RequestOptions = {}): Promise<Ack> {
    return this.#asking.decide(item, decision, options);
  }

  /** Answers a question of a running effect. */
  answer(item: string | PendingItem, answer: unknown, options: RequestOptions = {}): Promise<Ack> {
    return this.#asking.answer(item, answer, options);
  }

  /**
   * Settles an effect that waits for the outside: the webhook came, the person is done. The first outcome settles it.
   * A later one is journaled, changes nothing, and is told so; the same one again is not even journaled again.
   *
   * @returns `applied`, or `already_settled` when something else was first
   */
  settle(effect: string, outcome: Settlement, options: RequestOptions = {}): Promise<SettleAck> {
    return this.#asking.settle(effect, outcome, options);
  }

  /**
   * Cancels an effect: what does not run is settled now; what runs is told to stop, has `graceMs` to say what became of
   * it, and is then settled as cancelled.
   */
  cancel(effect: string, options: RequestOptions & { readonly graceMs?: number } = {}): Promise<Ack> {
    return this.#asking.cancel(effect, options);
  }

  /** The rights of a holder: what was set for it, and what it may by the whole chain above it. */
  rights(holder: Principal): Promise<HolderRights> {
    return this.#reading.rights(holder);
  }

  /** An account: its limits, what is spent, what is held; undefined when there is none. */
  account(name: string): Promise<Account | undefined> {
    return this.#reading.account(name);
  }

  /** The world as somebody may see and use it: everything passes the gate under this principal. */
  as(principal: Principal): WorldView {
    return new WorldView(this, principal, this.#reading.gateOf(principal));
  }

  /**
   * Erases content for good: a tombstone in the journal first, then the bytes. States, logs and everything that was
   * decided stay, and the world verifies as before; reading what was erased is `blob_erased`.
   *
   * @param target content by its refs, whoever links it; or what a cell alone links
   * @returns when nothing of it is left in the store: where the tombstone stands, and what was kept
   * @throws RepriseError `invalid_argument`, `blob_missing`, `erase_refused` for what the world is read from,
   *   `bound_exceeded`, `cell_absent`, `request_conflict`, `store_failed`, `store_full`, `world_closed`
   */
  erase(target: EraseTarget, options: EraseOptions = {}): Promise<EraseReport> {
    return this.#asking.erase(target, options);
  }

  /** A cell's durable state; undefined when it does not exist. */
  state(address: Address): Promise<Value | undefined> {
    return this.#reading.state(address);
  }

  /** The items of a cell's log, in order, from `from`. */
  log(address: Address, name: string, from = 0): AsyncGenerator<Value> {
    return this.#reading.log(address, name, from);
  }

  /**
   * Durable entries of a cell's table, in the order of their keys; at most 256 at once. What comes after the last one
   * is asked for with `after`; frames may come between.
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
   * says that nobody waits any more.
   * Each frame is decoded here, never taken from memory: a watcher sees what a reader of the file sees.
   */
  frames(from = 0, signal?: AbortSignal): AsyncGenerator<WorldFrame> {
    return this.#reading.frames(from, signal);
  }

  /** The world as it was after a frame, read-only. */
  at(seq: number): Promise<WorldAt> {
    return worldAt(this.parts.store, this.parts.app, seq, { legacy: this.parts.legacy });
  }

  /** Replays the whole journal and compares it in bytes. */
  verify(expect?: string): Promise<VerifyReport> {
    const { app, legacy, store } = this.parts;
    const options = expect === undefined ? { app, legacy } : { app, legacy, expect };
    return verifyStore({ ...store, close: async () => undefined }, options);
  }

  /**
   * Makes another world that begins with this one's frames up to a frame. See {@link forkWorld}.
   *
   * @example const { world } = await world.fork({ at: 150, into: sqlite('what-if.db') })
   */
  fork(options: ForkOptions): Promise<MadeFork> {
    const { store, app, legacy } = this.parts;
    return forkWorld(store, { ...options, app, legacy });
  }

  /**
   * Sends this fork again what was asked of the original after the cut, in order, each when what came before it is
   * done. Of a dry fork, effects are answered meanwhile as far as the original's were. Repeating it changes nothing.
   *
   * @param source the world that this one was forked from
   * @throws RepriseError `invalid_argument` when this is no fork of it; what reading it says
   */
  feed(source: ForkSource, options: FeedOptions = {}): Promise<FeedReport> {
    const { executor, store } = this.parts;
    const answerUntil = (seq: number) => (executor instanceof DryAnswers ? executor.answerUntil(seq) : undefined);
    return feedFork({ world: this, content: store.content, answerUntil }, source, options);
  }

  /**
   * Copies this world, as it is now, to another place while it goes on. The copy has passed verification.
   *
   * A copy is the same world: to open it while this one goes on does everything twice. See {@link fork} for another one.
   *
   * @param to where nothing is; for a store in a file, the path of the copy
   * @throws RepriseError `invalid_argument` when something is there, or the store makes no backups; `store_full`,
   *   `store_failed`, `world_closed`, and what verifying says
   */
  async backup(to: string): Promise<Backup> {
    const { store } = this.parts;
    if (store.backup !== undefined) return store.backup(to);
    throw new RepriseError('invalid_argument', 'this store makes no backups', {
      hint: 'A store in a file does. Of another one, copy the journal and the content through its readers.',
    });
  }

  /** Writes the map of all leaves, so that the next open starts here. */
  snapshot(): Promise<Ack> {
    return this.parts.snapshot();
  }

  /**
   * Takes for true what the wall clock says, in spite of the jump. Journaled; what is overdue by then happens.
   *
   * @param confirmation the clock that was seen, and who confirms it
   * @throws RepriseError `clock_mismatch` when there is no jump, or the clock says something else by now;
   *   `invalid_argument`, and what the store says
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
   */
  pump(): Promise<PumpReport> {
    return this.#lifetime.pump();
  }

  /**
   * Starts nothing more, waits for what runs, then tells it to stop.
   *
   * @param options `within`: milliseconds to wait before running effects are interrupted
   * @returns how many were interrupted
   */
  drain(options: { readonly within: number }): Promise<{ readonly interrupted: number }> {
    return this.#lifetime.drain(options?.within);
  }

  /**
   * Closes the world: running effects are told to stop, what they answer in time is journaled, the rest is
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
