/**
 * Executes one armed effect at its adapter, from the context it gets to the one receipt that is journaled.
 *
 * The dispatcher decides which effect runs when; here one effect is executed, and dispatcher/A2 and dispatcher/A5 are upheld.
 */
import type { Address, Capability, Receipt, Value } from '@reprise/contracts';
import type {
  AdapterContext,
  AdapterOutcome,
  AnyAdapter,
  Deferred,
  ServiceFailure,
} from '../../ports/adapter/adapter.js';
import { LinkCheck } from '../../ports/content/links.js';
import type { ContentStore } from '../../ports/content/port.js';
import { Scrubber } from '../../ports/scrub/index.js';
import type { Tenure } from '../../ports/store/tenure.js';
import { type Clock, WAKE } from '../../ports/time/clock.js';
import { copyValue } from '../../pure/codec/index.js';
import type { EffectLeaf } from '../../pure/engine/index.js';
import { type Caller, Callers } from '../callers/callers.js';
import { kernelReceipt, TIMED_OUT } from './kernel-receipts.js';
import { Observations } from './observations.js';
import { type Deferral, deferralOf } from './outside.js';
import type { Questions } from './questions.js';
import { receiptOf } from './receipts.js';
import {
  type EffectErrorOrigin,
  type ErrorParts,
  errorIn,
  originOf,
  ReportedErrors,
  type TellTrouble,
  withError,
} from './reported-errors.js';
import { ScrubbedContent } from './scrubbed-content.js';
import { ScrubbedNotes } from './scrubbed-notes.js';

/** The collaborators of an execution. */
export interface ExecutionParts extends Partial<ErrorParts> {
  readonly content: ContentStore;
  readonly clock: Clock;
  now(): number;
  secret(name: string): Promise<string>;
  /** Receives the telemetry of a running effect. */
  progress(effect: string, note: Value): void;
  /**
   * Journals a receipt. Resolves when it is durable or the effect was already settled.
   *
   * @param unanswered the kernel settles an effect that its adapter is still working on
   */
  settle(effect: string, attempt: number, receipt: Receipt, unanswered?: boolean): Promise<void>;
  /** Journals that an effect was deferred. Resolves false when it was already settled. */
  defer(effect: string, attempt: number, deferral: Deferral): Promise<boolean>;
  /** The current rights of a cell. */
  rights(cell: Address): Promise<Capability>;
  /** Remembers the services that fail. */
  readonly services?: ServicesOutside;
  /** Knows which effect the code that runs belongs to. */
  readonly callers?: Callers;
  /** The ownership of a store that another process can take over; absent with a lock. */
  readonly tenure?: Tenure;
}

/** The services outside, as adapters speak of them. */
interface ServicesOutside {
  /** Reports that a service fails for an effect. */
  fails(service: string, failure: ServiceFailure, origin: EffectErrorOrigin): void;
  /** Reports that a service has answered. */
  works(service: string): void;
  ended(effect: string): void;
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

/** Why a running effect was told to stop. */
type StopReason = 'cancelled' | 'deadline' | 'shutdown' | 'world_failed' | 'fenced';

/** The reason of its abort signal: the platform's own functions throw it, and authors recognize an `AbortError`. */
class Stopped extends Error {
  override readonly name = 'AbortError';

  constructor(readonly why: StopReason) {
    super(`the effect was told to stop: ${why}`);
  }
}

/** The deadline came before the outcome. An adapter cannot answer it. */
const DEADLINE = Symbol('deadline');

/** The effect was settled while its adapter was at work. */
const FENCED = Symbol('fenced');

/** What is known about an effect that was deferred and then settled. */
const HANDED_ON_TOO_LATE: AdapterOutcome = { status: 'outcome_unknown' };

/** An execution under way, as its steps see it. */
interface Execution {
  readonly effect: string;
  readonly leaf: EffectLeaf;
  readonly adapter: AnyAdapter;
  readonly abort: AbortController;
  readonly fenced: Promise<typeof FENCED>;
}

/** The context of an adapter, and a way to end its notes. */
export interface ExecutionContext extends AdapterContext {
  toldAll(): void;
  /** The errors reported so far. */
  readonly reported: ReportedErrors;
  /** What was observed so far. */
  readonly observed: Observations;
}

/** Executes effects at their adapters. */
export class Executions {
  /** Adapters still working on effects that are settled: their answers come late. */
  readonly #lingering = new Set<Promise<void>>();
  readonly #links: LinkCheck;
  /** Scrubs the content that adapters put. */
  readonly #content: ContentStore;
  readonly #scrubber: Scrubber;
  readonly #trouble: TellTrouble;
  readonly #callers: Callers;
  readonly #scope = Object.freeze({});
  /** The effects that are at their adapters, by attempt: an adapter may speak when its effect has ended. */
  readonly #open = new Set<EffectLeaf>();

