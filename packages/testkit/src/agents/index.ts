export { faultsOf } from './faults.js';
export { loadWorld, type Replayed, replay, saveWorld } from './saved-world.js';
export { type TestAgentWorldOptions, TestWorld, testAgentWorld } from './test-world.js';
