export { type PostgresDatabase, type PostgresOptions, postgres, type SweepOptions } from './database.js';
export type { SweepReport } from './world/objects.js';
