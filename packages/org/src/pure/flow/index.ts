/** Queues, promises, topics and dependency graphs: ordinary reducers, to be listed in an app like its own. */

export { graph } from './graph.js';
export { GRAPH, graphCommands, graphEvents } from './graph-contract.js';
export { promise } from './promise.js';
export { PROMISE, promiseCommands, promiseEvents } from './promise-contract.js';
export { queue } from './queue.js';
export { QUEUE, queueCommands, queueEvents, queueFacts } from './queue-contract.js';
export { topic } from './topic.js';
export { filter, TOPIC, topicCommands, topicEvents, topicFacts, topicOwnerEvents } from './topic-contract.js';
