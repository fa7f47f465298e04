export { type AgainstReport, checkAgainst } from './against.js';
export { replayTo, type WorldAt, worldAt } from './at.js';
export type { Divergence } from './era/divergence.js';
export { eraAt, type Pins, unverifiedEra } from './era/eras.js';
export { refusalWords, replayFrame } from './era/replayer.js';
export {
  CODE_BYTES_MAX,
  codeFailed,
  type LoadedCode,
  type Performance,
  type PureCode,
  type Sandbox,
} from './era/sandbox.js';
export type { EraChange } from './era/upgrade.js';
export {
  missingDefinitions,
  type VerifyOptions,
  type VerifyReport,
  verifyStore,
} from './verify.js';
export { EraWalk, type Owed } from './walk/era-walk.js';
export type { VerifyProgress } from './walk/progress.js';
export type { RangeResult, RangeTask, SharedBlobs, Told, VerifyWorkers } from './walk/range.js';
export { type RangeCode, readShare, verifyRange } from './walk/range-walk.js';
