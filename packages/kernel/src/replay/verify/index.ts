export {
  type AgainstOptions,
  type AgainstReport,
  checkAgainst,
  type UnmigratedCell,
} from './against.js';
export { type AtOptions, replayTo, type WorldAt, worldAt } from './at.js';
export { type Divergence, explain } from './divergence.js';
export { EraWalk, type Owed, type VerifiedEra } from './era-walk.js';
export { eraAt, type Pins, unverifiedEra } from './eras.js';
export type { VerifyProgress } from './progress.js';
export type {
  Boundary,
  RangeResult,
  RangeTask,
  SharedBlobs,
  Told,
  VerifyWorkers,
} from './range.js';
export { type RangeCode, readShare, verifyRange } from './range-walk.js';
export type { FittingRecords } from './recorded-values.js';
export { Replayer, refusalWords, replayFrame } from './replayer.js';
export {
  CODE_BYTES_MAX,
  codeFailed,
  type LoadedCode,
  type Performance,
  type PureCode,
  type Sandbox,
} from './sandbox.js';
export type { EraChange, PlanInFlight } from './upgrade.js';
export {
  missingDefinitions,
  type VerifyOptions,
  type VerifyReport,
  verifyStore,
} from './verify.js';
