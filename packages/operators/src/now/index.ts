/** How a world is now, for a first look. */
export { type CellFailure, failedCellsAt } from './failed-cells.js';
export { nowOf } from './now.js';
