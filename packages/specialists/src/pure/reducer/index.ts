/** The reducer of projects; its rooms are `project`, `task`, `coordinator` and `call`. */
export { projectReducer } from './project-reducer.js';
