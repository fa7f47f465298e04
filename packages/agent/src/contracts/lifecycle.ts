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

/** Why an input that was accepted is never said to a model. */
export const INPUT_DROPS = ['withdrawn', 'cancelled', 'closed'] as const;

/** Why an input that was accepted is never said to a model. */
export type InputDrop = (typeof INPUT_DROPS)[number];

/** Why a run ended. */
export const stopReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('Completed'), warning: z.exactOptional(z.enum(['loop_detected', 'truncated'])) }),
  /** `dropped`: it never started; its input was taken back, cancelled with all that waited, or dropped by a close. */
  z.strictObject({ kind: z.literal('Cancelled'), dropped: z.exactOptional(z.enum(INPUT_DROPS)) }),
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
