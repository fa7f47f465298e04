import * as z from 'zod';

/** Why a call has no output of its own, as the model is told. */
export const NON_EXECUTIONS = [
  /** Refused by rights, policy or a person: it did not happen. */
  'denied',
  /** Taken back before it began: it did not happen. */
  'cancelled',
  /** Stopped while it ran: it may have happened in part. */
  'interrupted',
  /** Nobody can tell whether it happened. */
  'outcome_unknown',
  /** Reported as stopped or unknown, and answered after all: the answer stands as a note further down. */
  'completed_late',
  /** It could not run, or failed before it did anything. */
  'failed',
] as const;

/** Why a tool call has no output of its own; the model is told exactly this. */
export const nonExecution = z.strictObject({
  kind: z.enum(NON_EXECUTIONS),
  code: z.exactOptional(z.string().max(96)),
});

/** Why a tool call has no output of its own. */
export type NonExecution = z.infer<typeof nonExecution>;
