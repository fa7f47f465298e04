export { type MovedWorld, moveWorld } from './move-world.js';
export { requireInPlace } from './notes.js';
