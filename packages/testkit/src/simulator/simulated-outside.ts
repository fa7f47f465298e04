/**
 * What effects reach: it outlives every process, counts what it is asked to do, and answers when the simulation says so.
 *
 * Invariants
 * O1  It is asked only for what is armed in the journal, durably, and for each attempt once.
 * O2  What may happen once at most is asked for once, over all processes.
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

/** What an outside is made of. */
interface OutsideParts {
  readonly choices: Choices;
  readonly turnstile: Turnstile;
  readonly sometimes: Sometimes;
  readonly journal: JournalAuditor;
  /** A promise was broken. */
  readonly broken: (why: string) => void;
}

/** How an adapter of a simulation answers. */
export interface SimulatedAdapterOptions<I, P> {
  /** The payload of what succeeds. */
  readonly payload: (params: I) => P;
  /** What it says otherwise, besides failing in general: drawn like success. */
  readonly answers?: readonly ((params: I) => AdapterOutcome<P> | Deferred)[];
  /** What it reports of its use. */
  readonly usage?: (params: I, choices: Choices) => AdapterOutcome['usage'];
  readonly concurrency?: number;
}

/** What the outside knows of an effect. */
export interface Execution {
  asked: number;
  /** What it came to, as far as it came. */
  outcome?: AdapterOutcome | Deferred;
  /** Attempts up to this one were said not to happen any more: from then on they do not. */
  excludedThrough: number;
  /** How often that was said: so often it may be asked for again. */
  exclusions: number;
}

/** What an answer of the outside waits as. */
export const ANSWERS = 'the outside answers';

/** What an attempt comes to that was excluded before it came. */
const EXCLUDED: AdapterOutcome = { status: 'error', code: 'adapter_error/excluded' };

/** The world outside. */
export class SimulatedOutside {
  readonly #executions = new Map<string, Execution>();

  constructor(private readonly parts: OutsideParts) {}

  /** How often it was asked for an effect. */
  executionsOf(effect: string): number {
    return this.#executions.get(effect)?.asked ?? 0;
  }

  /** An adapter that answers as chance has it: success, failure, what it is not asked for, or not for long. */
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

  /** An adapter of one's own, whose every call is counted and waits before and after it works. */
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
   * Counts something that is done outside under an idempotency key, and lets it wait before and after: what an adapter
   * does, or a tool of one.
   *
   * @param what what it is, for people
   * @param work does it, when it is its turn
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

  /** O1, O2 */
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
    if (!may) broken(`${what} ${id} was executed twice, and nobody knew that it could not have happened`);
    return execution;
  }

  #executionOf(id: string): Execution {
    const execution = this.#executions.get(id) ?? { asked: 0, excludedThrough: 0, exclusions: 0 };
    this.#executions.set(id, execution);
    return execution;
  }

  /** Who says that it cannot happen any more sees to that: a process without the lock may be about to ask for it still. */
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

  /** What an interrupted attempt came to: what was never answered may not have happened, or nobody knows. */
  #remembered<P>(id: string): Reconciliation<P> {
    const outcome = this.#executions.get(id)?.outcome;
    if (outcome !== undefined && outcome.status !== 'deferred')
      return { verdict: 'happened', outcome: outcome as AdapterOutcome<P> };
    return { verdict: this.parts.choices.once(3) ? 'unknown' : 'cannot_happen' };
  }
}
