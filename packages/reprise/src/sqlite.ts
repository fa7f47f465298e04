/** The embedded store: a world in one SQLite file. */
export type { Store } from '@reprise/kernel';
export { type SqliteOptions, type SqliteStore, sqlite, sqliteDirectory, sqliteViews } from '@reprise/store-sqlite';
