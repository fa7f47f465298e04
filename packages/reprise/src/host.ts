/** Many worlds in one process. */
export * from '@reprise/kernel/host';
export { sqliteDirectory } from '@reprise/store-sqlite';
