/** Worlds in a PostgreSQL database, which processes on several machines share. */
export type { ObjectStore, Store } from '@reprise/kernel';
export {
  type AdmitOptions,
  type AdmitReport,
  type FleetDirectory,
  type FleetHost,
  type FleetRows,
  type LostWorld,
  type PostgresDatabase,
  type PostgresOptions,
  postgres,
  type SweepOptions,
  type SweepReport,
  type WitnessPlace,
  witnessFolder,
} from '@reprise/store-postgres';
