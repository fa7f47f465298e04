export type {
  ClaimedRow,
  HostDirectory,
  LimitParts,
  LimitUse,
  OpenDirectory,
  RowQuery,
  SharedRows,
  WorldRow,
} from './directory.js';
export { Host, type Lease, openHost } from './host.js';
export { divideLimit } from './limit-parts.js';
export { type MemoryDirectoryOptions, memoryDirectory } from './memory-directory.js';
export { type HostedWorld, type HostFailure, type HostOptions, requireWorldId, type WorldBase } from './options.js';
export type { HostWitness } from './seen-heads.js';
export type { SharedLimit } from './shared-limits.js';
