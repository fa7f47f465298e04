/** Worlds in a PostgreSQL database, which processes on several machines share. */
export type { ObjectStore, Store } from '@reprise/kernel';
export {
  type FleetDirectory,
  type FleetHost,
  type FleetRows,
  type PostgresDatabase,
  type PostgresOptions,
  postgres,
  type SweepOptions,
  type SweepReport,
} from '@reprise/store-postgres';
