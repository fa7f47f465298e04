import { type Address, type Receipt, RepriseError, type Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { compileSchema, type SchemaNode, schemaDigest, schemaValue } from '../schema/index.js';
import type { EffectDefinition } from './effect.js';
import { type Replaced, replacedBy } from './lineage.js';
import type { WireName } from './names.js';
import { requireDefinitions, requireKnownFields, requireObject, requireOwnName, requirePlanBody } from './parts.js';

/** A receipt whose payload is typed when the status is `ok`. */
export type ReceiptOf<P> =
  | (Omit<Receipt, 'status' | 'payload'> & { readonly status: 'ok'; readonly payload: P })
  | (Omit<Receipt, 'status' | 'payload'> & {
      readonly status: Exclude<Receipt['status'], 'ok'>;
      readonly payload?: never;
    });

/** A handle of an effect that a plan emitted: for awaiting, cancelling and naming it. */
export interface EffectHandle<P = unknown> {
  /** The emission's ordinal in the plan. */
  readonly emission: number;
  /** Carries the payload type; never present. */
  readonly $payload?: P;
}

/** The wait of a plan, as data. A plan yields it; the engine answers with a {@link Resumed}. */
export type PlanWait =
  | { readonly for: 'one' | 'any' | 'all'; readonly emissions: readonly number[]; readonly until: number | null }
  | { readonly for: 'peek'; readonly address: Address };

/** The result of an await, as data: the ordered list of these results is the whole state of a plan instance. */
export type Resumed =
  | { readonly receipts: readonly (readonly [number, Receipt])[] }
  | { readonly deadline: true }
  | { readonly peeked: Value };

/** A plan's body while it runs. */
export type PlanBody<R = void> = Generator<PlanWait, R, Resumed>;

/** A deadline for an await. The effect stays open past it, until its own receipt or a cancel. */
export interface AwaitOptions {
  /** Milliseconds from now until the wait gives up. */
  readonly within?: number;
}

/** Options of emitting an effect. */
export interface EmitOptions {
  /** How long it may run, in milliseconds from when it may start. */
  readonly timeoutMs?: number;
  /** Requires an approval first: by which principals besides the operator, as a pattern; people when absent. */
  readonly approval?: { readonly to?: string };
}

/** All that a plan may do. Awaits are `yield*`; other calls are immediate and part of the frame. */
export interface PlanContext {
  /** The time of the frame that this segment of the plan runs in, in milliseconds. */
  readonly now: number;
  /** The cell whose plan this is. */
  readonly cell: Address;
  /**
   * Emits an effect of the declared set. A refusal comes back as a `denied` receipt. `approval` requires an approval
   * even where the policy allows the effect, unless one is remembered.
   */
  emitEffect<I, P>(effect: EffectDefinition<I, P>, params: I, options?: EmitOptions): EffectHandle<P>;
  /** Waits for one receipt; with `within`, null when the time ran out. */
  awaitReceipt<P>(handle: EffectHandle<P>): PlanBody<ReceiptOf<P>>;
  awaitReceipt<P>(handle: EffectHandle<P>, options: { readonly within: number }): PlanBody<ReceiptOf<P> | null>;
  /**
   * Waits for the first receipt of several; null when `within` ran out. A receipt that an earlier await returned
   * counts as first; of the others the first by journal order.
   */
  awaitAny<P>(
    handles: readonly EffectHandle<P>[],
    options?: AwaitOptions,
  ): PlanBody<{ readonly handle: EffectHandle<P>; readonly receipt: ReceiptOf<P> } | null>;
  /** Waits for all receipts, in the order of the handles; null when `within` ran out. */
  awaitAll<P>(handles: readonly EffectHandle<P>[], options?: AwaitOptions): PlanBody<readonly ReceiptOf<P>[] | null>;
  /** Tries an effect up to `max` times, each try an effect of its own, while `on` returns true. */
  retry<I, P>(
    effect: EffectDefinition<I, P>,
    params: I,
    options: { readonly max: number; readonly on: (receipt: ReceiptOf<P>) => boolean; readonly timeoutMs?: number },
  ): PlanBody<ReceiptOf<P>>;
  /** Reads a cell's state as of this frame; null when it is absent. The result is recorded, as for every await. */
  peek(address: Address): PlanBody<Value>;
  /** Sends an event to the plan's own cell. */
  raiseEvent(event: { readonly name: string; readonly value: unknown }): void;
  /**
   * Cancels an effect: one that does not run is settled now; a running one is told to stop and has `graceMs` milliseconds
   * (half a minute when absent) to report its outcome, then it is settled as cancelled and its answer comes late.
   */
  cancel(handle: EffectHandle, options?: { readonly graceMs?: number }): void;
  /** Ends this instance and starts a fresh one: `return plan.continueAs(next)`. For plans of many awaits. */
  continueAs(input: unknown): void;
}

/** A plan in the form that the engine uses. */
export interface PlanDefinition<I = unknown> {
  readonly type: 'plan';
  readonly name: string;
  readonly input: SchemaNode;
  readonly effects: ReadonlyMap<string, EffectDefinition>;
  /** Earlier plans whose intents start this one, oldest first; absent without any. */
  readonly replaces?: readonly Replaced[];
  readonly digest: string;
  run(input: I, plan: PlanContext): PlanBody;
}

/** The parts of a plan. */
const SPEC_FIELDS = { name: true, input: true, effects: true, replaces: true, run: true } as const;

/**
 * Defines a plan: a generator that turns an intent into effects and their receipts into events. It is pure:
 * given the results of its awaits it does the same again, so an instance is stored as exactly that list.
 *
 * @param spec `effects` is the set it may emit; `run` must not keep anything outside itself; `replaces` names the
 *   version before, or is its definition: intents that name it start this plan
 * @throws RepriseError `invalid_name`, `invalid_schema`
 * @example
 * const pay = definePlan({ name: 'shop/pay_plan@1', input: Order, effects: [charge],
 *   *run(order, plan) {
 *     const receipt = yield* plan.awaitReceipt(plan.emitEffect(charge, { cents: order.cents }))
 *     plan.raiseEvent({ name: 'shop/Paid@1', value: { ok: receipt.status === 'ok' } })
 *   } })
 */
export function definePlan<I extends z.AnySchema, const N extends string>(spec: {
  readonly name: WireName<N>;
  readonly input: I;
  readonly effects: readonly EffectDefinition[];
  // biome-ignore lint/suspicious/noExplicitAny: a plan's input type is closed over by its own schema
  readonly replaces?: string | PlanDefinition<any>;
  readonly run: (input: z.output<I>, plan: PlanContext) => PlanBody;
}): PlanDefinition<z.output<I>> {
  requireObject(spec, 'a plan');
  requireOwnName(spec.name, 'a plan');
  requirePlanBody(spec.run, `run of ${spec.name}`);
  requireKnownFields(spec, SPEC_FIELDS, `the plan ${spec.name}`);
  requireDefinitions(spec.effects, 'effect', spec.name);
  const input = compileSchema(spec.input);
  const effects = new Map<string, EffectDefinition>();
  for (const effect of spec.effects) {
    const known = effects.get(effect.name);
    if (known !== undefined && known.digest !== effect.digest) {
      throw new RepriseError('duplicate_definition', `${spec.name} declares two effects ${effect.name}`);
    }
    effects.set(effect.name, effect);
  }
  const replaces = replacedBy(spec.name, spec.replaces);
  const chain = replaces.length === 0 ? [] : [replaces.map(({ name }) => name)];
  const digest = schemaDigest({ type: 'literal', values: [schemaValue(input), [...effects.keys()].sort(), ...chain] });
  return Object.freeze({
    type: 'plan',
    name: spec.name,
    input,
    effects,
    ...(replaces.length === 0 ? {} : { replaces }),
    digest,
    run: spec.run,
  });
}
