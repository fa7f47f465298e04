/**
 * What stands outside a world: the memory store, values and logs in content, the records of frames, secrets, what a driver of a store checks. It loads
 * no engine.
 */
export { ContentLayer } from './ports/content/content-layer.js';
export { getErasable } from './ports/content/erasable.js';
export { hostSha256 } from './ports/content/host-hash.js';
export { readLog, readLogParts } from './ports/content/log-reader.js';
export { getBytes, getValue, putValue } from './ports/content/values.js';
export { readFrame } from './ports/journal/frame.js';
export { assertConsecutive, assertHead, EMPTY_HEAD } from './ports/journal/port.js';
export { concealAddress, concealHeaders, detailOfError, Scrubber } from './ports/scrub/index.js';
export { closable, closableReadonly } from './ports/store/closable.js';
export { memory } from './ports/store/memory-store.js';
export { requireReadable, requireStore } from './pure/arguments/stores.js';
export { postedTroubles } from './run/world/open/status-post.js';
export { assertMark } from './serve/views/mark.js';
