/**
 * Executes armed effects at their adapters, each from the context it gets to the one receipt that is journaled.
 *
 * The dispatcher decides which effect runs when; here one effect is executed, and dispatcher/A2 and dispatcher/A5 are upheld.
 * Most adapters answer at once and ask for nothing, so what an effect needs only when it is told to stop, has a deadline or
 * speaks is made then: an effect makes no controller, no timer and no listener of its own.
 */
import type { Address, Receipt } from '@reprise/contracts';
import type { AdapterContext, AdapterOutcome, AnyAdapter, Deferred } from '../../ports/adapter/adapter.js';
import { LinkCheck } from '../../ports/content/links.js';
import type { ContentStore } from '../../ports/content/port.js';
import { Scrubber } from '../../ports/scrub/index.js';
import { type Clock, WAKE } from '../../ports/time/clock.js';
import { after, type MaybePromise, rescued } from '../../ports/time/maybe-promise.js';
import { copyValue } from '../../pure/codec/index.js';
import type { EffectLeaf } from '../../pure/engine/index.js';
import { type Caller, Callers } from '../callers/callers.js';
import { type ContextParts, contextOf, Said, type Surroundings, surroundingsOf } from './execution-context.js';
import { kernelReceipt, TIMED_OUT } from './kernel-receipts.js';
import { Observations } from './observations.js';
import { type Deferral, deferralOf } from './outside.js';
import type { Questions } from './questions.js';
import { receiptOf } from './receipts.js';
import { type ErrorParts, errorIn, originOf, withError } from './reported-errors.js';
import { ScrubbedContent } from './scrubbed-content.js';
import { type StopReason, StopSign } from './stop-sign.js';

/** The collaborators of an execution. */
export interface ExecutionParts extends ContextParts, Partial<ErrorParts> {
  readonly clock: Clock;
  /**
   * Journals a receipt. Resolves when it is durable or the effect was already settled.
   *
   * @param unanswered the kernel settles an effect that its adapter is still working on
   */
  settle(effect: string, attempt: number, receipt: Receipt, unanswered?: boolean): Promise<unknown>;
  /** Journals that an effect was deferred. Resolves false when it was already settled. */
  defer(effect: string, attempt: number, deferral: Deferral): Promise<boolean>;
  /** Knows which effect the code that runs belongs to. */
  readonly callers?: Callers;
}

/** An effect that is at its adapter. */
export interface Running {
  /** Resolves when it has ended and its receipt is durable. */
  readonly done: Promise<void>;
  /** Tells the adapter to stop. */
  stop(why: Exclude<StopReason, 'deadline'>): void;
  /** Stops waiting for the adapter: the effect was settled without it. */
  fence(): void;
}

/** What is known about an effect that was deferred and then settled. */
const HANDED_ON_TOO_LATE: AdapterOutcome = { status: 'outcome_unknown' };

/** The context that an adapter gets, and what it says through it. */
export interface Addressed {
  readonly context: AdapterContext;
  readonly said: Said;
}

/** What the executions of a world have in common. */
interface Shared {
  readonly parts: ExecutionParts;
  readonly callers: Callers;
  readonly surroundings: Surroundings;
  receiptOf(execution: Armed, outcome: unknown, said: Said): MaybePromise<Receipt>;
  /** Takes in an adapter that still works on an effect that was settled, until it has answered. */
  lingers(answered: Promise<void>): void;
}

/** An armed effect and its adapter. */
interface Armed {
  readonly effect: string;
  readonly leaf: EffectLeaf;
  readonly adapter: AnyAdapter;
  /** Called when it has ended and its receipt is durable, or nobody waits for it. */
  ended(): void;
}

/** Executes effects at their adapters. */
export class Executions {
  /** Adapters still working on effects that are settled: their answers come late. */
  readonly #lingering = new Set<Promise<void>>();
  readonly #links: LinkCheck;
  /** Scrubs the content that the kernel itself puts beside receipts. */
  readonly #content: ContentStore;
  readonly #shared: Shared;

