export { nodeSha256 } from './database/hash.js';
export { sqliteDirectory } from './directory.js';
export { type SqliteOptions, type SqliteStore, sqlite } from './store.js';
export { sqliteViews } from './views.js';
