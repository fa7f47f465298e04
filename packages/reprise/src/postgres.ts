/** Worlds in a PostgreSQL database, which processes on several machines share. */
export type { KeyService, ObjectStore, Store } from '@reprise/kernel';
export {
  type FleetDirectory,
  type FleetHost,
  type FleetRows,
  fileKeys,
  memoryKeys,
  type PostgresDatabase,
  type PostgresOptions,
  postgres,
  type SweepOptions,
  type SweepReport,
} from '@reprise/store-postgres';
