/** Worlds in tests, scripted adapters, reducers and plans on their own, time and randomness that tests decide. */
export * from './adapters/index.js';
export * from './agents/index.js';
export * from './clock/index.js';
export * from './given/index.js';
