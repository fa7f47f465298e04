export { seededRandom } from './seeded-random.js';
export { VirtualClock, type VirtualClockOptions } from './virtual-clock.js';
