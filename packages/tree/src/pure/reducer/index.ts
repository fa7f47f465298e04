export { treeReducer } from './tree-reducer.js';
