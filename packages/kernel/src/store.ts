/**
 * What stands outside a world: the memory store, values and logs in content, the records of frames, secrets. It loads
 * no engine.
 */
export { ContentLayer } from './ports/content/content-layer.js';
export { getErasable } from './ports/content/erasable.js';
export { hostSha256 } from './ports/content/host-hash.js';
export { readLog, readLogParts } from './ports/content/log-reader.js';
export { getBytes, getValue, putValue } from './ports/content/values.js';
export { readFrame } from './ports/journal/frame.js';
export { concealAddress, concealHeaders, detailOfError, Scrubber } from './ports/scrub/index.js';
export { memory } from './ports/store/memory-store.js';
export { systemClock } from './ports/time/clock.js';
export { requireReadable, requireStore } from './pure/arguments/stores.js';
