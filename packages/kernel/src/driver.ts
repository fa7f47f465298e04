/** What a driver of a store checks and promises, and what it keeps beside the journal. It loads no engine. */
export { hostSha256 } from './ports/content/host-hash.js';
export { assertConsecutive, assertHead, EMPTY_HEAD } from './ports/journal/port.js';
export { closable, closableReadonly } from './ports/store/closable.js';
export { assertMark } from './ports/views/mark.js';
export { movedTo } from './replay/move/notes.js';
export { postedTroubles } from './run/world/open/status-post.js';
