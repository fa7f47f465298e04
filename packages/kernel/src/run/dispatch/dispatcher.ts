/**
 * Starts each effect once, when it is durable and a slot is free, and journals its receipt.
 *
 * Invariants
 * A1  An effect starts only after the frame that armed it is durable, and at most once per armed attempt.
 * A2  Every started effect ends in exactly one receipt ingress, or stays armed when the world closes first.
 * A3  Effects of one kind start in the order in which they were emitted: one may be armed in its own frame only when
 *     no earlier one still waits, not even in a frame of the same batch.
 * A4  An effect that was cancelled, or whose deadline has passed, does not start.
 * A5  An effect that was settled while its adapter was at work is fenced: its slot is free, and a later answer of the
 *     adapter is journaled as late.
 * A6  On a store that another process can take over, an effect starts only while this opening certainly owns it:
 *     otherwise the attempt stays armed, and the next owner decides what it was.
 */
import type { Receipt } from '@reprise/contracts';
import type { AnyAdapter } from '../../ports/adapter/adapter.js';
import type { MaybePromise } from '../../ports/time/maybe-promise.js';
import { PassingMap } from '../../ports/time/passing-map.js';
import type { EffectLeaf, EmittedEffect, LeafChange } from '../../pure/engine/index.js';
import { type Addressed, type ExecutionParts, Executions, type Running } from './execution.js';
import type { Executor } from './executor.js';
import { CANCELLED, type KernelSaid, kernelReceipt, NO_ADAPTER, stopped, TIMED_OUT } from './kernel-receipts.js';
import type { AskedOutside } from './outside.js';
import { Questions } from './questions.js';
import { Slots } from './slots.js';
import { WaitingLine } from './waiting-line.js';

/** The collaborators of a dispatcher. */
interface DispatcherParts extends ExecutionParts {
  readonly adapters: readonly AnyAdapter[];
  /**
   * Journals an attempt. Resolves true when it is durable, false when the effect was settled before.
   *
   * @param placed called when the attempt has its place among the frames: everything folded from then on comes later
   */
  arm(effect: string, attempt: number, placed: () => void): Promise<boolean>;
  /** Journals a question. Resolves when it is durable; rejects when the question is invalid or its effect is not open. */
  ask(effect: string, attempt: number, asked: AskedOutside): Promise<void>;
}

/** An effect that stays armed, for the next open to offer it again. */
const LEFT_ARMED = Symbol('left armed');

/** Executes the open effects of a world. */
export class Dispatcher implements Executor {
  readonly #adapters: ReadonlyMap<string, AnyAdapter>;
  readonly #slots: Slots;
  readonly #leaves = new PassingMap<string, EffectLeaf>();
  /** Open effects that wait only for their turn. */
  readonly #ours = new Set<string>();
  readonly #running = new PassingMap<string, Running>();
  readonly #executions: Executions;
  readonly #questions: Questions;
  readonly #waiting: WaitingLine;
  /** Kinds of which an effect was emitted in the batch under way and has no slot. */
  readonly #passedOver = new Set<string>();
  /** Effects whose attempts are not folded yet, by kind. */
  readonly #unplaced = new Map<string, Set<string>>();
  #enabled = false;
  #closing = false;

  constructor(private readonly parts: DispatcherParts) {
    this.#adapters = new Map(parts.adapters.map((adapter) => [adapter.effect.name, adapter]));
    this.#waiting = new WaitingLine({ clock: parts.clock, now: parts.now, due: () => this.#startWaiting() });
    this.#slots = new Slots((kind) => this.#adapters.get(kind)?.concurrency);
    this.#questions = new Questions((effect, attempt, asked) => parts.ask(effect, attempt, asked));
    this.#executions = new Executions(parts, this.#questions);
  }

  /** The adapter registered for a kind of effect; undefined without one. */
  adapterFor(kind: string): AnyAdapter | undefined {
    return this.#adapters.get(kind);
  }

