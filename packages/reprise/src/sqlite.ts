export * from '@reprise/store-sqlite';
