/** What projects are made of, for reducers and plans of others. */
export * from './contracts/index.js';
export * from './plans/index.js';
export * from './reducer/index.js';
