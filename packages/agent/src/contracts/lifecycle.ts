import { failureCode } from '@reprise/contracts';
import * as z from 'zod';
import { LIMIT_KINDS } from './config.js';

/** The states of a session's current run. */
export const LIFECYCLES = [
  'Idle',
  'Running',
  'WaitingInput',
  'Paused',
  'Cancelling',
  'Completed',
  'Failed',
  'Cancelled',
] as const;

/** The state of a session's current run. */
export type Lifecycle = (typeof LIFECYCLES)[number];

/** The states in which there is no run under way. */
export const TERMINAL: readonly Lifecycle[] = ['Idle', 'Completed', 'Failed', 'Cancelled'];

/** What a run that waits, waits for. */
export const WAITS = ['input', 'approval', 'ask', 'children', 'limit'] as const;

/** What a run that waits, waits for. */
export type WaitsFor = (typeof WAITS)[number];

/** Where a run failed. */
export const STAGES = ['llm_step', 'tool_call', 'plan', 'returns', 'loop'] as const;

/** Why a run ended. */
export const stopReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('Completed'), warning: z.exactOptional(z.enum(['loop_detected', 'truncated'])) }),
  z.strictObject({ kind: z.literal('Cancelled') }),
  z.strictObject({
    kind: z.literal('Failed'),
    code: failureCode,
    retryable: z.boolean(),
    stage: z.enum(STAGES),
  }),
  z.strictObject({ kind: z.literal('LimitsExceeded'), limit: z.enum(LIMIT_KINDS) }),
]);

/** Why a run ended. */
export type StopReason = z.infer<typeof stopReason>;
