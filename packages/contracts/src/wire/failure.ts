import * as z from '../schema/index.js';

/**
 * The ten failure kinds of the agent SDK. The list is closed; a more exact reason follows a slash, for example
 * `cap_denied/budget`.
 */
export const FAILURE_KINDS = [
  'policy_denied',
  'cap_denied',
  'validation_error',
  'adapter_error',
  'adapter_timeout',
  'provider_error_retryable',
  'provider_error_terminal',
  'tool_not_found',
  'tool_args_invalid',
  'internal_invariant_violation',
] as const;

/** One of the ten failure kinds. */
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** A failure code in a receipt: a failure kind, or a failure kind, a slash and a documented reason. */
export const failureCode = z
  .string()
  .regex(new RegExp(`^(${FAILURE_KINDS.join('|')})(/[a-z0-9_]+)?$`))
  .max(96);

/** A failure code in a receipt. */
export type FailureCode = FailureKind | `${FailureKind}/${string}`;
