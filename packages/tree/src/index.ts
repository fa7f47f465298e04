/** Trees of agents: a goal that grows into nodes, each a session of its own. */
export * from './pure/index.js';
