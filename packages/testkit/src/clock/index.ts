export { seededRandom } from './seeded-random.js';
export { VirtualClock } from './virtual-clock.js';
