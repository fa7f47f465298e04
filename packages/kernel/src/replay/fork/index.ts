/** Forks: worlds that share their past with another. */
export { ContentCopy } from './content-copy.js';
export { type ForkSource, forkWorld, type MadeFork } from './fork-world.js';
export type { OtherOutcome } from './instead.js';
export type { ForkOptions } from './options.js';
export { type ForkReport, forkReport } from './report.js';