  constructor(parts: ExecutionParts, questions: Questions) {
    const { content, scrubber = new Scrubber(), trouble = () => undefined, callers = new Callers() } = parts;
    this.#links = new LinkCheck(content);
    this.#content = new ScrubbedContent(content, scrubber);
    this.#shared = {
      parts,
      callers,
      surroundings: surroundingsOf(parts, questions, scrubber, trouble),
      receiptOf: ({ effect, adapter, leaf }, outcome, said) => this.receiptOf(effect, adapter, leaf, outcome, said),
      lingers: (answered) => {
        this.#lingering.add(answered);
        void answered.finally(() => this.#lingering.delete(answered));
      },
    };
  }

  /** The late answers of adapters. */
  get lingering(): readonly Promise<void>[] {
    return [...this.#lingering];
  }

  /**
   * Hands an effect to its adapter.
   *
   * @param ended called when the effect has ended, before its `done` is resolved
   */
  start(effect: string, leaf: EffectLeaf, adapter: AnyAdapter, ended: () => void): Running {
    return new Execution({ effect, leaf, adapter, ended }, this.#shared);
  }

  /** The context of an adapter that is asked about an effect without executing it. */
  contextFor(effect: string, leaf: EffectLeaf, adapter: AnyAdapter, signal: AbortSignal): Addressed {
    const executed = { effect, leaf, adapter, signal: () => signal, isOpen: () => false };
    const { surroundings } = this.#shared;
    const said = new Said(executed, surroundings);
    return { said, context: contextOf(executed, said, surroundings) };
  }

  /** Makes the receipt. When the store cannot tell whether the payload's content exists, the outcome is unknown. */
  receiptOf(
    effect: string,
    adapter: AnyAdapter,
    leaf: EffectLeaf,
    outcome: unknown,
    { reported, observed }: Partial<Pick<Said, 'reported' | 'observed'>> = {},
  ): MaybePromise<Receipt> {
    const { scrubber, trouble } = this.#shared.surroundings;
    return after(this.#receiptOf(adapter, leaf, outcome, scrubber), (made) => {
      const error = reported?.end(made) ?? made.error;
      const seen = observed ?? new Observations(scrubber);
      seen.add(outcome);
      const receipt = { ...made.receipt, ...seen.all };
      if (error === undefined) return receipt;
      return withError(receipt, error, originOf(effect, leaf, adapter), { content: this.#content, scrubber, trouble });
    });
  }

  #receiptOf(adapter: AnyAdapter, leaf: EffectLeaf, outcome: unknown, scrubber: Scrubber): MaybePromise<Made> {
    const parts = { links: this.#links, scrubber };
    return rescued<Made>(
      () => after(receiptOf(adapter, leaf, outcome, parts), (receipt) => ({ receipt, error: errorIn(outcome) })),
      (error) => ({ receipt: { adapter: adapter.name, status: 'outcome_unknown', attempts: leaf.attempt }, error }),
    );
  }
}

/** A receipt, and the error of the outcome that it was made of. */
interface Made {
  readonly receipt: Receipt;
  readonly error: unknown;
}

/** One effect at its adapter: it ends with the adapter's answer, or is left when it was settled without one. */
class Execution implements Running {
  readonly done: Promise<void>;
  /** Resolves `done`: its receipt is durable, or nobody waits for it. */
  #end: () => void = () => undefined;
  readonly #stop = new StopSign();
  readonly #caller: Caller;
  readonly #context: AdapterContext;
  readonly #said: Said;
  /** Resolves when the adapter has answered, and what it answered late is durable. */
  readonly #answered: Promise<void>;
  /** The adapter has answered, or nobody waits for it. */
  #isOver = false;
  /** It has ended, and its receipt is durable: an adapter may still speak. */
  #hasEnded = false;
  /** Resolves when the effect was settled without its adapter; undefined while the adapter is waited for. */
  #left: Promise<unknown> | undefined;
  /** Ends the wait for the deadline. */
  #undue: () => void = () => undefined;

  constructor(
    private readonly armed: Armed,
    private readonly shared: Shared,
  ) {
    const { effect, leaf } = armed;
    const cell: Address = [leaf.plan[0], leaf.plan[1]];
    this.#caller = { callers: shared.callers, effect, name: leaf.name, cell, isOpen: true };
    const executed = {
      ...{ effect, leaf, adapter: armed.adapter },
      isOpen: () => !this.#hasEnded,
      signal: () => this.#stop.signal,
      returned: () => this.#returned(),
    };
    this.#said = new Said(executed, shared.surroundings);
    this.#context = contextOf(executed, this.#said, shared.surroundings);
    this.done = new Promise((resolve) => {
      this.#end = resolve;
    });
    const answer = shared.callers.run(this.#caller, () => this.#answer());
    this.#answered = answer.then((outcome) => this.#take(outcome));
    if (leaf.deadline !== null) void this.#meet(leaf.deadline);
  }

  stop(why: StopReason): void {
    this.#returned();
    this.#stop.stop(why);
  }

  fence(): void {
    if (!this.#isOver) this.#leave(Promise.resolve());
  }

  /** The effect's code counts as open until it has answered or was told to stop (callers/C1). */
  #returned(): void {
    this.#caller.isOpen = false;
  }

  /** Runs the adapter. An error that it throws becomes an outcome. */
  async #answer(): Promise<AdapterOutcome | Deferred> {
    const { adapter, leaf } = this.armed;
    try {
      return (await adapter.doExecute(copyValue(leaf.params), this.#context)) as AdapterOutcome | Deferred;
    } catch (error) {
      if (this.#stop.why === undefined) return { status: 'error', code: 'adapter_error/threw', error };
      return leaf.guarantee === 'idempotent' ? { status: 'cancelled' } : { status: 'outcome_unknown' };
    }
  }

  #take(outcome: AdapterOutcome | Deferred): MaybePromise<void> {
    this.#returned();
    this.#said.toldAll();
    if (this.#left !== undefined) return this.#takeLate(outcome, this.#left);
    this.#over();
    this.#endAfter(this.#settle(outcome));
  }

  #settle(outcome: AdapterOutcome | Deferred): MaybePromise<unknown> {
    const deferral = deferralOf(outcome);
    return deferral === undefined ? this.#journal(outcome) : this.#defer(deferral);
  }

  async #defer(deferral: Deferral): Promise<unknown> {
    const { effect, leaf } = this.armed;
    if (await this.shared.parts.defer(effect, leaf.attempt, deferral)) return;
    return this.#journal(HANDED_ON_TOO_LATE);
  }

  #journal(outcome: AdapterOutcome | Deferred): MaybePromise<unknown> {
    return after(this.shared.receiptOf(this.armed, outcome, this.#said), (receipt) => {
      const { effect, leaf } = this.armed;
      // Closing: an effect that the next open may offer again or reconcile stays armed, so that the next open does so.
      if (this.#stop.why === 'shutdown' && leaf.guarantee !== 'at_most_once' && receipt.status !== 'ok') return;
      return this.shared.parts.settle(effect, leaf.attempt, receipt);
    });
  }

  /** The answer of an adapter whose effect was settled without it (dispatcher/A5). */
  async #takeLate(outcome: AdapterOutcome | Deferred, settled: Promise<unknown>): Promise<void> {
    await settled;
    const said = deferralOf(outcome) === undefined ? outcome : HANDED_ON_TOO_LATE;
    const receipt = await this.shared.receiptOf(this.armed, said, this.#said);
    await this.shared.parts.settle(this.armed.effect, this.armed.leaf.attempt, receipt);
  }

  /** Waits for the adapter no longer, without blocking anything. */
  #leave(settled: Promise<unknown>): void {
    if (this.#isOver) return;
    this.#over();
    this.#left = settled;
    this.shared.lingers(this.#answered);
    this.#endAfter(settled);
  }

  #endAfter(settled: MaybePromise<unknown>): void {
    void after(settled, () => {
      this.#hasEnded = true;
      this.shared.parts.services?.ended(this.armed.effect);
      this.armed.ended();
      this.#end();
    });
  }

  #over(): void {
    this.#isOver = true;
    this.#undue();
  }

  /** When its deadline has passed, the adapter is told to stop, and the effect is settled without it. */
  async #meet(deadline: number): Promise<void> {
    const { clock, now } = this.shared.parts;
    const undue = new AbortController();
    this.#undue = () => undue.abort(WAKE);
    while (!this.#isOver && now() < deadline) await clock.sleep(deadline - now(), undue.signal);
    if (this.#isOver) return;
    this.stop('deadline');
    this.#leave(this.#settleTimeout());
  }

  #settleTimeout(): Promise<unknown> {
    const { effect, leaf } = this.armed;
    const receipt = { ...kernelReceipt(leaf.attempt, TIMED_OUT), ...this.#said.observed?.all };
    return this.shared.parts.settle(effect, leaf.attempt, receipt, true);
  }
}
