/** Receipts that the kernel itself makes: the effect did not start, was stopped, or ran out of time. */
import type { Receipt } from '@reprise/contracts';
import type { EffectLeaf } from '../../pure/engine/index.js';

/** The part of a receipt that the kernel decides. */
export type KernelSaid = Pick<Receipt, 'status' | 'code' | 'retryable'>;

export const TIMED_OUT: KernelSaid = { status: 'timeout', code: 'adapter_timeout' };
export const CANCELLED: KernelSaid = { status: 'cancelled' };
export const NO_ADAPTER: KernelSaid = { status: 'error', code: 'adapter_error/no_adapter', retryable: false };

/** The result of an effect that was told to stop after an attempt with an unknown outcome. */
export function stopped({ guarantee }: EffectLeaf): KernelSaid {
  return guarantee === 'idempotent' ? CANCELLED : { status: 'outcome_unknown' };
}

/** The receipt of such a result. */
export function kernelReceipt(attempts: number, said: KernelSaid): Receipt {
  return { adapter: 'kernel', attempts, ...said };
}
