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
