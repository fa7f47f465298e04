import * as z from '@reprise/contracts/schema';

/** Why a call has no output of its own. The model is told this kind. */
export const NON_EXECUTIONS = [
  /** Refused by rights, by a policy or by a person: the call did not happen. */
  'denied',
  /** Cancelled before it began: the call did not happen. */
  'cancelled',
  /** Stopped while it ran: the call may have happened in part. */
  'interrupted',
  /** It is unknown whether the call happened. */
  'outcome_unknown',
  /** The call was settled without an output and answered later: a note further down has the answer. */
  'completed_late',
  /** The call could not run, or failed before it had any effect. */
  'failed',
] as const;

/** Why a tool call has no output of its own; the model is told exactly this. */
export const nonExecution = z.strictObject({
  kind: z.enum(NON_EXECUTIONS),
  code: z.exactOptional(z.string().max(96)),
});

/** Why a tool call has no output of its own. */
export type NonExecution = z.infer<typeof nonExecution>;
