/** Suites of checks for stores, adapters and reducers of your own. */
export * from '@reprise/testkit/ports';
