/** Values of staged events, and inputs of staged plans, by the schemas of what they are: the reducers have checked them. */
import type * as z from '@reprise/contracts/schema';
import type { PlanDefinition } from '@reprise/kernel/define';

/** The value of an event or a fact of this name; undefined for another one. @param schemas those of its reducer, by name */
export function valueAs<S extends Readonly<Record<string, z.AnySchema>>, N extends keyof S & string>(
  event: { readonly name: string; readonly value: unknown },
  [, name]: readonly [schemas: S, name: N],
): z.output<S[N]> | undefined {
  return event.name === name ? (event.value as z.output<S[N]>) : undefined;
}

/** The input of a plan of this definition; undefined for another one. */
export function inputOf<I>(
  plan: { readonly name: string; readonly input: unknown },
  definition: PlanDefinition<I>,
): I | undefined {
  return plan.name === definition.name ? (plan.input as I) : undefined;
}
