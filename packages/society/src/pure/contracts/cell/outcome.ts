/** What is told of a call that a plan, or another cell, has looked at. */
import * as z from '@reprise/contracts/schema';

/** The outcome for a call: its code where it came to nothing, and else what there is. */
export function outcomeOf<V extends z.AnySchema>(
  value: V,
): z.Obj<{ readonly call: z.Text; readonly code: z.OrNull<z.Text>; readonly value: z.OrNull<V> }> {
  return z.strictObject({ call: z.string().max(64), code: z.nullable(z.string().max(96)), value: z.nullable(value) });
}
