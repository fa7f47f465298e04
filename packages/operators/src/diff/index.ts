/** What changed: between two frames, or by each event of one frame. */
export { type Change, changesOf } from './changes.js';
export { type DiffApps, type DiffFrames, type DiffOptions, diffOf } from './diff.js';
export type { CellDiff, DiffReport, Patch, TableChange } from './report.js';
