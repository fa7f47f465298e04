export { sqliteDirectory } from './directory.js';
export { nodeSha256 } from './hash.js';
export { type SqliteOptions, type SqliteStore, sqlite } from './store.js';
export { sqliteViews } from './views.js';
