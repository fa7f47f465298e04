/**
 * Starts effects, once each, when they are durable and there is room, and journals their receipts.
 *
 * Invariants
 * A1  An effect starts only after the frame that armed it is durable, and at most once per armed attempt.
 * A2  Every started effect ends in exactly one receipt ingress, or stays armed when the world closes first.
 * A3  Effects of one kind start in the order in which they were emitted: one may be armed in its own frame only when
 *     none before it still waits, not even in a frame of the same batch.
 * A4  An effect that was cancelled, or whose deadline has passed, does not start.
 * A5  What was settled while its adapter was at work is fenced: its place is free, and what the adapter answers is
 *     journaled as late.
 */
import type { Address, Capability, Receipt, Value } from '@reprise/contracts';
import { decode, encode } from '../codec/index.js';
import { LinkCheck } from '../content/links.js';
import type { ContentStore } from '../content/port.js';
import type { EffectLeaf, EmittedEffect, LeafChange } from '../engine/index.js';
import type { Clock } from '../time/clock.js';
import type { AdapterContext, AnyAdapter, Deferred, Outcome } from './adapter.js';
import { type AskedOutside, type Deferral, deferralOf } from './outside.js';
import type { Performer } from './performer.js';
import { Questions } from './questions.js';
import { receiptOf } from './receipts.js';
import { WaitingLine } from './waiting-line.js';

/** Effects of one kind that may run at once, unless the adapter says otherwise. */
const CONCURRENCY_DEFAULT = 8;

/** What a dispatcher works with. */
export interface DispatcherParts {
  readonly adapters: readonly AnyAdapter[];
  readonly content: ContentStore;
  readonly clock: Clock;
  /** The journal time now. */
  now(): number;
  secret(name: string): Promise<string>;
  /** Telemetry of a running effect. */
  progress(effect: string, note: Value): void;
  /**
   * Journals an attempt. Resolves true when it is durable, false when the effect was settled before.
   *
   * @param placed called when the attempt has its place among the frames: what is folded from then on comes later
   */
  arm(effect: string, attempt: number, placed: () => void): Promise<boolean>;
  /**
   * Journals a receipt. Resolves when it is durable or was found settled.
   *
   * @param unanswered the kernel settles what its adapter still works at
   */
  settle(effect: string, attempt: number, receipt: Receipt, unanswered?: boolean): Promise<void>;
  /** Journals that an effect was handed on. Resolves false when it was settled before. */
  defer(effect: string, attempt: number, deferral: Deferral): Promise<boolean>;
  /** Journals a question. Resolves when it is durable; rejects when it cannot be asked. */
  ask(effect: string, attempt: number, asked: AskedOutside): Promise<void>;
  /** What a cell may do now. */
  rights(cell: Address): Promise<Capability>;
}

interface Running {
  readonly abort: AbortController;
  readonly done: Promise<void>;
  /** Ends the wait for an adapter: the effect was settled without it. */
  fence(): void;
}

/** Why a running effect was told to stop. */
type StopReason = 'cancelled' | 'deadline' | 'shutdown';

/** The deadline came before the outcome. An adapter cannot answer it. */
const DEADLINE = Symbol('deadline');

/** The effect was settled while its adapter was at work. */
const FENCED = Symbol('fenced');

/** What is known of an effect that was handed on after it was settled. */
const HANDED_ON_TOO_LATE: Outcome = { status: 'outcome_unknown' };

/** An effect that stays armed, for the next open to offer it again. */
const LEFT_ARMED = Symbol('left armed');

/** What the kernel says of an effect that it does not start. */
type Unstarted = Pick<Receipt, 'status' | 'code' | 'retryable'>;

const TIMED_OUT: Unstarted = { status: 'timeout', code: 'adapter_timeout' };
const CANCELLED: Unstarted = { status: 'cancelled' };
const NO_ADAPTER: Unstarted = { status: 'error', code: 'adapter_error/no_adapter', retryable: false };

