/** The replayed half of a society. */
export * from './contracts/index.js';
