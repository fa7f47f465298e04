/** The embedded store. */
export type { Store } from '@reprise/kernel';
export * from '@reprise/store-sqlite';
