export {
  type Account,
  type Address,
  type Capability,
  type EffectDecision,
  isRepriseError,
  NOTICES,
  type PolicyRule,
  type Principal,
  Ref,
  RepriseError,
  type Rights,
  ref,
  type Settlement,
  type Value,
  value,
} from '@reprise/contracts';
export * from './ports/adapter/adapter.js';
export { getErasable, putErasable } from './ports/content/erasable.js';
export { hostSha256 } from './ports/content/host-hash.js';
export { readLog } from './ports/content/log-reader.js';
export * from './ports/content/port.js';
export { getBytes, getValue, putValue } from './ports/content/values.js';
export { nextHead } from './ports/journal/chain.js';
export { type FrameRecords, readFrame, writeFrame } from './ports/journal/frame.js';
export * from './ports/journal/port.js';
export { isKeyed, type KeyedIngress, requestKey } from './ports/journal/request-key.js';
export {
  concealAddress,
  concealArguments,
  concealHeaders,
  concealVariables,
  IN_PLACE,
  type PiecewiseScrubber,
  Scrubber,
  SECRET_LENGTH_MIN,
} from './ports/scrub/index.js';
export { closable, closableReadonly } from './ports/store/closable.js';
export { type MemoryOptions, memory } from './ports/store/memory-store.js';
export type { Backup, OpenStore, ReadonlyStore, Store, StoreStatus } from './ports/store/store.js';
export { type Clock, type RandomBytes, systemClock } from './ports/time/clock.js';
export type { ClockJump, ClockJumpLimits } from './ports/time/stamper.js';
export {
  compareBytes,
  decode,
  decodeScope,
  encode,
  encodeScope,
  equalBytes,
  FRAME_DEPTH_MAX,
  fromHex,
  type Hash,
  linksOf,
  portableSha256,
  toHex,
  VALUE_DEPTH_MAX,
} from './pure/codec/index.js';
export * from './pure/define/index.js';
export {
  foldIngress,
  LEAF_BYTES_MAX,
  readTable,
  STATE_BYTES_WARN,
  sendText,
  VALUE_BYTES_MAX,
} from './pure/engine/index.js';
export {
  type Departure,
  type ForkOptions,
  type ForkReport,
  type ForkSource,
  type ForkStoreOptions,
  forkReport,
  forkWorld,
  type MadeFork,
  type ReportedEffect,
  type UnusedReceipt,
} from './replay/fork/index.js';
export {
  type AgainstOptions,
  type AgainstReport,
  type AtOptions,
  CODE_BYTES_MAX,
  checkAgainst,
  codeFailed,
  type Divergence,
  type EraChange,
  type FittingRecords,
  type LoadedCode,
  missingDefinitions,
  type Performance,
  type Pins,
  type PlanInFlight,
  type PureCode,
  type RangeCode,
  type RangeResult,
  type RangeTask,
  readShare,
  type Sandbox,
  type SharedBlobs,
  type Told,
  type UnmigratedCell,
  type VerifiedEra,
  type VerifyOptions,
  type VerifyProgress,
  type VerifyReport,
  type VerifyWorkers,
  verifyRange,
  verifyStore,
  type WorldAt,
  worldAt,
} from './replay/verify/index.js';
export type { EffectErrorOrigin } from './run/dispatch/reported-errors.js';
export type { Throttle } from './run/dispatch/throttle.js';
export {
  type CellTrouble,
  type ClockTrouble,
  cellFailed,
  type EndTrouble,
  type HostTrouble,
  type ServiceTrouble,
  type StoreTrouble,
  type Trouble,
  type TroubleListener,
} from './run/state/trouble.js';
export type {
  Decider,
  DecisionOptions,
  EraseOptions,
  EraseReport,
  RequestOptions,
  SettleAck,
} from './run/world/ask/asking.js';
export type { DecidedItem, PendingItem } from './run/world/ask/open-items.js';
export type { ClockConfirmation } from './run/world/life/confirm-clock.js';
export type { EraseTarget } from './run/world/life/erasure.js';
export type { FeedOptions, FeedReport } from './run/world/life/feed.js';
export type { PumpReport } from './run/world/life/lifetime.js';
export type { ErrorOrigin, OpenKernelWorldOptions } from './run/world/open/options.js';
export { type PostedTroubles, postedTroubles } from './run/world/open/status-post.js';
export { openKernelWorld } from './run/world/open-world.js';
export type { HolderRights } from './run/world/read/authority.js';
export type { ReadableFrame } from './run/world/read/readable-frames.js';
export type { OpenEffect, WorldFrame } from './run/world/read/reading.js';
export type { AskOptions, ViewDecisionOptions, WorldView } from './run/world/read/view.js';
export type { World } from './run/world/world.js';
export { type Ack, recordsOf } from './run/world/write/acknowledgement.js';
