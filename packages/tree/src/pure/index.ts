/** What an owner of trees and a verifier need: contracts, the reducer and its plans. */
export * from './contracts/index.js';
export * from './plans/plans.js';
export { treeReducer } from './reducer/tree-reducer.js';