  /** True when nothing runs and nothing that could start waits. */
  get idle(): boolean {
    return this.#running.size === 0 && (!this.#enabled || this.#waiting.size === 0);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /**
   * True while this dispatcher has an open effect to execute, while an open effect can be settled only by the next
   * open, or while an adapter still works on a settled effect. Effects that wait for a person or a webhook do not count.
   */
  get unfinished(): boolean {
    return this.#ours.size > 0 || (!this.#closing && this.#executions.lingering.length > 0);
  }

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

  abandon(why: 'world_failed' | 'fenced'): void {
    this.disable();
    for (const running of this.#running.values()) running.stop(why);
  }

  /** Takes slots for effects that are being emitted. @returns the effects that may be armed in the same frame */
  reserve(emitted: readonly EmittedEffect[]): string[] {
    const armed: string[] = [];
    for (const { effect, name } of emitted) {
      const may =
        this.#enabled && this.#adapters.has(name) && !this.#waitsBefore(name) && this.#slots.take(effect, name);
      if (may) armed.push(effect);
      else this.#passedOver.add(name);
    }
    return armed;
  }

  /** Gives back slots that `reserve` took for these effects. */
  release(effects: readonly string[]): void {
    for (const effect of effects) this.#slots.give(effect);
    if (effects.length > 0) this.#startWaiting();
  }

  /** Follows durable frames: what is open, what may start, what should stop. */
  follow(changes: readonly LeafChange[], armed: readonly string[], aborts: readonly string[]): void {
    this.#passedOver.clear(); // they are durable, so they wait
    for (const { key, after } of changes) {
      if (key.path[0] !== 'effect') continue;
      const effect = String(key.path[1]);
      if (after === undefined) this.#forget(effect);
      else this.#remember(effect, after as EffectLeaf);
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
    for (const running of this.#running.values()) running.stop('shutdown');
    const over = new AbortController();
    this.#questions.close();
    const working = [...[...this.#running.values()].map(({ done }) => done), ...this.#executions.lingering];
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
      if (this.#waiting.remove(effect)) void this.#settleUnstarted(effect, stopped(leaf)); // it was waiting for another attempt
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
      else if (this.#slots.take(next, kind)) this.#armLater(next, kind);
      else return;
    }
  }

  /** Journals why an effect will not start, as data, so that its plan can go on. */
  #settleWaiting(effect: string, why: KernelSaid): void {
    this.#waiting.remove(effect);
    void this.#settleUnstarted(effect, why);
  }

  #settleUnstarted(effect: string, why: KernelSaid): Promise<unknown> {
    const attempts = this.#leaves.get(effect)?.attempt ?? 0;
    return this.parts.settle(effect, attempts, kernelReceipt(attempts, why));
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

  /** The effect was settled while its attempt was being journaled. If it waits for another attempt, only this settles it. */
  #settledMeanwhile(effect: string): void {
    const leaf = this.#leaves.get(effect);
    if (leaf?.late !== undefined) void this.#settleUnstarted(effect, stopped(leaf));
    this.release([effect]);
  }

  #stop(effect: string): void {
    this.#running.get(effect)?.stop('cancelled');
    const leaf = this.#leaves.get(effect);
    if (leaf !== undefined && this.#waiting.has(effect)) this.#settleWaiting(effect, stopped(leaf)); // it waits for another attempt
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
    const ended = (): void => {
      this.#running.delete(effect);
      this.#slots.give(effect);
      this.#startWaiting();
    };
    this.#running.set(effect, this.#executions.start(effect, leaf, adapter, ended));
  }

  /** Why an armed effect will not start; undefined when it will. */
  #unstartable(leaf: EffectLeaf): KernelSaid | typeof LEFT_ARMED | undefined {
    if (this.parts.tenure?.holds() === false) return LEFT_ARMED; // A6
    if (leaf.cancelled !== undefined) return stopped(leaf);
    if (leaf.deadline !== null && this.parts.now() >= leaf.deadline) return TIMED_OUT;
    if (!this.#closing) return undefined;
    // The attempt was being journaled when closing began. The next open executes an effect that may be offered again.
    // For any other effect it could no longer tell that the attempt never happened, so the receipt says so now.
    return leaf.guarantee === 'idempotent' ? LEFT_ARMED : CANCELLED;
  }

  /** The context that an adapter gets when it is asked about an interrupted effect. */
  contextFor(effect: string, leaf: EffectLeaf, adapter: AnyAdapter, signal: AbortSignal): Addressed {
    return this.#executions.contextFor(effect, leaf, adapter, signal);
  }

  /** The receipt made of an adapter's verdict on an interrupted effect. */
  receiptOf(effect: string, adapter: AnyAdapter, leaf: EffectLeaf, outcome: unknown): MaybePromise<Receipt> {
    return this.#executions.receiptOf(effect, adapter, leaf, outcome);
  }
}

/** Whether the dispatcher itself moves the effect on: no decision, answer or settlement from outside comes first. */
function isOurs({ approval, deferred, late }: EffectLeaf): boolean {
  return approval === undefined && deferred === undefined && late === undefined;
}

/** Whether an effect waits for nothing but its turn. */
function mayStart(leaf: EffectLeaf): boolean {
  return leaf.attempt === 0 && isOurs(leaf);
}
