/** The reducer of trees. */
export { treeReducer } from './tree-reducer.js';
