export { requireAddress, requireLeafName, requireObject, requirePosition } from './arguments.js';
export {
  readCellLog,
  readCellTable,
  readLogBytes,
  readState,
  replayTo,
  startFrom,
  type WorldAt,
  worldAt,
} from './at.js';
export { type Divergence, explain } from './divergence.js';
export { followChain, Replayer, requireSemantics } from './replayer.js';
export {
  missingDefinitions,
  requireDefinitions,
  type VerifyOptions,
  type VerifyReport,
  verifyStore,
} from './verify.js';
