/** The replayed half of a society. */
export * from './compile/index.js';
export * from './contracts/index.js';
export { keygenPlan } from './plans/keygen.js';
export { entityReducer } from './reducer/entity.js';
