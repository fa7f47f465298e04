/** Tests of one plan (given an input, when receipts arrive, then these results), through the real engine. */

import type { Address, JournalRecord, PolicyRule, Receipt } from '@reprise/contracts';
import { requireFields, requireMethods } from '@reprise/contracts';
import type { PlanDefinition, ReducerDefinition } from '@reprise/kernel';
import { BENCH_START, Bench, type Folded } from './bench.js';
import { checkedValue } from './checked-value.js';
import { expectOutcome } from './compare.js';
import { ofKind } from './given-reducer.js';
import { appOfPlan, SEEDED, STARTED } from './stand-ins.js';

/** The setup of a plan test. */
interface GivenPlanOptions {
  /** The cell of the plan; `testkit/Host@1/given` when absent. */
  readonly cell?: Address;
  /** The reducer of that cell: events that the plan raises are checked against it. */
  readonly owner?: ReducerDefinition;
  /** The time of the first frame, in milliseconds; 2026-01-01T00:00:00Z when absent. */
  readonly at?: number;
  /** The world's policy; everything is allowed when absent. */
  readonly policy?: readonly PolicyRule[];
  /** Cells that the plan can peek at. */
  readonly cells?: readonly { readonly address: Address; readonly state: unknown }[];
}

/**
 * An input of a plan: a receipt for its oldest pending effect, or for the one that `of` names by kind or by the number of
 * its emission; or an advance of time, with its deadlines.
 */
type PlanStep =
  | ({ readonly of?: string | number } & Pick<Receipt, 'status'> & Partial<Receipt>)
  | { readonly afterMs: number };

/** The results of a plan, by name. An omitted name is not compared; a fault must be named. */
export interface PlanOutcome {
  /** Every effect it emitted and the gate allowed, in order. */
  readonly effects?: readonly { readonly kind: string; readonly params: unknown }[];
  /** The kinds of effects that the gate refused, in order. */
  readonly denied?: readonly string[];
  /** Every event it raised, in order. */
  readonly events?: readonly { readonly name: string; readonly value: unknown }[];
  /** How it ended; null while it waits. */
  readonly ended?: 'ok' | 'error' | 'cancelled' | null;
  /** The numbers of the emissions whose cancellation was requested, in order. */
  readonly aborted?: readonly number[];
  /** The fault it ended with: `threw`, `effect_unknown` … */
  readonly fault?: string;
}

/** The results of a plan, to be compared. */
interface PlanWhen {
  /**
   * Compares the named results, in canonical bytes.
   *
   * @throws Error naming the first difference; also when the plan ended in a fault and the test does not say so
   */
  then(expected: PlanOutcome): void;
}

/** A plan with its input. */
interface StartedPlan extends PlanWhen {
  /** Applies the inputs in order. */
  when(...steps: readonly PlanStep[]): PlanWhen;
}

/** A plan that waits for its input. */
export interface GivenPlan {
  /** Starts the plan with its input. */
  input(input: unknown): StartedPlan;
}

/**
 * Tests a plan without a world: it is started, resumed and bounded by the engine that worlds use. Every effect that
 * the policy allows is armed at once, as in a world that has room.
 *
 * @param plan its definition
 * @example
 * givenPlan(payPlan)
 *   .input({ cents: 100 })
 *   .when({ status: 'timeout' }, { status: 'ok', payload: { id: 'r-1' } })
 *   .then({ effects: [charge, charge], events: [{ name: 'shop/Paid@1', value: { ok: true } }], ended: 'ok' });
 */
// biome-ignore lint/suspicious/noExplicitAny: a plan's input type is closed over by its own schema
export function givenPlan(plan: PlanDefinition<any>, options: GivenPlanOptions = {}): GivenPlan {
  requireMethods(plan, ['run'], 'givenPlan(plan)', 'a plan that definePlan made');
  requireFields(options, 'givenPlan(options)', 'an object');
  return {
    input: (input) => {
      const start = () => new Started(plan, options, input);
      // biome-ignore lint/suspicious/noThenProperty: given, when, then; awaiting it fails with words
      return { when: (...steps) => start().all(steps), then: (expected) => start().then(expected) };
    },
  };
}

