/** Many worlds in one process. */
export {
  type ClaimedRow,
  type Host,
  type HostDirectory,
  type HostedWorld,
  type HostFailure,
  type HostOptions,
  type HostWitness,
  type Lease,
  type LimitParts,
  type LimitUse,
  type MemoryDirectoryOptions,
  memoryDirectory,
  type OpenDirectory,
  openHost,
  type SharedLimit,
  type SharedRows,
  type WorldBase,
  type WorldRow,
} from '@reprise/kernel/host';
export { sqliteDirectory } from '@reprise/store-sqlite';
