/** When what an agent brought back is merged without a review: when all of this holds, and never by default (SOC-53). */
import { IDENTITY_BOUNDS } from '../contracts/agent/identity.js';
import type { Tier } from '../contracts/cell/names.js';

/** What a return is judged by. */
export interface ReturnTerms {
  /** Sessions since the last common state; null for a base that this world does not know. */
  readonly divergence: number | null;
  /** The tier by the verdicts of the parent; what it promised does not count. */
  readonly tier: Tier;
  /** Whether the parent has permitted it, the agent itself may write every target, and nothing was narrowed meanwhile. */
  readonly willing: boolean;
  /** Items that contradict their target, and groups with which nothing could be compared. */
  readonly conflicts: number;
  readonly unread: number;
}

/** Whether a return is merged without a review. */
export function mergesAlone({ divergence, tier, willing, conflicts, unread }: ReturnTerms): boolean {
  const isNear = divergence !== null && divergence <= IDENTITY_BOUNDS.automatic;
  return isNear && tier === 'high' && willing && conflicts === 0 && unread === 0;
}
