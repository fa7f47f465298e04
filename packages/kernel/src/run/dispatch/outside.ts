/** What an effect that is under way leaves to somebody outside, as it is journaled. */
import type { Value } from '@reprise/contracts';
import type { Deferred } from '../../ports/adapter/adapter.js';
import { isPattern } from '../../pure/authority/index.js';

/** Until when, and for whom besides the host, something waits. */
export interface Deferral {
  readonly expires: number | null;
  readonly to: string | null;
}

/** A question. */
export interface AskedOutside extends Deferral {
  /** Counts the questions of one execution. */
  readonly n: number;
  readonly question: Value;
}

/** What an adapter says of an effect that it hands on; undefined when it says an outcome, or nonsense. */
export function deferralOf(outcome: unknown): Deferral | undefined {
  try {
    const { status, expires = null, to = null } = outcome as Deferred; // anything: whatever it is, it may throw
    if (status !== 'deferred') return undefined;
    const isTime = expires === null || (Number.isSafeInteger(expires) && expires >= 0);
    return isTime && (to === null || (typeof to === 'string' && isPattern(to))) ? { expires, to } : undefined;
  } catch {
    return undefined;
  }
}
