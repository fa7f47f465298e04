/** Authority as arithmetic: permissions as patterns and capabilities, and budgets as accounts. */
export {
  amountsFit,
  booked,
  correct,
  overdraft,
  PARALLEL,
  type ReportedUse,
  type Reservation,
  reserve,
  type Shortfall,
  settle,
  shortfall,
  usageAmounts,
} from './budget.js';
export {
  canonical,
  capabilityFits,
  EVERYTHING,
  type Excess,
  effectiveExercise,
  effectiveGrant,
  extend,
  firstExcess,
  type HeldRights,
  isExpired,
  join,
  leq,
  meet,
  NOTHING,
  permits,
} from './capability.js';
export { covers, coversPatterns, isPattern, matches, matchesAny, meetPatterns, normalise } from './patterns.js';
