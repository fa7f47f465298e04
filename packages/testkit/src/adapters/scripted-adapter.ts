/**
 * An adapter that answers from a script and records the calls it gets.
 *
 * Invariants
 * S1  Every execution is recorded before it is answered, so a test sees calls that never end.
 * S2  Unused answers and surplus calls are never ignored: `assertDone` names both.
 */

import type { Value } from '@reprise/contracts';
import { isFunction, requireArgument, requireFields } from '@reprise/contracts';
import type { Adapter, AdapterContext, AdapterOutcome, EffectDefinition, Reconciliation } from '@reprise/kernel';

/**
 * One answer of a script: an outcome at once; `hang`: that outcome when the test releases it, or `cancelled` when
 * the call is aborted first; `throws`: a defect of the adapter; `never`: no answer, whatever happens.
 */
export type ScriptedOutcome<P = Value> =
  | AdapterOutcome<P>
  | { readonly hang: AdapterOutcome<P> }
  | { readonly throws: unknown }
  | { readonly never: true };

/** One execution, as the world requested it. */
interface ScriptedCall<I = Value> {
  readonly params: I;
  readonly idempotencyKey: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly deadline: number | null;
  readonly signal: AbortSignal;
}

/** Answers by order, or by a function of the call and its number (from 0). */
export type Script<I = Value, P = Value> =
  | readonly ScriptedOutcome<P>[]
  | ((call: ScriptedCall<I>, n: number) => ScriptedOutcome<P>);

/** The options of a scripted adapter. */
interface ScriptOptions<I = Value, P = Value> {
  /** The adapter's name in receipts; `script` when absent. */
  readonly name?: string;
  /** The most executions that run at once. */
  readonly concurrency?: number;
  /** The verdict on an interrupted attempt; for effects with the guarantee `reconcile`. */
  readonly reconcile?: (call: ScriptedCall<I>) => Reconciliation<P>;
}

/** An adapter that a test controls. Made by {@link scriptedAdapter}. */
export interface ScriptedAdapter<I = Value, P = Value> extends Adapter<I, P> {
  /** Every execution so far, in order. */
  readonly calls: readonly ScriptedCall<I>[];
  /** Every reconciliation of an interrupted attempt so far, in order. */
  readonly questions: readonly ScriptedCall<I>[];
  /** The number of executions of an effect: tests of the guarantees compare it. */
  executionsOf(idempotencyKey: string): number;
  /** The number of executions by idempotency key. */
  readonly executions: ReadonlyMap<string, number>;
  /** The idempotency keys of executions that hang, oldest first. */
  readonly hanging: readonly string[];
  /** Releases the oldest hanging execution, or the one with this key, with its scripted outcome or with `outcome`. */
  release(idempotencyKey?: string, outcome?: AdapterOutcome<P>): boolean;
  /** Releases every hanging execution. @returns their number */
  releaseAll(): number;
  /** Throws when the script has unused steps, or when it got more calls than it has steps. */
  assertDone(): void;
}

/**
 * Makes an adapter that answers from a script.
 *
 * @param effect the effect that it executes
 * @param script a list of steps, taken in order, or a function of the call
 * @example
 * const bank = scriptedAdapter(pay, [{ hang: { status: 'ok', payload: { id: 'r-1' } } }, { status: 'error', code: 'adapter_error' }]);
 * const world = await openWorld({ store, app, adapters: [bank] });
 * bank.release();                    // the first payment answers only now
 * expect(bank.executionsOf(key)).toBe(1);
 */
export function scriptedAdapter<I, P>(
  effect: EffectDefinition<I, P>,
  script: Script<I, P>,
  options: ScriptOptions<I, P> = {},
): ScriptedAdapter<I, P> {
  requireFields(effect, 'scriptedAdapter(effect)', 'an effect that defineEffect made');
  requireArgument(
    Array.isArray(script) || isFunction(script),
    'scriptedAdapter(script)',
    'a list of outcomes, or a function',
    script,
  );
  requireFields(options, 'scriptedAdapter(options)', 'an object');
  return new Scripted(effect, script, options);
}

interface Hanging<P> {
  readonly key: string;
  readonly planned: AdapterOutcome<P>;
  answer(outcome: AdapterOutcome<P>): void;
}

class Scripted<I, P> implements ScriptedAdapter<I, P> {
  readonly name: string;
  readonly concurrency?: number;
  readonly calls: ScriptedCall<I>[] = [];
  readonly questions: ScriptedCall<I>[] = [];
  readonly executions = new Map<string, number>();
  readonly doReconcile?: (params: I, context: AdapterContext) => Promise<Reconciliation<P>>;
  #hanging: Hanging<P>[] = [];

  constructor(
    readonly effect: EffectDefinition<I, P>,
    private readonly script: Script<I, P>,
    options: ScriptOptions<I, P>,
  ) {
    this.name = options.name ?? 'script';
    if (options.concurrency !== undefined) this.concurrency = options.concurrency;
    const { reconcile } = options;
    if (reconcile === undefined) return;
    this.doReconcile = async (params, context) => {
      const question = callOf(params, context);
      this.questions.push(question);
      return reconcile(question);
    };
  }

  get hanging(): readonly string[] {
    return this.#hanging.map(({ key }) => key);
  }

  executionsOf(idempotencyKey: string): number {
    return this.executions.get(idempotencyKey) ?? 0;
  }

  async doExecute(params: I, context: AdapterContext): Promise<AdapterOutcome<P>> {
    const call = callOf(params, context);
    const n = this.calls.push(call) - 1; // S1
    this.executions.set(call.idempotencyKey, this.executionsOf(call.idempotencyKey) + 1);
    const step = typeof this.script === 'function' ? this.script(call, n) : this.script[n];
    if (step === undefined) throw new Error(`the script of ${this.effect.name} has no answer to call ${n}`);
    if ('status' in step) return step;
    if ('throws' in step) throw step.throws;
    return 'never' in step ? new Promise<AdapterOutcome<P>>(() => undefined) : this.#hang(call, step.hang);
  }

  release(idempotencyKey?: string, outcome?: AdapterOutcome<P>): boolean {
    const found = this.#hanging.find(({ key }) => idempotencyKey === undefined || key === idempotencyKey);
    found?.answer(outcome ?? found.planned);
    return found !== undefined;
  }

  releaseAll(): number {
    let released = 0;
    while (this.release()) released++;
    return released;
  }

  assertDone(): void {
    if (typeof this.script === 'function') return;
    const [asked, planned] = [this.calls.length, this.script.length];
    if (asked === planned) return; // S2
    throw new Error(`the script of ${this.effect.name} has ${planned} answers but got ${asked} calls`);
  }

  #hang(call: ScriptedCall<I>, planned: AdapterOutcome<P>): Promise<AdapterOutcome<P>> {
    return new Promise((resolve) => {
      const stop = (): void => hanging.answer({ status: 'cancelled' });
      const hanging: Hanging<P> = {
        key: call.idempotencyKey,
        planned,
        answer: (outcome) => {
          this.#hanging = this.#hanging.filter((one) => one !== hanging);
          call.signal.removeEventListener('abort', stop);
          resolve(outcome);
        },
      };
      this.#hanging.push(hanging);
      call.signal.addEventListener('abort', stop, { once: true });
      if (call.signal.aborted) stop();
    });
  }
}

function callOf<I>(params: I, context: AdapterContext): ScriptedCall<I> {
  const { idempotencyKey, attempt, deadline, signal } = context;
  return { params, idempotencyKey, attempt, deadline, signal };
}
