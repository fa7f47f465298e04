/** What an owner of trees and a verifier need: contracts, the reducer and its plans. */
export * from './contracts/index.js';
