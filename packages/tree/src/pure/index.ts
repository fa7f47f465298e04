/** What an owner of trees and a verifier need: contracts, the reducer and its plans. */
export * from './contracts/index.js';
export * from './plans/index.js';
export * from './reducer/index.js';
