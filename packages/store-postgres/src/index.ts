export { type PostgresDatabase, type PostgresOptions, postgres } from './database.js';