const HOST: Address = ['testkit/Host@1', 'given'];

class Started implements PlanWhen {
  readonly #bench: Bench;
  readonly #records: JournalRecord[] = [];
  readonly #aborts: string[] = [];
  readonly #emissions = new Map<string, { readonly emission: number; readonly kind: string }>();
  #open: string[] = [];

  constructor(
    private readonly plan: PlanDefinition,
    { cell = HOST, owner, at = BENCH_START, policy, cells = [] }: GivenPlanOptions,
    input: unknown,
  ) {
    this.#bench = new Bench(appOfPlan(plan, cell, owner), at, policy);
    for (const { address, state } of cells) this.#bench.request(address, { name: SEEDED, value: state });
    const started = this.#bench.request(cell, { name: STARTED, value: input });
    if (started.refused !== undefined) throw new Error(`the plan was not started: ${started.refused.what}`);
    this.#follow(started);
  }

  all(steps: readonly PlanStep[]): this {
    for (const step of steps) {
      if ('afterMs' in step) this.#pass(step.afterMs);
      else this.#settle(step);
    }
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: given, when, then; awaiting it fails with words
  then(expected: PlanOutcome): void {
    const fault = ofKind(this.#records, 'fault').find(({ target }) => target.length === 3)?.code;
    const what = `${this.plan.name}`;
    if (fault !== undefined && expected.fault === undefined) throw new Error(`${what}: ended in the fault ${fault}`);
    const ended = ofKind(this.#records, 'plan_ended').at(-1);
    const again = ofKind(this.#records, 'intent').length > ofKind(this.#records, 'plan_ended').length;
    expectOutcome(what, expected, {
      effects: ofKind(this.#records, 'effect').map(({ name, params }) => ({ kind: name, params })),
      denied: ofKind(this.#records, 'denial').flatMap(({ what, effect }) => (effect === undefined ? [] : [what])),
      events: ofKind(this.#records, 'event')
        .filter(({ from }) => from?.length === 3)
        .map(({ event }) => event),
      ended: again ? null : (ended?.status ?? null),
      aborted: this.#aborts.map((effect) => this.#emissions.get(effect)?.emission ?? -1),
      fault,
    });
  }

  #settle({ of, ...given }: Extract<PlanStep, { status: unknown }>): void {
    const effect = this.#open.find((id) => {
      const { emission, kind } = this.#emissions.get(id) ?? { emission: -1, kind: '' };
      return of === undefined || of === emission || of === kind;
    });
    if (effect === undefined) throw new Error(`${this.plan.name}: no open effect ${of ?? ''} can be settled`);
    this.#checkPayload(effect, given);
    this.#open = this.#open.filter((id) => id !== effect);
    this.#follow(this.#bench.receipt(effect, { adapter: 'given', attempts: 1, ...given }));
  }

  /** A payload that the schema refuses never reaches a plan: a test with one tests nothing. */
  #checkPayload(effect: string, { status, payload }: Partial<Receipt>): void {
    const definition = this.plan.effects.get(this.#emissions.get(effect)?.kind ?? '');
    if (status !== 'ok' || definition === undefined) return;
    checkedValue(`the payload for ${definition.name}`, definition.receipt, payload ?? null);
  }

  #pass(ms: number): void {
    const until = this.#bench.at + ms;
    for (let next = this.#bench.timers[0]; next !== undefined && next.due <= until; next = this.#bench.timers[0]) {
      this.#follow(this.#bench.fire(next));
    }
    this.#bench.at = until;
  }

  #follow({ records, aborts, refused }: Folded): void {
    if (refused !== undefined) throw new Error(`${this.plan.name}: ${refused.what}`);
    this.#records.push(...records);
    this.#aborts.push(...aborts);
    for (const { effect, emission, name } of ofKind(records, 'effect')) {
      this.#emissions.set(effect, { emission, kind: name });
      this.#open.push(effect);
    }
    const settled = new Set(ofKind(records, 'settled').map(({ effect }) => effect));
    this.#open = this.#open.filter((effect) => !settled.has(effect));
  }
}
