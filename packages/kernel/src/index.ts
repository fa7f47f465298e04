export * from './adapter/adapter.js';
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
export * from './content/port.js';
export * from './define/index.js';
export * from './journal/port.js';
export { closable, closableReadonly } from './world/closable.js';
export { type MemoryOptions, memory } from './world/memory-store.js';
export type { OpenStore, ReadonlyStore, Store } from './world/store.js';
export { readLog } from './content/log-reader.js';
export { getBytes, getValue, putValue } from './content/values.js';
export { foldIngress, LEAF_BYTES_MAX, STATE_BYTES_WARN, VALUE_BYTES_MAX } from './engine/index.js';
export { type FrameRecords, readFrame } from './journal/frame.js';
export { nextHead } from './journal/chain.js';
export { type Divergence, type VerifyOptions, type VerifyReport, verifyStore, type WorldAt, worldAt, missingDefinitions } from './replay/index.js';
export { type Clock, type RandomBytes, systemClock } from './world/clock.js';
export { type OpenWorldOptions, openWorld } from './world/open-world.js';
export type { Ack, OpenEffect, PumpReport, RequestOptions, World, WorldFrame } from './world/world.js';
