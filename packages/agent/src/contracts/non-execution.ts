import * as z from 'zod';

/** Why a tool call has no output of its own; the model is told exactly this. */
export const nonExecution = z.strictObject({
  kind: z.enum(['denied', 'cancelled', 'interrupted', 'outcome_unknown', 'failed']),
  code: z.exactOptional(z.string().max(96)),
});

/** Why a tool call has no output of its own. */
export type NonExecution = z.infer<typeof nonExecution>;
