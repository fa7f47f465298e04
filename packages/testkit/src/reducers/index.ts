export { ReduceMismatch, type SpiedApp, spyOnReducers } from './reduce-spy.js';
export { type ReducerSubject, reducerChecks, testReducer } from './reducer-suite.js';
