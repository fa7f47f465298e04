/** The laws that find a kept value which should have been forgotten: a program, so that broken builds can run it. */
import { hold } from '../support/laws/hold.js';
import { keptFrames } from './kept-frames.js';
import { holdGrowingPlans, holdPartingPlans } from './plan-sizes.js';
import { restartLaw } from './restart-law.js';

export { holdChains } from './chains.js';
export { holdFollowingViews } from './following-views.js';
export { holdReaders } from './readers.js';
export { holdRunningPlans } from './running-plans.js';
export { holdTableValues } from './tables.js';

/** Holds worlds that stay open to worlds that are opened again. @throws Error when they differ */
export function holdRestarts(): Promise<void> {
  return hold(restartLaw({ outcomes: new Map() }), { numRuns: 150, shrink: false, command: '' });
}

/** Holds frames folded from kept values to frames folded from bytes. @throws Error when they differ */
export function holdFrames(): Promise<void> {
  return hold(keptFrames(undefined, { recheckEvery: 0 }), { numRuns: 200, shrink: false, command: '' });
}

/** Holds the counted sizes of plans to their encodings. @throws Error when they differ */
export function holdPlanSizes(): void {
  holdPartingPlans();
  holdGrowingPlans(2026);
}
