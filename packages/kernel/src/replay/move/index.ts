export { type MovedWorld, moveWorld } from './move-world.js';
export { keepUnsettled, noteInUse, requireInPlace, unsettledNote } from './notes.js';
