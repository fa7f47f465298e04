/** The parts of sandboxes: the inside for a sealed realm, and the messages that go in and out. Uses no Node module. */

export { encodeMessage, type FromSandbox, readMessages, type ToSandbox } from './messages.js';
export { type CodeBody, makeRoom, type Room } from './room.js';
export { SUPPLIED_MODULES } from './supplied-names.js';