  constructor(
    private readonly parts: ExecutionParts,
    private readonly questions: Questions,
  ) {
    const { content, scrubber = new Scrubber(), trouble = () => undefined, callers = new Callers() } = parts;
    this.#callers = callers;
    this.#links = new LinkCheck(content);
    this.#content = new ScrubbedContent(content, scrubber);
    this.#scrubber = scrubber;
    this.#trouble = trouble;
  }

  /** The late answers of adapters. */
  get lingering(): readonly Promise<void>[] {
    return [...this.#lingering];
  }

  /** Hands an effect to its adapter. */
  start(effect: string, leaf: EffectLeaf, adapter: AnyAdapter): Running {
    const abort = new AbortController();
    let fence = (): void => undefined;
    const fenced = new Promise<typeof FENCED>((resolve) => {
      fence = () => resolve(FENCED);
    });
    this.#open.add(leaf);
    const done = this.#execute({ effect, leaf, adapter, abort, fenced }).finally(() => {
      this.#open.delete(leaf);
      this.parts.services?.ended(effect);
    });
    return { done, stop: (why) => abort.abort(new Stopped(why)), fence };
  }

  /** The context of an adapter. Everything that the adapter returns passes the scrubber of the world. */
  contextFor(effect: string, leaf: EffectLeaf, adapter: AnyAdapter, signal: AbortSignal): ExecutionContext {
    const scrubber = this.#scrubber;
    const asking = this.questions.of(effect, leaf.attempt, signal);
    const notes = new ScrubbedNotes(scrubber, (note) => this.parts.progress(effect, note));
    const reported = new ReportedErrors((error) => this.#trouble(error, originOf(effect, leaf, adapter)));
    const content = new ScrubbedContent(this.parts.content, scrubber);
    const observed = new Observations(scrubber);
    return {
      idempotencyKey: effect,
      attempt: leaf.attempt,
      ...(this.parts.tenure === undefined ? {} : { epoch: this.parts.tenure.epoch }),
      deadline: leaf.deadline,
      ...(leaf.approved === undefined ? {} : { approvedBy: leaf.approved.by }),
      signal,
      content,
      scope: this.#scope,
      wasScrubbed: (ref) => content.wasScrubbed(ref),
      observe: (said) => observed.add(said),
      observed,
      now: () => this.parts.now(),
      progress: (note) => notes.take(note),
      rights: () => this.parts.rights([leaf.plan[0], leaf.plan[1]]),
      ask: (asked) => asking.ask({ ...asked, question: scrubber.value(asked.question) }),
      secret: (name) => this.#secret(name),
      scrubber,
      report: (error) => reported.add(error),
      serviceFails: (service, failure) => {
        const again = failure.again && this.#open.has(leaf);
        this.parts.services?.fails(service, { ...failure, again }, originOf(effect, leaf, adapter));
      },
      serviceWorks: (service) => this.parts.services?.works(service),
      reported,
      toldAll: () => notes.end(),
    };
  }

  /** Makes the receipt. When the store cannot tell whether the payload's content exists, the outcome is unknown. */
  async receiptOf(
    effect: string,
    adapter: AnyAdapter,
    leaf: EffectLeaf,
    outcome: unknown,
    { reported, observed }: Partial<Pick<ExecutionContext, 'reported' | 'observed'>> = {},
  ): Promise<Receipt> {
    const made = await this.#receiptOf(adapter, leaf, outcome);
    const error = reported?.end(made) ?? made.error;
    const parts = { content: this.#content, scrubber: this.#scrubber, trouble: this.#trouble };
    const seen = observed ?? new Observations(this.#scrubber);
    seen.add(outcome);
    return withError({ ...made.receipt, ...seen.all }, error, originOf(effect, leaf, adapter), parts);
  }

  async #receiptOf(
    adapter: AnyAdapter,
    leaf: EffectLeaf,
    outcome: unknown,
  ): Promise<{ receipt: Receipt; error: unknown }> {
    try {
      const parts = { links: this.#links, scrubber: this.#scrubber };
      return { receipt: await receiptOf(adapter, leaf, outcome, parts), error: errorIn(outcome) };
    } catch (error) {
      return { receipt: { adapter: adapter.name, status: 'outcome_unknown', attempts: leaf.attempt }, error };
    }
  }

  /** A secret is registered with the scrubber before the adapter gets it. */
  async #secret(name: string): Promise<string> {
    const text = await this.parts.secret(name);
    if (typeof text === 'string') this.#scrubber.conceal(text);
    return text;
  }

  async #execute(execution: Execution): Promise<void> {
    const { effect, leaf, adapter, abort, fenced } = execution;
    const caller = this.#callerFor(effect, leaf, abort.signal);
    const returned = (): void => {
      caller.isOpen = false;
    };
    const context = { ...this.contextFor(effect, leaf, adapter, abort.signal), returned };
    const ended = new AbortController();
    const answer = this.#callers
      .run(caller, () => answerOf(adapter, leaf, context))
      .finally(() => {
        returned();
        context.toldAll();
        ended.abort(WAKE);
      });
    const outcome = await Promise.race([answer, fenced, this.#deadline(leaf, abort, ended.signal)]);
    if (outcome === DEADLINE || outcome === FENCED) {
      if (outcome === DEADLINE) await this.#settleTimeout(effect, leaf, context);
      ended.abort(WAKE);
      return this.#linger(execution, answer, context);
    }
    const deferral = deferralOf(outcome);
    if (deferral !== undefined && (await this.parts.defer(effect, leaf.attempt, deferral))) return;
    const said = deferral === undefined ? outcome : HANDED_ON_TOO_LATE;
    const receipt = await this.receiptOf(effect, adapter, leaf, said, context);
    const stop = abort.signal.aborted ? (abort.signal.reason as Stopped).why : undefined;
    // Closing: an effect that the next open may offer again or reconcile stays armed, so that the next open does so.
    if (stop === 'shutdown' && leaf.guarantee !== 'at_most_once' && receipt.status !== 'ok') return;
    await this.parts.settle(effect, leaf.attempt, receipt);
  }

  /** The code of an effect, until it has answered or was told to stop (callers/C1). */
  #callerFor(effect: string, leaf: EffectLeaf, signal: AbortSignal): Caller {
    const cell: Address = [leaf.plan[0], leaf.plan[1]];
    const caller: Caller = { callers: this.#callers, effect, name: leaf.name, cell, isOpen: true };
    signal.addEventListener('abort', () => {
      caller.isOpen = false;
    });
    return caller;
  }

  /** Resolves when the effect's deadline has passed and the adapter was told to stop. */
  async #deadline(leaf: EffectLeaf, abort: AbortController, ended: AbortSignal): Promise<typeof DEADLINE> {
    if (leaf.deadline === null) return new Promise(() => undefined);
    while (!ended.aborted && this.parts.now() < leaf.deadline) {
      await this.parts.clock.sleep(leaf.deadline - this.parts.now(), ended);
    }
    if (ended.aborted) return new Promise(() => undefined);
    abort.abort(new Stopped('deadline'));
    return DEADLINE;
  }

  #settleTimeout(effect: string, { attempt }: EffectLeaf, { observed }: ExecutionContext): Promise<void> {
    return this.parts.settle(effect, attempt, { ...kernelReceipt(attempt, TIMED_OUT), ...observed.all }, true);
  }

  /** Waits, without blocking anything, for the late answer of an adapter whose effect is settled (dispatcher/A5). */
  #linger(
    { effect, leaf, adapter }: Execution,
    answer: Promise<AdapterOutcome | Deferred>,
    context: ExecutionContext,
  ): void {
    const late = answer.then(async (outcome) => {
      const said = deferralOf(outcome) === undefined ? outcome : HANDED_ON_TOO_LATE;
      await this.parts.settle(effect, leaf.attempt, await this.receiptOf(effect, adapter, leaf, said, context));
    });
    this.#lingering.add(late);
    void late.finally(() => this.#lingering.delete(late));
  }
}

/** Runs the adapter. An error that it throws becomes an outcome. */
async function answerOf(
  adapter: AnyAdapter,
  leaf: EffectLeaf,
  context: AdapterContext,
): Promise<AdapterOutcome | Deferred> {
  try {
    return (await adapter.doExecute(copyValue(leaf.params), context)) as AdapterOutcome | Deferred;
  } catch (error) {
    if (!context.signal.aborted) return { status: 'error', code: 'adapter_error/threw', error };
    return leaf.guarantee === 'idempotent' ? { status: 'cancelled' } : { status: 'outcome_unknown' };
  }
}
