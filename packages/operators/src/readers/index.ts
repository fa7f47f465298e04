/** Who may read an item of a memory at a frame, and why. */
export { type ReadersOfOptions, readersOf } from './readers.js';
export { type ReaderRow, type ReadersReport, readersReport } from './report.js';
