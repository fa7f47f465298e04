/** Effects and plans of organizations: each states its name once, and is compiled when it is first used. */
import type * as z from '@reprise/contracts/schema';
import {
  defineEffect,
  definePlan,
  type EffectDefinition,
  effectOnUse,
  type PlanBody,
  type PlanContext,
  type PlanDefinition,
  planOnUse,
  type ReceiptOf,
} from '@reprise/kernel/define';

interface EffectSpec<I, P>
  extends Pick<Parameters<typeof defineEffect>[0], 'guarantee' | 'rights' | 'settledBy' | 'subject'> {
  readonly params: I;
  readonly receipt: P;
}

/** Defines an effect by its kind, once more of it is read than that. */
export function effectOf<I extends z.AnySchema, P extends z.AnySchema>(
  kind: string,
  spec: () => EffectSpec<I, P>,
): EffectDefinition<z.output<I>, z.output<P>> {
  return effectOnUse(kind, () => defineEffect({ kind, ...spec() }));
}

interface PlanSpec<I extends z.AnySchema> {
  readonly input: I;
  readonly effects: readonly EffectDefinition[];
  readonly run: (input: z.output<I>, plan: PlanContext) => PlanBody;
}

/** Defines a plan by its name, once more of it is read than that. */
export function planOf<I extends z.AnySchema>(name: string, spec: () => PlanSpec<I>): PlanDefinition<z.output<I>> {
  return planOnUse(name, () => definePlan({ name, ...spec() }));
}

/** What came of an effect: the payload of its receipt or, with null in its place, why it is missing. */
type Outcome<P> =
  | { readonly payload: P; readonly code: null }
  | { readonly payload: null; readonly code: NonNullable<ReceiptOf<P>['code']> | ReceiptOf<P>['status'] };

/** What came of an effect, from its receipt. */
export function outcomeIn<P>(receipt: ReceiptOf<P>): Outcome<P> {
  if (receipt.status === 'ok') return { payload: receipt.payload, code: null };
  return { payload: null, code: receipt.code ?? receipt.status };
}

/** Has an effect executed by a plan, and waits for what came of it. */
export function* execute<I, P>(plan: PlanContext, effect: EffectDefinition<I, P>, params: I): PlanBody<Outcome<P>> {
  return outcomeIn(yield* plan.awaitReceipt(plan.emitEffect(effect, params)));
}

/** The code of an effect that did not end well, as its plan tells it; null for one that did. */
export function codeOf({ status, code }: Pick<ReceiptOf<unknown>, 'status' | 'code'>): string | null {
  return status === 'ok' ? null : (code ?? status);
}
