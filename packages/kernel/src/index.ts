export { type Address, isRepriseError, RepriseError, ref } from '@reprise/contracts';
export * from './ports/adapter/adapter.js';
export { getErasable, putErasable } from './ports/content/erasable.js';
export { hostSha256 } from './ports/content/host-hash.js';
export { KEY_BYTES, type KeyService } from './ports/content/keys.js';
export type { ObjectStore } from './ports/content/objects.js';
export * from './ports/content/port.js';
export { getBytes, getValue, putValue } from './ports/content/values.js';
export { nextHead } from './ports/journal/chain.js';
export { type FrameRecords, readFrame, writeFrame } from './ports/journal/frame.js';
export * from './ports/journal/port.js';
export { isKeyed, requestKey } from './ports/journal/request-key.js';
export {
  concealAddress,
  concealArguments,
  concealHeaders,
  concealVariables,
  type PiecewiseScrubber,
  Scrubber,
} from './ports/scrub/index.js';
export { closable, closableReadonly } from './ports/store/closable.js';
export { memory } from './ports/store/memory-store.js';
export type { Backup, OpenStore, ReadonlyStore, Store, StoreStatus } from './ports/store/store.js';
export type { Tenure } from './ports/store/tenure.js';
export { type Clock, type RandomBytes, systemClock } from './ports/time/clock.js';
export {
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
} from './pure/codec/index.js';
export * from './pure/define/index.js';
export { foldIngress, LEAF_BYTES_MAX, readTable, sendText } from './pure/engine/index.js';
export {
  type ForkOptions,
  type ForkReport,
  forkReport,
  forkWorld,
  type MadeFork,
  type OtherOutcome,
} from './replay/fork/index.js';
export { type MovedWorld, moveWorld } from './replay/move/index.js';
export {
  type AgainstReport,
  CODE_BYTES_MAX,
  checkAgainst,
  codeFailed,
  type Divergence,
  type EraChange,
  type LoadedCode,
  missingDefinitions,
  type Performance,
  type Pins,
  type PureCode,
  type RangeCode,
  type RangeResult,
  type RangeTask,
  readShare,
  type Sandbox,
  type SharedBlobs,
  type Told,
  type VerifyOptions,
  type VerifyProgress,
  type VerifyReport,
  type VerifyWorkers,
  verifyRange,
  verifyStore,
  type WorldAt,
  worldAt,
} from './replay/verify/index.js';
export type { EraseReport, RequestOptions, SettleAck, TracedOptions } from './run/world/ask/asking.js';
export type { PendingItem } from './run/world/ask/open-items.js';
export type { PumpReport } from './run/world/life/lifetime.js';
export type { ErrorOrigin, OpenKernelWorldOptions } from './run/world/open/options.js';
export type { PostedTroubles } from './run/world/open/status-post.js';
export { openKernelWorld } from './run/world/open-world.js';
export type { AwaitedCell, WorldFrame } from './run/world/read/reading.js';
export type { WorldView } from './run/world/read/view.js';
export type { World } from './run/world/world.js';
export type { Ack } from './run/world/write/acknowledgement.js';
export type { CellTrouble, Trouble, TroubleListener } from './state/trouble.js';
