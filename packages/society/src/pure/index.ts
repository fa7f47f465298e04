/** The replayed half of a society. */

export * from './compile/index.js';
export * from './contracts/index.js';