/** What is said of an effect that was told to stop after an attempt of which nobody knows. */
export function stopped({ delivery }: EffectLeaf): Unstarted {
  return delivery === 'idempotent' ? CANCELLED : { status: 'outcome_unknown' };
}

/** Performs the open effects of a world. */
export class Dispatcher implements Performer {
  readonly #adapters: ReadonlyMap<string, AnyAdapter>;
  readonly #used = new Map<string, number>();
  readonly #kindOf = new Map<string, string>();
  readonly #leaves = new Map<string, EffectLeaf>();
  /** Open effects that wait for nobody else. */
  readonly #ours = new Set<string>();
  readonly #running = new Map<string, Running>();
  /** Adapters at work on effects that are settled: their answers come late. */
  readonly #lingering = new Set<Promise<void>>();
  readonly #questions: Questions;
  readonly #waiting: WaitingLine;
  /** Kinds of which an effect was emitted in the batch under way and has no slot. */
  readonly #passedOver = new Set<string>();
  /** Effects whose attempts are not folded yet, by kind. */
  readonly #unplaced = new Map<string, Set<string>>();
  readonly #links: LinkCheck;
  #enabled = false;
  #closing = false;

  constructor(private readonly parts: DispatcherParts) {
    this.#adapters = new Map(parts.adapters.map((adapter) => [adapter.effect.name, adapter]));
    this.#waiting = new WaitingLine({ clock: parts.clock, now: parts.now, due: () => this.#startWaiting() });
    this.#links = new LinkCheck(parts.content);
    this.#questions = new Questions((effect, attempt, asked) => parts.ask(effect, attempt, asked));
  }

  /** The adapter for a kind of effect, when one is registered. */
  adapterFor(kind: string): AnyAdapter | undefined {
    return this.#adapters.get(kind);
  }

  /** Nothing runs and nothing that could start waits. */
  get idle(): boolean {
    return this.#running.size === 0 && (!this.#enabled || this.#waiting.size === 0);
  }

  /** Effects under way. */
  get runningCount(): number {
    return this.#running.size;
  }

  /**
   * Whether an effect is open that this dispatcher performs, or that only the next open can settle; what waits for
   * somebody outside is none. While it is open, also whether an adapter still works at what is settled.
   */
  get unfinished(): boolean {
    return this.#ours.size > 0 || (!this.#closing && this.#lingering.size > 0);
  }

