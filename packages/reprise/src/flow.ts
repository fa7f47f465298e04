/** Queues, promises, topics and dependency graphs. */
export * from '@reprise/flow';
