/** Shared by the plans of a session: the epochs of their start, and the description of outcomes. */
import type { FailureCode, Ref } from '@reprise/contracts';
import type { ReceiptOf } from '@reprise/kernel/define';
import type { NonExecution } from '../contracts/non-execution.js';

/** Describes a call without an output to the model: above all, whether it may have happened. */
export function nonExecutionOf(receipt: ReceiptOf<unknown>): NonExecution {
  const code = receipt.code === undefined ? {} : { code: receipt.code };
  switch (receipt.status) {
    case 'denied':
    case 'outcome_unknown':
      return { kind: receipt.status, ...code };
    // Cancelled before an attempt began, or stopped during one.
    case 'cancelled':
      return { kind: receipt.attempts === 0 ? 'cancelled' : 'interrupted', ...code };
    // A call that exceeded its time limit was started and may have happened.
    case 'timeout':
      return { kind: receipt.attempts === 0 ? 'failed' : 'outcome_unknown', ...code };
    default:
      return { kind: 'failed', ...code };
  }
}

/** The reason of a denial: it came with the decision that denied the call, and with no other. */
export function reasonOf({ status, reason_ref }: ReceiptOf<unknown>): { readonly reason_ref?: Ref } {
  return status === 'denied' && reason_ref !== undefined ? { reason_ref } : {};
}

/** The failure code of a receipt that is not `ok`. */
export function failureOf(receipt: ReceiptOf<unknown>): { code: FailureCode; retryable: boolean } {
  const byStatus: Readonly<Record<string, FailureCode>> = {
    denied: 'policy_denied',
    timeout: 'adapter_timeout',
    cancelled: 'adapter_error/cancelled',
    outcome_unknown: 'adapter_error/outcome_unknown',
  };
  const code = (receipt.code as FailureCode | undefined) ?? byStatus[receipt.status] ?? 'adapter_error';
  return { code, retryable: receipt.retryable ?? false };
}
