/** Worlds in a PostgreSQL database, which processes on several machines share. */
export type { Store } from '@reprise/kernel';
export { type PostgresDatabase, type PostgresOptions, postgres } from '@reprise/store-postgres';
