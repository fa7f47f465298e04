/** What reducers of organizations use: jobs, stores of memories, queues, promises and topics. */
export * from './flow/index.js';
export * from './job/index.js';
export * from './kit/index.js';
export * from './store/index.js';
