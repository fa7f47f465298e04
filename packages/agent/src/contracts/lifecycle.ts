import { failureCode } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
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

/** The states without a run under way. */
export const TERMINAL: readonly Lifecycle[] = ['Idle', 'Completed', 'Failed', 'Cancelled'];

/** What a waiting run waits for; `owner`: for a person or an agent whom the owner of the session asks. */
export const WAITS = ['input', 'approval', 'ask', 'owner', 'children', 'limit'] as const;

/** What a waiting run waits for. */
export type WaitsFor = (typeof WAITS)[number];

/** The stage at which a run failed. */
export const STAGES = ['llm_step', 'tool_call', 'plan', 'returns', 'loop'] as const;

/** Why an accepted input was dropped. */
export const INPUT_DROPS = ['withdrawn', 'cancelled', 'closed'] as const;

/** Why an accepted input was dropped. */
export type InputDrop = (typeof INPUT_DROPS)[number];

/** Why a run ended, with what a reader of that reason needs. */
export const stopReason = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('Completed'), warning: z.exactOptional(z.enum(['loop_detected', 'truncated'])) }),
  /**
   * `dropped`: the run never started, because its input was withdrawn, cancelled with all waiting inputs, or dropped by
   * a close.
   */
  z.strictObject({ kind: z.literal('Cancelled'), dropped: z.exactOptional(z.enum(INPUT_DROPS)) }),
  z.strictObject({
    kind: z.literal('Failed'),
    code: failureCode,
    retryable: z.boolean(),
    stage: z.enum(STAGES),
  }),
  z.strictObject({ kind: z.literal('LimitsExceeded'), limit: z.enum(LIMIT_KINDS) }),
]);

/** Why a run ended: `kind` says it, the other fields explain it. */
export type StopReason = z.infer<typeof stopReason>;
