/** What a running world needs, without what it loads on request: verification, forks, the past. */
export { deferEffect } from './ports/adapter/adapter.js';
export { systemClock } from './ports/time/clock.js';
export { openKernelWorld } from './run/world/open-world.js';
export { clockOf } from './run/world/world.js';
export { recordsOf } from './run/world/write/acknowledgement.js';
export { cellFailed } from './state/trouble.js';
