/** Queues, promises, topics and dependency graphs: ordinary reducers, to be listed in an app like its own. */

export * from './graph.js';
export * from './promise.js';
export * from './queue.js';
export * from './topic.js';
