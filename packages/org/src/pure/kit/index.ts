/** What the reducers of organizations share: keys, refusals, calls and their tools, purposes of plans, use of budgets, graphs. */
export {
  type ArgumentSchema,
  answerCall,
  answering,
  type CallAnswer,
  type CallPlace,
  callPlace,
  parkCall,
  parsedCall,
  refusalAnswer,
  type WaitingCall,
  waitingCall,
  waitingCallOf,
} from './calls.js';
export { effectOf, planOf } from './definitions.js';
export { circleIn, wayTo } from './graph.js';
export { firstOf, KEY_DIGITS, key, pair, pairsOf, placeInLine, secondOf, timeKey, timeOf } from './keys.js';
export { limitOf, type Share, share, UNUSED, type Used, used, usedBy, usedTogether, withinLimits } from './ledger.js';
export {
  apart,
  type CallTo,
  json,
  type Keeping,
  type KeptAs,
  type KeptFields,
  keepingOf,
  keptFields,
  line,
  type OwnerTool,
  optional,
  ownerTool,
  text,
  unwrapped,
  withinBytes,
} from './owner-tool.js';
export { cancelFor, ownPlan, purposeOf, startFor, takePurpose } from './purposes.js';
export { commanded, type Hints, Refused, refusalBy } from './refusal.js';
export {
  beginRound,
  leaveRest,
  leaveRound,
  nextRound,
  REST,
  type Round,
  restEvent,
  restTables,
  resumeRounds,
  someRows,
} from './rest.js';
export { bytesOf, oneLine } from './texts.js';
