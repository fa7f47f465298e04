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

/** An effect without its kind. */
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

/** A plan without its name. */
interface PlanSpec<I extends z.AnySchema> {
  readonly input: I;
  readonly effects: readonly EffectDefinition[];
  readonly run: (input: z.output<I>, plan: PlanContext) => PlanBody;
}

/** Defines a plan by its name, once more of it is read than that. */
export function planOf<I extends z.AnySchema>(name: string, spec: () => PlanSpec<I>): PlanDefinition<z.output<I>> {
  return planOnUse(name, () => definePlan({ name, ...spec() }));
}

/** The code of an effect that did not end well, as its plan tells it; null for one that did. */
export function codeOf({ status, code }: Pick<ReceiptOf<unknown>, 'status' | 'code'>): string | null {
  return status === 'ok' ? null : (code ?? status);
}
