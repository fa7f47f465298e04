/** The deadlines and questions that a running effect leaves to a person or another system, as they are journaled. */
import { isWhole, type Value } from '@reprise/contracts';
import type { Deferred } from '../../ports/adapter/adapter.js';
import { isPattern } from '../../pure/authority/index.js';

/** Until when, and for which principals besides the operator, an item waits. */
export interface Deferral {
  readonly expires: number | null;
  readonly to: string | null;
}

/** A question that an adapter asked while it executed an effect. */
export interface AskedOutside extends Deferral {
  /** Numbers the questions of one execution. */
  readonly n: number;
  readonly question: Value;
}

/** Reads a deferred outcome; undefined when the adapter returned another outcome, or something invalid. */
export function deferralOf(outcome: unknown): Deferral | undefined {
  try {
    const { status, expires = null, to = null } = outcome as Deferred; // unchecked: reading it may throw
    if (status !== 'deferred') return undefined;
    const isTime = expires === null || isWhole(expires);
    return isTime && (to === null || (typeof to === 'string' && isPattern(to))) ? { expires, to } : undefined;
  } catch {
    return undefined;
  }
}
