/** What changed: the events that reached a cell, and what each of them changed. */
export { type Change, changesOf } from './changes.js';
