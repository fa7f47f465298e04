/**
 * A world: one journal, open for writing. The unit of order, ownership, trust and replay.
 *
 * Owns the public surface and the parts' lifetimes. What becomes of a frame is the stepper's business, what
 * happens outside the performer's, when it happens the timers'.
 */
import {
  type Account,
  type Address,
  type CommandName,
  type CommandValue,
  type Decision,
  isRef,
  type JournalRecord,
  type Principal,
  RepriseError,
  type Settlement,
  type Value,
} from '@reprise/contracts';
import { DryAnswers } from '../adapter/dry-answers.js';
import type { Performer } from '../adapter/performer.js';
import { decode, encode, type Hash, portableSha256, toHex } from '../codec/index.js';
import { LinkCheck } from '../content/links.js';
import type { ContentStore } from '../content/port.js';
import { type App, cellAddress, type TableRange } from '../define/index.js';
import { type EffectLeaf, type ForkLeaf, holderIn, logKey, REVIVE } from '../engine/index.js';
import { type ForkOptions, type ForkSource, forkWorld, type MadeFork } from '../fork/index.js';
import { readFrame } from '../journal/frame.js';
import type { Head } from '../journal/port.js';
import {
  readCellTable,
  readLogBytes,
  readState,
  requireAddress,
  requireLeafName,
  requireObject,
  requirePosition,
  type VerifyReport,
  verifyStore,
  type WorldAt,
  worldAt,
} from '../replay/index.js';
import type { LeafTable } from '../state/leaf-table.js';
import type { OpenStore } from '../store/store.js';
import type { Clock, RandomBytes } from '../time/clock.js';
import type { ClockJump, Stamper } from '../time/stamper.js';
import { answerable, type HolderRights, readAccount, readAuthority, requireReader } from './authority.js';
import { type ClockConfirmation, requireConfirmation } from './confirm-clock.js';
import type { Eraser, EraseTarget, ErasureOutcome } from './erasure.js';
import { type FeedOptions, type FeedReport, feedFork } from './feed.js';
import { type OpenItem, openItems, questionOf } from './open-items.js';
import { drawHex } from './options.js';
import { admitCommand, admitRequest, requireAsking, requirePrincipal } from './requests.js';
import type { IngressOutcome, Stepper } from './stepper.js';
import type { TimerDriver, TimerQueue } from './timers.js';
import { WorldView } from './view.js';

/** What an acknowledgement says: where the request stands, durable. */
export interface Ack {
  readonly seq: number;
  /** The chain digest after that frame, as 64 hex digits: what `verify --expect` takes. */
  readonly head: string;
  /** The same request was journaled before; this is where. */
  readonly duplicate: boolean;
}

/** What came of settling an effect from outside. */
export interface SettleAck extends Ack {
  readonly status: 'applied' | 'already_settled';
}

/** How a request is made. */
export interface RequestOptions {
  /** The idempotency key. A repetition with the same content changes nothing; a fresh random one when absent. */
  readonly id?: string;
  /** Who asks; `host` when absent. */
  readonly as?: Principal;
}

/** How an erasure is asked for. */
export interface EraseOptions extends RequestOptions {
  /** Why, for whoever reads the journal later: up to 256 characters, and nothing personal. It cannot be erased. */
  readonly reason?: string;
}

/** What an erasure came to: where its tombstone stands, and what it names. */
export type EraseReport = Ack & Omit<ErasureOutcome, 'seq' | 'duplicate'>;

/** A durable frame, as a watcher sees it. */
export interface WorldFrame {
  readonly seq: number;
  readonly at: number;
  readonly head: string;
  readonly records: readonly JournalRecord[];
}

/** An effect that has no receipt yet. */
export interface OpenEffect {
  readonly effect: string;
  readonly name: string;
  readonly cell: Address;
  readonly delivery: EffectLeaf['delivery'];
  /** 0 while it waits to be started. */
  readonly attempt: number;
  readonly deadline: number | null;
}

/** What a pump left behind. */
export interface PumpReport {
  /** Nothing is left to do but to wait for time or the outside. */
  readonly quiescent: boolean;
  /** When the next timer is due, in journal milliseconds. */
  readonly nextWakeAt: number | undefined;
}

