/** Stores of memories: their events, effects and items, and what owners of sessions do with calls of memory tools. */
export * from './calls.js';
export * from './effects.js';
export * from './item.js';
export * from './names.js';
export * from './owner.js';
export * from './plans.js';
export { byRank, type Ranked, rankOf } from './rank.js';
export { storeReducer } from './store.js';
export * from './store-contract.js';
