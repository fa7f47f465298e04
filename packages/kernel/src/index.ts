export { type Hash, portableSha256 } from './codec/hash.js';
export { fromHex, toHex } from './codec/hex.js';
export type { ContentReader, ContentStore } from './content/port.js';
export { assertConsecutive, assertHead } from './journal/append-checks.js';
export { EMPTY_HEAD, type Head, type Journal, type StoredFrame } from './journal/port.js';
export { type MemoryOptions, memory } from './world/memory-store.js';
export type { OpenStore, ReadonlyStore, Store } from './world/store.js';