  /** Lets effects start. */
  enable(): void {
    if (this.#closing) return;
    this.#enabled = true;
    this.#startWaiting();
  }

  /** Lets no more effects start. */
  disable(): void {
    this.#enabled = false;
    this.#waiting.rest();
  }

  /** Takes slots for effects that are being emitted. @returns those that may be armed in the same frame */
  reserve(emitted: readonly EmittedEffect[]): string[] {
    const armed: string[] = [];
    for (const { effect, name } of emitted) {
      const may = this.#enabled && this.#adapters.has(name) && !this.#waitsBefore(name) && this.#take(effect, name);
      if (may) armed.push(effect);
      else this.#passedOver.add(name);
    }
    return armed;
  }

  /** Gives slots back. */
  release(effects: readonly string[]): void {
    for (const effect of effects) this.#give(effect);
    if (effects.length > 0) this.#startWaiting();
  }

  /** Follows durable frames: what is open, what may start, what should stop. */
  follow(changes: readonly LeafChange[], armed: readonly string[], aborts: readonly string[]): void {
    this.#passedOver.clear(); // they are durable, so they wait
    for (const { key, after } of changes) {
      if (key.path[0] !== 'effect') continue;
      const effect = String(key.path[1]);
      if (after === undefined) this.#forget(effect);
      else this.#remember(effect, decode(after) as unknown as EffectLeaf);
    }
    for (const effect of armed) this.#start(effect);
    for (const effect of aborts) this.#stop(effect);
    this.#startWaiting();
  }

  /** Stops everything: tells running effects, waits for them up to `graceMs`. @returns how many did not end */
  async close(graceMs: number): Promise<number> {
    this.#enabled = false;
    this.#closing = true;
    this.#waiting.rest();
    for (const { abort } of this.#running.values()) abort.abort('shutdown' satisfies StopReason);
    const over = new AbortController();
    this.#questions.close();
    const working = [...[...this.#running.values()].map(({ done }) => done), ...this.#lingering];
    const all = Promise.allSettled(working).then(() => over.abort());
    await Promise.race([all, this.parts.clock.sleep(graceMs, over.signal)]);
    over.abort();
    return this.#running.size;
  }

  /** Resolves when the effects that run now have ended and their receipts are durable. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }

  #remember(effect: string, leaf: EffectLeaf): void {
    const before = this.#leaves.get(effect);
    this.#leaves.set(effect, leaf);
    if (isOurs(leaf)) this.#ours.add(effect);
    else this.#ours.delete(effect);
    if (mayStart(leaf) && (before === undefined || !mayStart(before))) this.#waiting.add(effect, leaf);
    if (leaf.late !== undefined) {
      if (this.#waiting.remove(effect)) void this.#settleUnstarted(effect, stopped(leaf)); // it was to be offered again
      this.#running.get(effect)?.fence();
    }
    this.#questions.follow(effect, leaf);
  }

  #forget(effect: string): void {
    this.#leaves.delete(effect);
    this.#ours.delete(effect);
    this.#waiting.remove(effect);
    this.#questions.forget(effect);
    this.#running.get(effect)?.fence();
  }

  /** Whether an effect of this kind was emitted earlier and is not armed. */
  #waitsBefore(kind: string): boolean {
    return this.#waiting.first(kind) !== undefined || this.#passedOver.has(kind) || this.#unplaced.has(kind);
  }

  #startWaiting(): void {
    if (!this.#enabled) return;
    for (let late = this.#waiting.overdue(); late !== undefined; late = this.#waiting.overdue()) {
      this.#settleWaiting(late, TIMED_OUT);
    }
    for (const kind of this.#waiting.kinds()) this.#startKind(kind);
    this.#waiting.watch();
  }

  #startKind(kind: string): void {
    const adapted = this.#adapters.has(kind);
    for (let next = this.#waiting.first(kind); next !== undefined; next = this.#waiting.first(kind)) {
      if (!adapted) this.#settleWaiting(next, NO_ADAPTER);
      else if (this.#take(next, kind)) this.#armLater(next, kind);
      else return;
    }
  }

  /** Says why an effect will not start: data, so that the plan can go on. */
  #settleWaiting(effect: string, why: Unstarted): void {
    this.#waiting.remove(effect);
    void this.#settleUnstarted(effect, why);
  }

  #settleUnstarted(effect: string, why: Unstarted): Promise<void> {
    const attempts = this.#leaves.get(effect)?.attempt ?? 0;
    return this.parts.settle(effect, attempts, { adapter: 'kernel', attempts, ...why });
  }

  #armLater(effect: string, kind: string): void {
    const attempt = (this.#leaves.get(effect)?.attempt ?? 0) + 1;
    this.#waiting.remove(effect);
    const unplaced = this.#unplaced.get(kind) ?? new Set();
    this.#unplaced.set(kind, unplaced.add(effect));
    const placed = (): void => {
      if (unplaced.delete(effect) && unplaced.size === 0) this.#unplaced.delete(kind);
    };
    void this.parts.arm(effect, attempt, placed).then((armed) => {
      placed();
      if (!armed) this.#settledMeanwhile(effect);
    });
  }

  /** It was settled while its attempt was on its way. Of one that was to be offered again nobody else will answer. */
  #settledMeanwhile(effect: string): void {
    const leaf = this.#leaves.get(effect);
    if (leaf?.late !== undefined) void this.#settleUnstarted(effect, stopped(leaf));
    this.release([effect]);
  }

  #stop(effect: string): void {
    this.#running.get(effect)?.abort.abort('cancelled' satisfies StopReason);
    const leaf = this.#leaves.get(effect);
    if (leaf !== undefined && this.#waiting.has(effect)) this.#settleWaiting(effect, stopped(leaf)); // to be offered again
  }

  /** Takes in an effect that was open when the world was opened. */
  adopt(effect: string, leaf: EffectLeaf): void {
    this.#remember(effect, leaf);
  }

  /** Offers an interrupted effect again, as its next attempt. */
  offerAgain(effect: string): void {
    const leaf = this.#leaves.get(effect);
    if (leaf !== undefined) this.#waiting.add(effect, leaf);
  }

  #start(effect: string): void {
    const leaf = this.#leaves.get(effect);
    const adapter = leaf === undefined ? undefined : this.#adapters.get(leaf.name);
    if (leaf === undefined || adapter === undefined || this.#running.has(effect)) return;
    const why = this.#unstartable(leaf);
    if (why !== undefined) {
      if (why !== LEFT_ARMED) void this.#settleUnstarted(effect, why);
      return this.release([effect]);
    }
    const abort = new AbortController();
    let fence = (): void => undefined;
    const fenced = new Promise<typeof FENCED>((resolve) => {
      fence = () => resolve(FENCED);
    });
    const done = this.#perform(effect, leaf, adapter, abort, fenced).finally(() => {
      this.#running.delete(effect);
      this.#give(effect);
      this.#startWaiting();
    });
    this.#running.set(effect, { abort, done, fence });
  }

  /** Why an effect that is armed will not start; undefined when it will. */
  #unstartable(leaf: EffectLeaf): Unstarted | typeof LEFT_ARMED | undefined {
    if (leaf.cancelled !== undefined) return stopped(leaf);
    if (leaf.deadline !== null && this.parts.now() >= leaf.deadline) return TIMED_OUT;
    if (!this.#closing) return undefined;
    // Its attempt was on its way when closing began. The next open performs what may be offered again; of anything
    // else it could no longer tell that it did not happen, so that is said now.
    return leaf.delivery === 'idempotent' ? LEFT_ARMED : CANCELLED;
  }

  async #perform(
    effect: string,
    leaf: EffectLeaf,
    adapter: AnyAdapter,
    abort: AbortController,
    fenced: Promise<typeof FENCED>,
  ): Promise<void> {
    const context = this.contextFor(effect, leaf, abort.signal);
    const ended = new AbortController();
    const execution = execute(adapter, leaf, context).finally(() => ended.abort());
    const outcome = await Promise.race([execution, fenced, this.#deadline(leaf, abort, ended.signal)]);
    if (outcome === DEADLINE || outcome === FENCED) {
      if (outcome === DEADLINE) await this.#settleTimeout(effect, leaf);
      ended.abort();
      return this.#linger(effect, leaf, adapter, execution);
    }
    const deferral = deferralOf(outcome);
    if (deferral !== undefined && (await this.parts.defer(effect, leaf.attempt, deferral))) return;
    const receipt = await this.receiptOf(adapter, leaf, deferral === undefined ? outcome : HANDED_ON_TOO_LATE);
    const stop = abort.signal.aborted ? (abort.signal.reason as StopReason) : undefined;
    // Closing: what the next open may offer again or ask about is left armed, so that it will be.
    if (stop === 'shutdown' && leaf.delivery !== 'at_most_once' && receipt.status !== 'ok') return;
    await this.parts.settle(effect, leaf.attempt, receipt);
  }

  /** Resolves when the effect's deadline comes; then it was told to stop. */
  async #deadline(leaf: EffectLeaf, abort: AbortController, ended: AbortSignal): Promise<typeof DEADLINE> {
    if (leaf.deadline === null) return new Promise(() => undefined);
    while (!ended.aborted && this.parts.now() < leaf.deadline) {
      await this.parts.clock.sleep(leaf.deadline - this.parts.now(), ended);
    }
    if (ended.aborted) return new Promise(() => undefined);
    abort.abort('deadline' satisfies StopReason);
    return DEADLINE;
  }

  #settleTimeout(effect: string, { attempt }: EffectLeaf): Promise<void> {
    return this.parts.settle(effect, attempt, { adapter: 'kernel', attempts: attempt, ...TIMED_OUT }, true);
  }

  /** Waits, holding nobody up, for what an adapter says of an effect that was settled without it (A5). */
  #linger(effect: string, leaf: EffectLeaf, adapter: AnyAdapter, execution: Promise<Outcome | Deferred>): void {
    const late = execution.then(async (outcome) => {
      const said = deferralOf(outcome) === undefined ? outcome : HANDED_ON_TOO_LATE;
      await this.parts.settle(effect, leaf.attempt, await this.receiptOf(adapter, leaf, said));
    });
    this.#lingering.add(late);
    void late.finally(() => this.#lingering.delete(late));
  }

  /** What an adapter is told. */
  contextFor(effect: string, leaf: EffectLeaf, signal: AbortSignal): AdapterContext {
    const asking = this.#questions.of(effect, leaf.attempt, signal);
    return {
      idempotencyKey: effect,
      attempt: leaf.attempt,
      deadline: leaf.deadline,
      signal,
      content: this.parts.content,
      progress: (note) => this.parts.progress(effect, note),
      rights: () => this.parts.rights([leaf.plan[0], leaf.plan[1]]),
      ask: (question) => asking.ask(question),
      secret: (name) => this.parts.secret(name),
    };
  }

  /** The receipt; when the store cannot even tell whether the payload's content is there, what happened is not known. */
  async receiptOf(adapter: AnyAdapter, leaf: EffectLeaf, outcome: unknown): Promise<Receipt> {
    try {
      return await receiptOf(adapter, leaf, outcome, this.#links);
    } catch {
      return { adapter: adapter.name, status: 'outcome_unknown', attempts: leaf.attempt };
    }
  }

  #take(effect: string, kind: string): boolean {
    const used = this.#used.get(kind) ?? 0;
    if (this.#kindOf.has(effect)) return false;
    if (used >= (this.#adapters.get(kind)?.concurrency ?? CONCURRENCY_DEFAULT)) return false;
    this.#used.set(kind, used + 1);
    this.#kindOf.set(effect, kind);
    return true;
  }

  #give(effect: string): void {
    const kind = this.#kindOf.get(effect);
    if (kind === undefined) return;
    this.#kindOf.delete(effect);
    this.#used.set(kind, Math.max(0, (this.#used.get(kind) ?? 0) - 1));
  }
}

/** Runs the adapter; what it throws is its own defect and becomes an outcome. */
async function execute(adapter: AnyAdapter, leaf: EffectLeaf, context: AdapterContext): Promise<Outcome | Deferred> {
  try {
    return (await adapter.doExecute(decode(encode(leaf.params)), context)) as Outcome | Deferred;
  } catch {
    if (!context.signal.aborted) return { status: 'error', code: 'adapter_error/threw' };
    return leaf.delivery === 'idempotent' ? { status: 'cancelled' } : { status: 'outcome_unknown' };
  }
}

/** Whether an effect is the dispatcher's to move on: nobody has to decide, answer or settle it first. */
function isOurs({ approval, deferred, late }: EffectLeaf): boolean {
  return approval === undefined && deferred === undefined && late === undefined;
}

/** Whether an effect waits for nothing but its turn. */
function mayStart(leaf: EffectLeaf): boolean {
  return leaf.attempt === 0 && isOurs(leaf);
}