/** The parts of an open world. */
export interface WorldParts {
  readonly id: string;
  readonly app: App;
  /** Earlier apps, to perform what was written with them. */
  readonly legacy: readonly App[];
  readonly store: OpenStore;
  readonly table: LeafTable;
  readonly stepper: Stepper;
  readonly eraser: Eraser;
  readonly fork: ForkLeaf | undefined;
  readonly performer: Performer;
  readonly timers: TimerQueue;
  readonly timerDriver: TimerDriver;
  readonly stamper: Stamper;
  readonly random: RandomBytes;
  readonly clock: Clock;
  readonly watchers: Set<() => void>;
  /** Resolves with why nothing more is written. */
  readonly ended: Promise<RepriseError>;
  readonly drive: 'auto' | 'manual';
  snapshot(): Promise<Ack>;
  confirmClock(confirmation: ClockConfirmation): Promise<Ack>;
}

/** How long `close` waits for running effects to end after telling them to stop. */
const CLOSE_GRACE_MS = 2_000;

/** An open world. Made by {@link openWorld}. */
export class World implements AsyncDisposable {
  #closing: Promise<void> | undefined;

  readonly #links: LinkCheck;

  constructor(private readonly parts: WorldParts) {
    this.#links = new LinkCheck(parts.store.content);
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
    return !this.parts.stepper.idle || this.parts.performer.unfinished;
  }

