/**
 * The target of effects: it outlives every process, counts its requests, and answers when the simulation decides.
 *
 * Invariants
 * O1  It is asked only for attempts that are armed in the journal, durably, and once for each attempt.
 * O2  An effect that may happen at most once is requested once, over all processes.
 */
import type {
  Adapter,
  AdapterContext,
  AdapterOutcome,
  AnyAdapter,
  Deferred,
  EffectDefinition,
  Reconciliation,
} from '@reprise/kernel';
import type { Choices } from './choices.js';
import type { JournalAuditor } from './journal-auditor.js';
import type { SimulatedProcess } from './simulated-process.js';
import type { Sometimes } from './sometimes.js';
import type { Turnstile } from './turnstile.js';

/** The parts of an outside. */
interface OutsideParts {
  readonly choices: Choices;
  readonly turnstile: Turnstile;
  readonly sometimes: Sometimes;
  readonly journal: JournalAuditor;
  /** Reports that the world has broken a promise. */
  readonly broken: (why: string) => void;
}

/** The answers of a simulated adapter. */
interface SimulatedAdapterOptions<I, P> {
  /** The payload of a success. */
  readonly payload: (params: I) => P;
  /** Further outcomes, besides general failures: drawn as often as success. */
  readonly answers?: readonly ((params: I) => AdapterOutcome<P> | Deferred)[];
  /** The usage that it reports. */
  readonly usage?: (params: I, choices: Choices) => AdapterOutcome['usage'];
  readonly concurrency?: number;
}

/** The state of an effect outside. */
export interface Execution {
  asked: number;
  /** The latest state of the effect. */
  outcome?: AdapterOutcome | Deferred;
  /** Attempts up to this number were reported as impossible: from then on they do not happen. */
  excludedThrough: number;
  /** How often that was reported: as often the effect may be requested again. */
  exclusions: number;
}

/** The name under which an answer of the outside waits. */
export const ANSWERS = 'the outside answers';

/** The outcome of an attempt that was excluded before it arrived. */
const EXCLUDED: AdapterOutcome = { status: 'error', code: 'adapter_error/excluded' };

/** The world outside: it draws its answers, and counts executions. */
export class SimulatedOutside {
  readonly #executions = new Map<string, Execution>();

  constructor(private readonly parts: OutsideParts) {}

  /** The number of requests for an effect. */
  executionsOf(effect: string): number {
    return this.#executions.get(effect)?.asked ?? 0;
  }

  /** An adapter whose answers are drawn: success, failure, an invalid answer, or a slow one. */
  adapter<I, P>(
    process: SimulatedProcess,
    effect: EffectDefinition<I, P>,
    options: SimulatedAdapterOptions<I, P>,
  ): Adapter<I, P> {
    const { payload, answers = [], usage, concurrency } = options;
    const { choices } = this.parts;
    const base = {
      effect,
      name: 'simulated',
      doExecute: async (params: I): Promise<AdapterOutcome<P> | Deferred> => {
        const used = usage?.(params, choices);
        const more = used === undefined ? {} : { usage: used };
        const ok = (): AdapterOutcome<P> => ({ status: 'ok', payload: payload(params), ...more });
        const says: readonly ((params: I) => AdapterOutcome<P> | Deferred)[] = [
          ok,
          ok,
          ok,
          ...answers,
          () => ({ status: 'error', code: 'adapter_error/simulated', retryable: true, ...more }),
          () => ({ status: 'outcome_unknown', ...more }),
          () => {
            throw new TypeError('a defect of the adapter');
          },
        ];
        return choices.pick(says)(params);
      },
      doReconcile: async (_: I, { idempotencyKey }: AdapterContext) => this.#remembered(idempotencyKey),
      ...(concurrency === undefined ? {} : { concurrency }),
    };
    return this.watch(process, base as AnyAdapter) as Adapter<I, P>;
  }

