export { ReduceMismatch, type SpiedApp, spyOnReducers } from './reduce-spy.js';
