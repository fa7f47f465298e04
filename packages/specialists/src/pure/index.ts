/** What projects are made of, for reducers and plans of others. */
export * from './contracts/index.js';
