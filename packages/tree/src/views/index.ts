/** Views of trees: rows, states, events and pictures, from facts alone. */
export * from './events.js';
export * from './nodes.js';
export * from './picture.js';
export * from './read.js';
export * from './states.js';
export * from './waits.js';
