/** Queues, promises and topics: ordinary reducers, to be listed in an app like its own. */

export * from './promise.js';
export * from './queue.js';
export * from './topic.js';
