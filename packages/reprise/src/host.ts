/** Many worlds in one process. */
export {
  type Host,
  type HostDirectory,
  type HostedWorld,
  type HostFailure,
  type HostOptions,
  type HostWitness,
  type Lease,
  memoryDirectory,
  type OpenDirectory,
  openHost,
  type SharedLimit,
  type WorldBase,
  type WorldRow,
} from '@reprise/kernel/host';
export { sqliteDirectory } from '@reprise/store-sqlite';
