/** Forks: worlds that share their past with another. */
export { ContentCopy } from './content-copy.js';
export { type ForkSource, forkWorld, type MadeFork } from './fork-world.js';
export type { ForkOptions, ForkStoreOptions } from './options.js';
export {
  type Departure,
  type ForkReport,
  forkReport,
  type ReportedEffect,
  type UnusedReceipt,
} from './report.js';
