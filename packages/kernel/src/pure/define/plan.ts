import { type Address, type Receipt, RepriseError, type Value } from '@reprise/contracts';
import type * as z from 'zod';
import { compileSchema, type SchemaNode, schemaDigest, schemaValue } from '../schema/index.js';
import type { EffectDefinition } from './effect.js';
import { type Replaced, replacedBy } from './lineage.js';
import { requireDefinitions, requireFunction, requireObject, requireOwnName } from './parts.js';

/** A receipt whose payload is typed when the status is `ok`. */
export type ReceiptOf<P> =
  | (Omit<Receipt, 'status' | 'payload'> & { readonly status: 'ok'; readonly payload: P })
  | (Omit<Receipt, 'status' | 'payload'> & {
      readonly status: Exclude<Receipt['status'], 'ok'>;
      readonly payload?: never;
    });

/** An effect that a plan emitted: what it awaits, cancels and names. */
export interface EffectHandle<P = unknown> {
  /** The emission's ordinal in the plan. */
  readonly emission: number;
  /** Carries the payload type; never present. */
  readonly $payload?: P;
}

/** What a plan waits for, as data. A plan yields it; the engine answers with a {@link Resumed}. */
export type PlanWait =
  | { readonly for: 'one' | 'any' | 'all'; readonly emissions: readonly number[]; readonly until: number | null }
  | { readonly for: 'peek'; readonly address: Address };

/** What an await returned, as data: the ordered list of these is all that a plan instance is. */
export type Resumed =
  | { readonly receipts: readonly (readonly [number, Receipt])[] }
  | { readonly deadline: true }
  | { readonly peeked: Value };

/** A plan's body while it runs. */
export type PlanBody<R = void> = Generator<PlanWait, R, Resumed>;

/** A deadline for an await. The effect stays open past it, until its own receipt or a cancel. */
export interface AwaitOptions {
  /** Milliseconds from now. */
  readonly within?: number;
}

/** How an effect is emitted. */
export interface EmitOptions {
  /** How long it may run, in milliseconds from when it may start. */
  readonly timeoutMs?: number;
  /** Somebody has to approve it first: who besides the host, as a pattern of principals; people when absent. */
  readonly approval?: { readonly to?: string };
}

/** All that a plan may do. Awaits are `yield*`; the rest is immediate and part of the frame. */
export interface PlanContext {
  /** The time of the frame that this segment of the plan runs in, in milliseconds. */
  readonly now: number;
  /** The cell whose plan this is. */
  readonly cell: Address;
  /**
   * Emits an effect of the declared set. A refusal comes back as a `denied` receipt. With `approval` somebody has to
   * approve it first even where the policy allows it, unless that was remembered.
   */
  emitEffect<I, P>(effect: EffectDefinition<I, P>, params: I, options?: EmitOptions): EffectHandle<P>;
  /** Waits for one receipt; with `within`, null when the time came first. */
  awaitReceipt<P>(handle: EffectHandle<P>): PlanBody<ReceiptOf<P>>;
  awaitReceipt<P>(handle: EffectHandle<P>, options: { readonly within: number }): PlanBody<ReceiptOf<P> | null>;
  /**
   * Waits for the first receipt of several; null when `within` came first. A receipt that an earlier await returned
   * is there already; of the others the first by journal order.
   */
  awaitAny<P>(
    handles: readonly EffectHandle<P>[],
    options?: AwaitOptions,
  ): PlanBody<{ readonly handle: EffectHandle<P>; readonly receipt: ReceiptOf<P> } | null>;
  /** Waits for all receipts, in the order of the handles; null when `within` came first. */
  awaitAll<P>(handles: readonly EffectHandle<P>[], options?: AwaitOptions): PlanBody<readonly ReceiptOf<P>[] | null>;
  /** Tries an effect up to `max` times, each try an effect of its own, while `on` says so. */
  retry<I, P>(
    effect: EffectDefinition<I, P>,
    params: I,
    options: { readonly max: number; readonly on: (receipt: ReceiptOf<P>) => boolean; readonly timeoutMs?: number },
  ): PlanBody<ReceiptOf<P>>;
  /** Reads a cell's state as of this frame; null when it is absent. Recorded, as every await. */
  peek(address: Address): PlanBody<Value>;
  /** Sends an event to the plan's own cell. */
  raiseEvent(event: { readonly name: string; readonly value: unknown }): void;
  /**
   * Asks for an effect to be cancelled: what does not run is settled now; what runs is told to stop and has `graceMs`
   * (half a minute when absent) to say what became of it, then it is settled as cancelled and its answer comes late.
   */
  cancel(handle: EffectHandle, options?: { readonly graceMs?: number }): void;
  /** Ends this instance and starts a fresh one: `return plan.continueAs(next)`. For plans of many awaits. */
  continueAs(input: unknown): void;
}

/** A plan as the engine holds it. */
export interface PlanDefinition<I = unknown> {
  readonly type: 'plan';
  readonly name: string;
  readonly input: SchemaNode;
  readonly effects: ReadonlyMap<string, EffectDefinition>;
  /** The plans whose intents start this one instead, oldest first; absent when there is none. */
  readonly replaces?: readonly Replaced[];
  readonly digest: string;
  run(input: I, plan: PlanContext): PlanBody;
}

/**
 * Defines a plan: a generator that turns an intent into effects and their receipts into events. It is pure:
 * given what its awaits returned it does the same again, so an instance is stored as exactly that list.
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
export function definePlan<I extends z.ZodType>(spec: {
  readonly name: string;
  readonly input: I;
  readonly effects: readonly EffectDefinition[];
  // biome-ignore lint/suspicious/noExplicitAny: a plan's input type is closed over by its own schema
  readonly replaces?: string | PlanDefinition<any>;
  readonly run: (input: z.output<I>, plan: PlanContext) => PlanBody;
}): PlanDefinition<z.output<I>> {
  requireObject(spec, 'a plan');
  requireOwnName(spec.name, 'a plan');
  requireFunction(spec.run, `run of ${spec.name}`);
  requireDefinitions(spec.effects, 'effect', spec.name);
  const input = compileSchema(spec.input);
  const effects = new Map<string, EffectDefinition>();
  for (const effect of spec.effects) {
    if ((effects.get(effect.name)?.digest ?? effect.digest) !== effect.digest) {
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