  /** A custom adapter, each of whose calls is counted and waits before and after its work. */
  watch(process: SimulatedProcess, adapter: AnyAdapter): AnyAdapter {
    const { turnstile } = this.parts;
    const doExecute: AnyAdapter['doExecute'] = async (params, context) => {
      await turnstile.hurry(process, 'an effect starts');
      if (context.attempt <= this.#executionOf(context.idempotencyKey).excludedThrough) return EXCLUDED;
      return this.execute(process, adapter.effect.name, context, async (known) => {
        const stopped = this.#stopped(context.signal);
        if (stopped !== undefined) return stopped;
        if (context.attempt <= known.excludedThrough) return EXCLUDED;
        known.outcome = await adapter.doExecute(params, context);
        return known.outcome;
      });
    };
    const doReconcile: AnyAdapter['doReconcile'] = async (params, context) => {
      await turnstile.wait(process, 'reconcile');
      const answer = (await adapter.doReconcile?.(params, context)) ?? { verdict: 'unknown' };
      if (answer.verdict === 'cannot_happen') this.#exclude(context);
      this.parts.sometimes.happened(`the outside was asked what happened: ${answer.verdict}`);
      return answer;
    };
    return adapter.doReconcile === undefined ? { ...adapter, doExecute } : { ...adapter, doExecute, doReconcile };
  }

  /**
   * Counts an action under an idempotency key, and makes it wait before and after: for the work of an adapter or of
   * a tool.
   *
   * @param what the name of the action, for people
   * @param work executes the action, in its turn
   */
  async execute<T>(
    process: SimulatedProcess,
    what: string,
    of: Pick<AdapterContext, 'idempotencyKey' | 'attempt'>,
    work: (known: Execution) => Promise<T>,
  ): Promise<T> {
    await this.parts.turnstile.hurry(process, 'an effect starts');
    const known = this.#begin(what, of);
    await this.parts.turnstile.wait(process, ANSWERS);
    return work(known);
  }

  // O1, O2
  #begin(what: string, { idempotencyKey: id, attempt }: Pick<AdapterContext, 'idempotencyKey' | 'attempt'>): Execution {
    const { journal, broken, sometimes } = this.parts;
    const execution = this.#executionOf(id);
    execution.asked++;
    const armed = journal.effects.get(id);
    if (armed === undefined || armed.attempts < attempt) broken(`${what} ${id} started before that was durable`);
    else if (execution.asked > armed.attempts) broken(`${what} ${id} started twice in one attempt`);
    if (execution.asked === 1) return execution;
    sometimes.happened('an interrupted effect was replayed');
    const may = armed?.guarantee === 'idempotent' || execution.asked <= 1 + execution.exclusions;
    if (!may) broken(`${what} ${id} was executed twice, and no verdict had excluded the first attempt`);
    return execution;
  }

  #executionOf(id: string): Execution {
    const execution = this.#executions.get(id) ?? { asked: 0, excludedThrough: 0, exclusions: 0 };
    this.#executions.set(id, execution);
    return execution;
  }

  /**
   * A verdict that an attempt cannot happen excludes it: a process without the lock may still be about to request it.
   */
  #exclude({ idempotencyKey, attempt }: AdapterContext): void {
    const execution = this.#executionOf(idempotencyKey);
    execution.excludedThrough = Math.max(execution.excludedThrough, attempt);
    execution.exclusions++;
  }

  /** An aborted call stops, unless it has already ended. */
  #stopped({ aborted }: AbortSignal): AdapterOutcome | undefined {
    if (!aborted) return undefined;
    if (this.parts.choices.once(2)) return { status: 'cancelled' };
    this.parts.sometimes.happened('an adapter answered after it was told to stop');
    return undefined;
  }

  /** The outcome of an interrupted attempt: without an answer it may not have happened, or the outcome is unknown. */
  #remembered<P>(id: string): Reconciliation<P> {
    const outcome = this.#executions.get(id)?.outcome;
    if (outcome !== undefined && outcome.status !== 'deferred')
      return { verdict: 'happened', outcome: outcome as AdapterOutcome<P> };
    return { verdict: this.parts.choices.once(3) ? 'unknown' : 'cannot_happen' };
  }
}
