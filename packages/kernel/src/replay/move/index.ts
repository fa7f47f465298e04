export { type MovedWorld, moveWorld } from './move-world.js';
export { noteInUse, requireInPlace, unsettledNote } from './notes.js';