  /** When time alone makes something happen next, in journal milliseconds; undefined for never. */
  get nextWakeAt(): number | undefined {
    return this.parts.timers.nextUnfired;
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
  async request(
    to: Address,
    event: { readonly name: string; readonly value: unknown },
    options: RequestOptions = {},
  ): Promise<Ack> {
    requireRequest(event, options);
    const { name, value } = event;
    const id = options.id ?? drawHex(this.parts.random, 16);
    const principal = options.as ?? 'host';
    const admitted = await admitRequest(this.parts.app, this.#links, { to, name, value, id, principal });
    const outcome = await new Promise<IngressOutcome>((settle) =>
      this.parts.stepper.submit({
        fact: false,
        settle,
        make: (stamps) => ({
          kind: 'request',
          ...stamps,
          principal: admitted.principal,
          id: admitted.id,
          to: admitted.to,
          event: { name: admitted.name, value: admitted.value },
        }),
      }),
    );
    return this.#ackOf(outcome);
  }

  /** Brings a failed cell back with the state it had before the fault. */
  revive(address: Address, options: RequestOptions = {}): Promise<Ack> {
    return this.request(address, { name: REVIVE, value: {} }, options);
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
  async command<N extends CommandName>(name: N, value: CommandValue<N>, options: RequestOptions = {}): Promise<Ack> {
    return this.#ackOf(await this.#submitCommand(name, value, options));
  }

  /** What waits for somebody outside: approvals, questions of running effects, effects that others finish. */
  open(): Promise<readonly OpenItem[]> {
    return this.parts.stepper.exclusively(async () => openItems(this.parts.table, this.#hash));
  }

  /**
   * Decides about an approval. What is approved passes the whole gate again.
   *
   * @param item an item of {@link open}, or its id; an item brings the digest of what was seen
   * @throws RepriseError as {@link command}; `approval_stale` when it waits with other parameters than were seen
   */
  decide(item: string | OpenItem, decision: Decision, options: RequestOptions = {}): Promise<Ack> {
    const { id, digest } = typeof item === 'string' ? { id: item, digest: undefined } : item;
    const seen = digest === undefined ? {} : { digest };
    return this.command('sys/Decide@1', { effect: id, ...seen, decision }, options);
  }

  /** Answers a question of a running effect. */
  answer(item: string | OpenItem, answer: unknown, options: RequestOptions = {}): Promise<Ack> {
    const id = typeof item === 'string' ? item : item.id;
    const question = questionOf(id);
    if (question === undefined) {
      throw new RepriseError('invalid_argument', 'this is not the id of a question', {
        expected: 'the id of an open item of kind question',
        actual: id,
      });
    }
    return this.command('sys/Answer@1', { ...question, answer: answer as Value }, options);
  }

  /**
   * Settles an effect that waits for the outside: the webhook came, the person is done. The first outcome settles it.
   * A later one is journaled, changes nothing, and is told so; the same one again is not even journaled again.
   *
   * @returns `applied`, or `already_settled` when something else was first
   */
  async settle(effect: string, outcome: Settlement, options: RequestOptions = {}): Promise<SettleAck> {
    const id = options.id ?? `settle ${toHex(this.#hash(encode([effect, outcome])))}`;
    const done = await this.#submitCommand('sys/Settle@1', { effect, outcome }, { ...options, id });
    const ack = await this.#ackOf(done);
    const records = done.status === 'committed' ? done.frame.records : await this.#recordsOf(ack.seq);
    const late = records.some((record) => record.kind === 'late' && record.c === 0);
    return { ...ack, status: late ? 'already_settled' : 'applied' };
  }

  /**
   * Cancels an effect: what does not run is settled now; what runs is told to stop, has `graceMs` to say what became of
   * it, and is then settled as cancelled.
   */
  cancel(effect: string, options: RequestOptions & { readonly graceMs?: number } = {}): Promise<Ack> {
    const { graceMs, ...request } = options;
    return this.command('sys/Cancel@1', graceMs === undefined ? { effect } : { effect, graceMs }, request);
  }

  /** The rights of a holder: what was set for it, and what it may by the whole chain above it. */
  async rights(holder: Principal): Promise<HolderRights> {
    requirePrincipal(holder);
    return this.parts.stepper.exclusively(() => readAuthority(this.parts.table, holderIn(this.parts.app, holder)));
  }

  /** An account: its limits, what is spent, what is held; undefined when there is none. */
  account(name: string): Promise<Account | undefined> {
    return this.parts.stepper.exclusively(() => readAccount(this.parts.table, name));
  }

  /** The world as somebody may see and use it: everything passes the gate under this principal. */
  as(principal: Principal): WorldView {
    requirePrincipal(principal);
    const { app, stepper, table } = this.parts;
    const who = holderIn(app, principal);
    return new WorldView(this, principal, {
      requireReader: async (cell) => {
        requireAddress(cell);
        // By the name that it keeps: a rule about a cell holds under every name of it.
        await stepper.exclusively(() => requireReader(table, who, cellAddress(app, cell), this.now));
      },
      answerable: (items) => stepper.exclusively(() => answerable(table, who, items, this.now)),
    });
  }

  async #submitCommand(name: CommandName, value: unknown, options: RequestOptions): Promise<IngressOutcome> {
    const id = options.id ?? drawHex(this.parts.random, 16);
    const admitted = await admitCommand(this.parts.app, this.#links, {
      name,
      value,
      id,
      principal: options.as ?? 'host',
    });
    return new Promise<IngressOutcome>((settle) =>
      this.parts.stepper.submit({
        fact: false,
        settle,
        make: (stamps) => ({ kind: 'command', ...stamps, ...admitted }),
      }),
    );
  }

  async #recordsOf(seq: number): Promise<readonly JournalRecord[]> {
    for await (const stored of this.parts.store.journal.read(seq, seq)) return readFrame(stored.bytes, seq).all;
    return [];
  }

  get #hash(): Hash {
    return this.parts.store.hash ?? portableSha256;
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
  async erase(target: EraseTarget, options: EraseOptions = {}): Promise<EraseReport> {
    requireErasure(target, options);
    const id = options.id ?? drawHex(this.parts.random, 16);
    const principal = options.as ?? 'host';
    requireAsking(id, principal);
    const { reason } = options;
    const outcome = await this.parts.eraser.erase(target, {
      id,
      principal,
      ...(reason === undefined ? {} : { reason }),
    });
    return { ...outcome, head: await this.#headAfter(outcome.seq) };
  }

  /** A cell's durable state; undefined when it does not exist. */
  state(address: Address): Promise<Value | undefined> {
    return this.parts.stepper.exclusively(() => readState(this.parts.app, this.parts.table, address));
  }

  /** The items of a cell's log, in order, from `from`. */
  async *log(address: Address, name: string, from = 0): AsyncGenerator<Value> {
    requireAddress(address);
    requireLeafName(name, 'log');
    requirePosition(from, 'the index of an item');
    // The leaf is read between commits, its chunks whenever they are asked for: they are durable and never change.
    const leaf = await this.parts.stepper.exclusively(() =>
      this.parts.table.read(logKey(cellAddress(this.parts.app, address), name)),
    );
    if (leaf !== undefined) yield* readLogBytes(this.content, leaf, from);
  }

  /**
   * Durable entries of a cell's table, in the order of their keys; at most 256 at once. What comes after the last one
   * is asked for with `after`; frames may come between.
   */
  table(address: Address, name: string, range?: TableRange): Promise<[key: string, value: Value][]> {
    const { app, stepper, table } = this.parts;
    return stepper.exclusively(async () => {
      requireAddress(address);
      return readCellTable(table, cellAddress(app, address), name, range);
    });
  }

  /** Effects without a receipt, in the order in which they were emitted. */
  openEffects(): Promise<OpenEffect[]> {
    return this.parts.stepper.exclusively(async () => {
      const open = [...this.parts.table.list('effect')].map(({ key, bytes }) => ({
        effect: String(key.path[1]),
        leaf: decode(bytes) as unknown as EffectLeaf,
      }));
      open.sort((a, b) => a.leaf.queued[0] - b.leaf.queued[0] || a.leaf.queued[1] - b.leaf.queued[1]);
      const unsettled = open.filter(({ leaf }) => leaf.late === undefined);
      return unsettled.map(({ effect, leaf }) => ({
        effect,
        name: leaf.name,
        cell: [leaf.plan[0], leaf.plan[1]],
        delivery: leaf.delivery,
        attempt: leaf.attempt,
        deadline: leaf.deadline,
      }));
    });
  }

  /**
   * Durable frames from `from`, in order; waits for new ones until the world closes, the caller leaves, or `signal`
   * says that nobody waits any more.
   * Each frame is decoded here, never taken from memory: a watcher sees what a reader of the file sees.
   */
  async *frames(from = 0, signal?: AbortSignal): AsyncGenerator<WorldFrame> {
    requirePosition(from, 'the number of a frame');
    let next = from;
    for (;;) {
      const upTo = this.head.seq;
      if (next <= upTo) {
        for await (const stored of this.parts.store.journal.read(next, upTo)) {
          next = stored.seq + 1;
          yield { seq: stored.seq, at: stored.at, head: stored.head, records: readFrame(stored.bytes, stored.seq).all };
        }
      } else if (this.#ended || signal?.aborted) return;
      else await this.#nextCommit(upTo, signal);
    }
  }

  /** The world as it was after a frame, read-only. */
  at(seq: number): Promise<WorldAt> {
    return worldAt(this.parts.store, this.parts.app, seq, { legacy: this.parts.legacy });
  }

  /** Performs the whole journal again and compares it in bytes. */
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
    const { performer, store } = this.parts;
    const answerUntil = (seq: number) => (performer instanceof DryAnswers ? performer.answerUntil(seq) : undefined);
    return feedFork({ world: this, content: store.content, answerUntil }, source, options);
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
  async pump(): Promise<PumpReport> {
    const { performer, stepper, timers, timerDriver, stamper } = this.parts;
    // Between commits: what was emitted while nothing could start keeps its place before what comes now.
    await stepper.exclusively(async () => performer.enable()).catch(() => undefined);
    try {
      for (;;) {
        if (this.#closing !== undefined || this.#ended) break;
        timerDriver.run();
        await stepper.settled();
        if (performer.runningCount > 0) await performer.ended();
        else if (stepper.idle && !isDue(timers.nextDue, stamper.now())) break; // what waits now waits for the outside
      }
    } finally {
      if (this.parts.drive === 'manual') {
        performer.disable();
        timerDriver.stop();
      }
    }
    return { quiescent: stepper.idle && performer.idle, nextWakeAt: this.nextWakeAt };
  }

  /**
   * Starts nothing more, waits for what runs, then tells it to stop.
   *
   * @param options `within`: milliseconds to wait before running effects are interrupted
   * @returns how many were interrupted
   */
  async drain(options: { readonly within: number }): Promise<{ readonly interrupted: number }> {
    const { performer, stepper } = this.parts;
    const within: unknown = options?.within;
    if (typeof within !== 'number' || !(within >= 0)) {
      throw new RepriseError('invalid_argument', 'this is not a time to wait', {
        where: 'within',
        expected: 'milliseconds, 0 or more',
        actual: within,
      });
    }
    performer.disable();
    const deadline = new AbortController();
    const waited = this.#sleep(within, deadline.signal);
    await Promise.race([performer.ended(), waited]);
    deadline.abort();
    const interrupted = performer.runningCount;
    await performer.close(CLOSE_GRACE_MS);
    const settled = new AbortController();
    const work = stepper.settled().then(() => settled.abort());
    await Promise.race([work, this.#sleep(CLOSE_GRACE_MS, settled.signal)]); // a full store may keep facts waiting
    return { interrupted };
  }

  /**
   * Closes the world: running effects are told to stop, what they answer in time is journaled, the rest is
   * settled at the next open as their delivery class says. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** `await using world = …` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { performer, stepper, timerDriver, store, watchers } = this.parts;
    timerDriver.stop();
    await performer.close(CLOSE_GRACE_MS);
    await stepper.finish(new RepriseError('world_closed', 'this world is closed', { hint: 'Open it again to go on.' }));
    for (const wake of [...watchers]) wake();
    await store.close();
  }

  /** Nothing will be committed any more. */
  get #ended(): boolean {
    return this.parts.stepper.closedBy !== undefined;
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.parts.clock.sleep(ms, signal);
  }

  async #nextCommit(after: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        this.parts.watchers.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.parts.watchers.add(wake);
      signal?.addEventListener('abort', wake);
      if (this.head.seq > after || this.#ended || signal?.aborted) wake();
    });
  }

  async #ackOf(outcome: IngressOutcome): Promise<Ack> {
    switch (outcome.status) {
      case 'committed':
        return { seq: outcome.frame.seq, head: outcome.frame.head.digest, duplicate: false };
      case 'refused':
        throw outcome.error;
      case 'duplicate':
        return { seq: outcome.seq, head: await this.#headAfter(outcome.seq), duplicate: true };
      default:
        return outcome satisfies never;
    }
  }

  async #headAfter(seq: number): Promise<string> {
    for await (const stored of this.parts.store.journal.read(seq, seq)) return stored.head;
    throw new RepriseError('journal_damaged', 'the frame of an earlier request is gone', { where: `frame ${seq}` });
  }
}

function isDue(due: number | undefined, now: number): boolean {
  return due !== undefined && due <= now;
}

/** Refuses what is no event, or no options, before its parts are looked at. */
function requireRequest(event: unknown, options: unknown): void {
  if (typeof event !== 'object' || event === null || !('name' in event) || typeof event.name !== 'string') {
    throw new RepriseError('invalid_argument', 'this is not an event', { expected: '{name, value}', actual: event });
  }
  if (typeof options === 'object' && options !== null) return;
  throw new RepriseError('invalid_argument', 'these are no options', { expected: '{id?, as?}', actual: options });
}

/** Refuses what names nothing to erase, and a reason that could not be journaled. */
function requireErasure(target: EraseTarget, options: EraseOptions): void {
  requireObject(target, 'what is to be erased');
  requireObject(options, 'the options');
  const { reason } = options;
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > 256)) {
    throw new RepriseError('invalid_argument', 'this is not a reason', {
      expected: 'up to 256 characters',
      actual: reason,
    });
  }
  if (reason !== undefined) encode(reason); // refuses text that is not well-formed
  if ('refs' in target) {
    if (Array.isArray(target.refs) && target.refs.every(isRef)) return;
    throw new RepriseError('invalid_argument', 'content is named by links', { where: 'refs', actual: target.refs });
  }
  requireAddress(target.cell);
  if (target.subtree === undefined || typeof target.subtree === 'boolean') return;
  throw new RepriseError('invalid_argument', 'this does not say whether to erase the cells below as well', {
    where: 'subtree',
    expected: 'true or false',
    actual: target.subtree,
  });
}
