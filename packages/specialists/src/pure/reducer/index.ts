/** The reducer of projects. */
export { projectReducer } from './project-reducer.js';
