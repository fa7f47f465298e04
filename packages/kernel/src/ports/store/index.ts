/** The memory store, and values in a content store: what needs no world. */
export { getBytes, getValue, putValue } from '../content/values.js';
export { type MemoryOptions, memory } from './memory-store.js';
