/** Trees of agents: a goal that grows into nodes, each a session of its own. */

export type { FileCapture } from './adapters/check.js';
export * from './api/index.js';
export * from './pure/index.js';
export { nodeTools } from './tools/node-tools.js';
export * from './views/index.js';
