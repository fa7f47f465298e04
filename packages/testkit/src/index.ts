export * from './adapters/index.js';
export * from './agents/index.js';
export * from './arbitraries/index.js';
export * from './clock/index.js';
export * from './given/index.js';
export * from './ports/index.js';
export * from './reducers/index.js';
export * from './simulator/index.js';
