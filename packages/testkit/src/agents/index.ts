export { faultsOf, type RecordedFault } from './faults.js';
export { type CrashPoint, MortalStore } from './mortal-store.js';
export { type FirstDifference, loadWorld, type Replayed, replay, saveWorld } from './saved-world.js';
export { type Fake, type TestAgentWorldOptions, TestClock, TestWorld, testAgentWorld } from './test-world.js';
