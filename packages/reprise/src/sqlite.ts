/** The embedded store. */
export type { Store } from '@reprise/kernel';
export { type SqliteOptions, type SqliteStore, sqlite, sqliteDirectory, sqliteViews } from '@reprise/store-sqlite';
