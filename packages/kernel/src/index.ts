export {
  type Account,
  type Address,
  type Capability,
  type Decision,
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
export * from './adapter/adapter.js';
export type { EffectErrorOrigin } from './adapter/reported-errors.js';
export type { Throttle } from './adapter/throttle.js';
export {
  compareBytes,
  decode,
  encode,
  equalBytes,
  FRAME_DEPTH_MAX,
  fromHex,
  type Hash,
  linksOf,
  portableSha256,
  toHex,
  VALUE_DEPTH_MAX,
} from './codec/index.js';
export { getErasable, putErasable } from './content/erasable.js';
export { readLog } from './content/log-reader.js';
export * from './content/port.js';
export { getBytes, getValue, putValue } from './content/values.js';
export * from './define/index.js';
export { foldIngress, LEAF_BYTES_MAX, readTable, STATE_BYTES_WARN, VALUE_BYTES_MAX } from './engine/index.js';
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
} from './fork/index.js';
export { nextHead } from './journal/chain.js';
export { type FrameRecords, readFrame } from './journal/frame.js';
export * from './journal/port.js';
export { isKeyed, type KeyedIngress, requestKey } from './journal/request-key.js';
export {
  type AgainstOptions,
  type AgainstReport,
  type AtOptions,
  type Capsule,
  CODE_BYTES_MAX,
  checkAgainst,
  codeFailed,
  type Divergence,
  type EraChange,
  type LoadedCode,
  missingDefinitions,
  type Performance,
  type Pins,
  type PlanInFlight,
  type PureCode,
  type UnmigratedCell,
  type VerifiedEra,
  type VerifyOptions,
  type VerifyReport,
  verifyStore,
  type WorldAt,
  worldAt,
} from './replay/index.js';
export {
  concealAddress,
  concealArguments,
  concealHeaders,
  concealVariables,
  IN_PLACE,
  type PiecewiseScrubber,
  Scrubber,
  SECRET_LENGTH_MIN,
} from './scrub/index.js';
export { closable, closableReadonly } from './store/closable.js';
export { type MemoryOptions, memory } from './store/memory-store.js';
export type { Backup, OpenStore, ReadonlyStore, Store } from './store/store.js';
export { type Clock, type RandomBytes, systemClock } from './time/clock.js';
export type { ClockJump, ClockJumpLimits } from './time/stamper.js';
export { type Ack, recordsOf } from './world/acknowledgement.js';
export type { EraseOptions, EraseReport, RequestOptions, SettleAck } from './world/asking.js';
export type { HolderRights } from './world/authority.js';
export type { ClockConfirmation } from './world/confirm-clock.js';
export type { EraseTarget } from './world/erasure.js';
export type { FeedOptions, FeedReport } from './world/feed.js';
export type { PumpReport } from './world/lifetime.js';
export type { OpenItem } from './world/open-items.js';
export { openWorld } from './world/open-world.js';
export type { ErrorOrigin, OpenWorldOptions } from './world/options.js';
export type { ReadableFrame } from './world/readable-frames.js';
export type { OpenEffect, WorldFrame } from './world/reading.js';
export type { AskOptions, WorldView } from './world/view.js';
export type { World } from './world/world.js';
