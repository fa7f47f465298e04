/** What projects are made of, for reducers and plans of others. */
export * from './contracts/index.js';
export * from './plans/plans.js';
export { projectReducer } from './reducer/project-reducer.js';
