export {
  type AgainstOptions,
  type AgainstReport,
  checkAgainst,
  type UnmigratedCell,
} from './against.js';
export {
  requireAddress,
  requireApp,
  requireApps,
  requireLeafName,
  requireObject,
  requirePosition,
  requireReadable,
} from './arguments.js';
export {
  type AtOptions,
  readCellLog,
  readCellTable,
  readLogBytes,
  readState,
  replayTo,
  startFrom,
  type WorldAt,
  worldAt,
} from './at.js';
export {
  type Capsule,
  CODE_BYTES_MAX,
  codeFailed,
  codeRef,
  type LoadedCode,
  type Performance,
  type PureCode,
  requirePureCode,
  requireSamePins,
} from './capsule.js';
export { type Divergence, explain } from './divergence.js';
export { EraWalk, type Owed, type VerifiedEra } from './era-walk.js';
export { eraAt, type Pins, performerOf, samePins, sealedEra } from './eras.js';
export { followChain, performFrame, Replayer, refusalWords, requireSemantics } from './replayer.js';
export {
  type CurrentEra,
  changeOfEra,
  currentEra,
  type EraChange,
  type PlanInFlight,
  refusalOfTail,
  refuseInFlight,
} from './upgrade.js';
export {
  missingDefinitions,
  requireDefinitions,
  type VerifyOptions,
  type VerifyReport,
  verifyStore,
} from './verify.js';
